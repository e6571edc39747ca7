"""Waits for peers that were over, by what the same process says later, and does not say any more."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.ended_waits import ended_waits
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span

S = 10**9


def record(kind: str, seconds: int, *, pid: int | None = 7, rank: int | None = None, repeats: int = 0) -> Fact:
    data = {"what": "retry", "waited_s": 120} if kind == "hang-report" else {}
    place, at = Place(host="a", pid=pid, rank=rank), Instant(seconds * S, Clock.HOST_LOCAL)
    return Fact(kind, data, place, Span("s", seconds), "s", at, repeats=repeats)


def wait(seconds: int, **more: int | None) -> Fact:
    return record("hang-report", seconds, **more)  # type: ignore[arg-type]


def life(seconds: int, **more: int | None) -> Fact:
    return record("hit", seconds, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "over"),
    [
        ([wait(0), wait(125), life(2000)], {0, 125}),
        ([wait(0), wait(125), wait(2000)], {0, 125}),  # it waits again at the end
        ([wait(0), wait(125), life(300)], set()),  # the next complaint may be to come
        ([wait(0), wait(125)], set()),
        ([wait(0), wait(125), life(2000, pid=8)], set()),  # another process lives on
        ([wait(0, pid=None, rank=3), life(2000, pid=None, rank=3)], {0}),
        ([wait(0, pid=None), life(2000, pid=None)], set()),  # whose it is, is not known
        ([wait(0, repeats=9), life(2000)], set()),
        ([wait(0), life(2000, repeats=9)], set()),
    ],
)
def test_a_process_that_lives_on_and_no_longer_says_that_it_waits_has_stopped(
    facts: list[Fact], over: set[int]
) -> None:
    assert {offset for _, offset in ended_waits(facts)} == over
    assert {offset for _, offset in ended_waits(reversed(facts))} == over
