"""All ranks load, and one host or one rank loads something else: that is told only where nothing else can be meant."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.odd_graphs import odd_graphs
from neuron_doctor.engine.topology import Topology


def words(rank: int, host: str, *modules: str, last: str = "nrt_load_collectives", waits: bool = True) -> list[Fact]:
    place = Place(host=host, rank=rank)
    taken = [
        Fact("graph", {"module": module}, place, Span(f"{rank}.log", offset=number), f"{rank}.log")
        for number, module in enumerate(modules)
    ]
    call = {"witness": "api", "waits": waits, "operation": last}
    return [*taken, Fact("stand", call, place, Span(f"{rank}.log", offset=100), f"{rank}.log")]


def told(*facts: list[Fact], world: int | None = None) -> list[tuple[str | None, tuple[int, ...]]]:
    listed = [fact for one in facts for fact in one]
    return [(fact.place.host, fact.place.ranks) for fact in odd_graphs(listed, Topology(world_size=world))]


ALL_BUT_C = [words(0, "a", "M"), words(1, "a", "M"), words(2, "b", "M"), words(3, "b", "M")]


def test_the_one_host_whose_ranks_all_load_something_else_is_the_odd_one() -> None:
    assert told(*ALL_BUT_C, words(4, "c", "M", "N"), words(5, "c", "N"), world=6) == [("c", (4, 5))]
    assert told(*ALL_BUT_C, words(4, "c", "N", "M"), words(5, "c", "M"), world=6) == []  # what it took last counts


def test_one_rank_among_others_of_its_host_may_be_the_odd_one() -> None:
    assert told(*ALL_BUT_C, words(4, "b", "N")) == [("b", (4,))]


@pytest.mark.parametrize(
    "others",
    [
        [words(4, "c", "N"), words(5, "d", "O")],  # first and last stage of a pipeline
        [words(4, "c", "N"), words(5, "c", "N", last="nrt_execute", waits=False)],  # a rank stands elsewhere
        [words(4, "c", "N")],  # of a rank nothing is here
        [words(4, "c", "N"), words(5, "c")],  # nor of what it took
    ],
)
def test_stages_of_a_pipeline_and_ranks_that_stand_elsewhere_convict_nobody(others: list[list[Fact]]) -> None:
    assert told(*ALL_BUT_C, *others, world=6) == []


def test_one_of_two_hosts_and_one_of_two_halves_are_no_odd_ones() -> None:
    assert told(words(0, "a", "M"), words(1, "a", "M"), words(2, "b", "N"), words(3, "b", "N")) == []
    assert (
        told(words(0, "a", "M"), words(1, "a", "M"), words(2, "a", "M"), words(3, "b", "N"), words(4, "b", "N")) == []
    )
