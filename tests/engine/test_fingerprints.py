"""Messages that name two ranks that differ: those of several ranks together tell which of them is odd."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.fingerprints import fingerprint_votes
from neuron_doctor.engine.topology import Topology

USUAL = (7, "ALLREDUCE", "1024", "Float")


def told(one: int, other: int, runs: dict[int, tuple[int, str, str, str]], place: Place | None = None) -> Fact:
    data: dict[str, int | str] = {"one": one, "other": other}
    for end, rank in (("one", one), ("other", other)):
        for aspect, value in zip(("sequence", "operation", "shape", "type"), runs.get(rank, USUAL), strict=True):
            data[f"{end}_{aspect}"] = value
    return Fact("fingerprint", data, place or Place(rank=one), Span("log", offset=one), "log")


def votes(facts: list[Fact], world: int | None = None) -> list[tuple[object, tuple[int, ...]]]:
    found = fingerprint_votes(facts, Topology(world_size=world))
    return [(fact.data["verdict"], fact.place.ranks) for fact in found]


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ((7, "ALLREDUCE", "1000", "Float"), "size-mismatch"),
        ((7, "ALLREDUCE", "1024", "BFloat16"), "dtype-mismatch"),
        ((7, "BROADCAST", "1024", "Float"), "op-mismatch"),
        ((6, "ALLREDUCE", "1000", "Float"), "op-mismatch"),  # it stands elsewhere: its arguments say nothing
    ],
)
@pytest.mark.parametrize("odd", [0, 2])
def test_the_odd_one_is_the_one_that_differs_from_most_whoever_accuses_whom(
    runs: tuple[int, str, str, str], verdict: str, odd: int
) -> None:
    accusers = [told(rank, odd, {odd: runs}) for rank in range(5) if rank != odd]
    assert votes([*accusers, told(odd, 1 if odd != 1 else 3, {odd: runs})]) == [(verdict, (odd,))]
    assert votes(accusers, world=7) == [(verdict, (odd,))]
    assert votes(accusers, world=8) == []  # the other three may all run what it runs


def test_it_is_said_of_one_rank_and_of_several() -> None:
    for odd, said in (((2,), "rank 2 is about"), ((0, 1), "ranks 0-1 are about")):
        runs = dict.fromkeys(odd, (7, "ALLREDUCE", "1000", "Float"))
        [fact] = fingerprint_votes([told(rank, odd[0], runs) for rank in range(7) if rank != odd[0]], Topology())
        assert str(fact.data["description"]).startswith(f"{said} to run something else than most ranks: ")


def test_two_ranks_and_equal_halves_accuse_nobody() -> None:
    other = (7, "ALLREDUCE", "1000", "Float")
    assert votes([told(0, 1, {1: other}), told(1, 0, {1: other})]) == []
    halves = {2: other, 3: other}
    assert votes([told(0, 2, halves), told(1, 2, halves), told(2, 0, halves), told(3, 0, halves)]) == []


def test_numbers_within_smaller_groups_and_several_places_accuse_nobody() -> None:
    other = (7, "ALLREDUCE", "1000", "Float")
    accusers = [told(rank, 0, {0: other}) for rank in (1, 2, 3)]
    assert votes([*accusers, told(1, 0, {0: other}, Place(rank=5))]) == []
    later = told(1, 2, {1: (9, "ALLREDUCE", "64", "Float")})
    assert votes([*accusers, later]) == []
