"""The rank without a dump that ended: convicted where it alone ended of itself, and where the dumps wait for no other."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.ended_ranks import ended_without_dump
from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.recorder import told_of_collective
from neuron_doctor.engine.topology import Topology

JOB = Topology(host_of_rank={14: "b"})


def waits_for(*missing: int, verdict: str = "undecided", culprits: tuple[int, ...] = ()) -> Fact:
    told = told_of_collective(verdict, "they wait", missing_dumps=missing, culprits=culprits)
    return Fact("collective", told, Place(), Span("dump"), "dump")


def ended(rank: int | None, **data: int) -> Fact:
    return Fact("launcher-failure", {"launcher": "srun", **data}, Place(rank=rank), Span("srun"), "srun")


def said(rank: int) -> Fact:
    return Fact("completion", {"exited": False}, Place(rank=rank), Span("log"), "log")


def convicted(collective: Fact, *ends: Fact) -> list[tuple[object, tuple[int, ...], str | None]]:
    found = ended_without_dump([collective], ends, JOB)
    return [(fact.data["verdict"], fact.place.ranks, fact.place.host) for fact in found]


@pytest.mark.parametrize("verdict", ["undecided", "rank-missing"])
def test_who_left_no_dump_and_ended_of_itself_is_whom_the_others_wait_for(verdict: str) -> None:
    assert convicted(waits_for(14, verdict=verdict), ended(14, exitcode=1)) == [("rank-died", (14,), "b")]
    assert convicted(waits_for(14, verdict=verdict), ended(14, exitcode=1), ended(3, signal=15)) == [
        ("rank-died", (14,), "b")
    ]


def test_who_left_no_dump_and_says_alone_that_it_is_through_is_whom_the_others_wait_for() -> None:
    assert convicted(waits_for(14), said(14)) == [("rank-missing", (14,), "b")]
    assert convicted(waits_for(14), said(14), said(13)) == [("undecided", (), None)]
    assert convicted(waits_for(14), said(13)) == [("undecided", (), None)]
    [through] = ended_without_dump([waits_for(14)], [said(14)], JOB)
    assert through.data["description"] == "they wait; rank 14 says that it was through, and no other one does"
    [died] = ended_without_dump([waits_for(14)], [ended(14, exitcode=1)], JOB)
    assert died.data["description"] == "they wait; its launcher saw rank 14 end, and no other one of itself"


@pytest.mark.parametrize(
    ("collective", "ends"),
    [
        (waits_for(14), [ended(14, exitcode=-15)]),
        (waits_for(14), [ended(14, exitcode=143)]),
        (waits_for(14), [ended(14, exitcode=1), ended(3, exitcode=1)]),
        (waits_for(14), [ended(13, exitcode=1)]),
        (waits_for(14), [ended(None, exitcode=1)]),
        (waits_for(13, 14), [ended(14, exitcode=1)]),
        (waits_for(), [ended(14, exitcode=1)]),
        (waits_for(14, verdict="rank-missing", culprits=(3,)), [ended(14, exitcode=1)]),
        (waits_for(14, verdict="healthy"), [ended(14, exitcode=1)]),
    ],
    ids=[
        "told",
        "told-by-code",
        "two-ended",
        "another",
        "nobody",
        "two-missing",
        "none-missing",
        "convicted",
        "healthy",
    ],
)
def test_anything_else_leaves_it_open(collective: Fact, ends: list[Fact]) -> None:
    assert list(ended_without_dump([collective], ends, JOB)) == [collective]


def dumped(rank: int) -> Fact:
    return Fact("fr-rank", {}, Place(rank=rank), Span(f"d{rank}"), f"d{rank}")


def says(rank: int, **data: bool | str) -> Fact:
    return Fact("hang-report", {"what": "lost", **data}, Place(rank=rank), Span(f"r{rank}"), f"r{rank}")


LEFT = [dumped(0), dumped(1), says(0, closed=True), says(1, closed=True)]


def test_who_alone_is_not_heard_of_ended_where_all_others_lost_a_peer() -> None:
    assert convicted(waits_for(14), *LEFT) == [("rank-ended", (14,), "b")]


@pytest.mark.parametrize(
    ("collective", "facts"),
    [
        (waits_for(14), [*LEFT, says(14, closed=True)]),
        (waits_for(14), [*LEFT, Fact("hit", {}, Place(rank=14), Span("r14"), "r14")]),
        (waits_for(14), [dumped(0), dumped(1), dumped(2), *LEFT]),
        (waits_for(14), [dumped(0), dumped(1), says(0, closed=True), says(1)]),
        (waits_for(14), [*LEFT, Fact("hit", {"exception": "ValueError"}, Place(rank=1), Span("r1"), "r1")]),
        (waits_for(14), [dumped(0), says(0, closed=True)]),
        (waits_for(13, 14), LEFT),
        (waits_for(14, verdict="transport-stall"), LEFT),
    ],
    ids=["lost-too", "heard", "one-silent", "one-reset", "one-at-fault", "one-alone", "two-missing", "stall"],
)
def test_where_another_may_have_been_the_first_to_end_it_stays_open(collective: Fact, facts: list[Fact]) -> None:
    assert list(ended_without_dump([collective], facts, JOB)) == [collective]
