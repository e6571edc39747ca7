"""Gloo ends the process that was sent too many bytes; whether it, or who sent them, is wrong, the dumps of the others tell."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Pg, Recorder, facts_of, run

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.short_buffers import with_short_buffers
from neuron_doctor.engine.topology import Topology

WORLD = Pg("0", "default_pg", (0, 1, 2, 3))
#: An all-reduce of so many floats goes in eight parts of 4604 bytes, the last of 4592.
SIZE = 9205


def dumps(*ranks: int, odd: int = -1) -> list[Fact]:
    programs = {rank: [Op(WORLD, size=64), Op(WORLD, size=SIZE + (rank == odd), dtype="Float")] for rank in range(4)}
    facts = facts_of(run(Mesh(4, 1), programs, Faults(), ahead=1), Recorder(backend="gloo"))
    return [fact for fact in facts if fact.place.rank in ranks]


def refused(sent: int, expected: int, rank: int | None = None) -> Fact:
    return Fact("short-buffer", {"sent": sent, "expected": expected}, Place(rank=rank), Span("out.log"), "out.log")


def ended(rank: int, code: int) -> Fact:
    return Fact("launcher-failure", {"exitcode": code}, Place(rank=rank), Span("out.log"), "out.log")


ENDS = (ended(0, -15), ended(1, -6), ended(2, -15), ended(3, -15))


def named(*facts: Fact) -> list[int | None]:
    return [fact.place.rank for fact in with_short_buffers(facts, Topology()) if fact.kind == "short-buffer"]


def test_the_one_that_noticed_is_at_fault_where_it_was_sent_a_part_of_what_all_others_came_to() -> None:
    assert named(refused(4604, 4), *ENDS, *dumps(0, 2)) == [1]
    assert named(refused(4604, 4, rank=1), *dumps(0, 2, 3)) == [1]


@pytest.mark.parametrize(("sent", "expected"), [(4604, 4592), (4608, 4), (4604, 4600), (4, 4604), (4604, 0)])
def test_nobody_is_named_where_the_bytes_do_not_tell(sent: int, expected: int) -> None:
    assert named(refused(sent, expected), *ENDS, *dumps(0, 2)) == [None]


def test_nobody_is_named_without_dumps_though_its_own_log_says_it() -> None:
    assert named(refused(4604, 4, rank=1)) == [None]
    assert named(refused(4604, 4, rank=1), *ENDS, *dumps(0)) == [None]
    assert named(refused(4604, 4, rank=1), *ENDS, *dumps(0, 2, odd=2)) == [None]


def test_nobody_is_named_where_several_aborted_or_reported() -> None:
    assert named(refused(4604, 4), *ENDS[:3], ended(3, -6), *dumps(0, 2)) == [None]
    assert named(refused(4604, 4), refused(4604, 4), *ENDS, *dumps(0, 2)) == [None, None]


def test_what_else_there_is_stays() -> None:
    facts = (*ENDS, *dumps(0, 2))
    assert with_short_buffers(facts, Topology()) is facts
