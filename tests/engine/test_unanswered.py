"""The one host whose packets over EFA are dropped is the middle of all pairs between which none got through."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from builders import source
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.topology import survey
from neuron_doctor.engine.unanswered import unanswered_hosts


def asked(host: str, peer: str, *, by: str = "id", **place: object) -> Fact:
    data = {"id": {"peer_id": peer}, "name": {"peer": peer}, "efa": {"own": f"efa-{host}", "peer": f"efa-{peer}"}}[by]
    span = Span(host, hash((host, peer)) % 1000, 10, 1, 1, f"{host} {peer}", f"{host}{peer}")
    return Fact("unanswered", dict(data), Place(host=host, **place), span, host)  # type: ignore[arg-type]


def middle(facts: Iterable[Fact]) -> list[str | None]:
    facts = tuple(facts)
    topology = survey(facts, [source(host, host=host) for host in "abcd"])
    return [fact.place.host for fact in unanswered_hosts(facts, topology)]


STAR = [("a", "c"), ("b", "c"), ("d", "c"), ("c", "a"), ("c", "b")]


@pytest.mark.parametrize("by", ["id", "name", "efa"])
def test_it_is_the_host_that_all_others_asked_and_that_asked_two_of_them(by: str) -> None:
    assert middle(asked(*pair, by=by) for pair in STAR) == ["c"]


@pytest.mark.parametrize(
    "pairs",
    [
        [*STAR, ("a", "b")],  # others do not reach each other either
        [pair for pair in STAR if pair[0] != "d"],  # two may be neighbours in a ring
        STAR[:3],  # all may ask the same one first
        STAR[:4],
        [*STAR, ("a", "x")],  # whom nobody knows
        [],
    ],
)
def test_nobody_is_named_where_others_may_be_cut_off_too(pairs: list[tuple[str, str]]) -> None:
    assert middle(asked(*pair) for pair in pairs) == []


def test_who_has_rank_0_is_asked_by_all() -> None:
    facts = [asked(*pair) for pair in STAR]
    assert middle([*facts, replace(asked("c", "a", rank=0), source="rank0")]) == []


def test_attempts_are_not_mixed() -> None:
    assert (
        middle([*(asked(*pair, attempt=0) for pair in STAR[:3]), *(asked(*pair, attempt=1) for pair in STAR[3:])]) == []
    )
