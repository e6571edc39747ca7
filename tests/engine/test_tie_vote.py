"""Two ranks, or two halves, differ in one operation: who is odd is told by what came before, and by ranks that are alike."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fr_simulator import Faults, Mesh, Op, Pg, Program, Recorder, facts_of, run
from test_fr_scenarios import programs_of

from neuron_doctor.engine.collectives import match_collectives

PAIR = Pg("0", "default_pg", (0, 1))


def found(
    programs: dict[int, Program], faults: Faults, recorder: Recorder | None = None
) -> list[tuple[object, tuple[int, ...], object]]:
    facts = match_collectives(facts_of(run(Mesh(1, 2), programs, faults), recorder or Recorder()))
    return [(fact.data["verdict"], fact.place.ranks, fact.data["difference"]) for fact in facts]


def exchange(before: int, **last: object) -> dict[int, Program]:
    """Rank 0 sends and rank 1 receives, so many times alike, and once more as `last` has it on rank 1."""
    send, receive = Op(PAIR, peers=(("send", 1),)), Op(PAIR, peers=(("recv", 0),))
    return {0: [send] * (before + 1), 1: [receive] * before + [replace(receive, **last)]}


def test_the_end_of_a_transfer_that_differs_from_all_before_is_odd() -> None:
    told = "send of 1024 elements on rank 0; recv of 512 elements on rank 1"
    assert found(exchange(2, size=512), Faults(stall={2})) == [("size-mismatch", (1,), told)]
    told = "send of BFloat16 on rank 0; recv of Float on rank 1"
    assert found(exchange(2, dtype="Float"), Faults(stall={2})) == [("dtype-mismatch", (1,), told)]


def test_ends_without_a_past_differ_and_neither_is_odd() -> None:
    [(verdict, ranks, _)] = found(exchange(0, size=512), Faults(stall={0}))
    assert (verdict, ranks) == ("size-mismatch", ())


def test_equal_ends_that_do_not_complete_are_a_stall() -> None:
    assert found(exchange(2), Faults(stall={2})) == [("transport-stall", (), "")]


def test_ends_whose_rings_lost_the_past_may_be_of_different_transfers() -> None:
    [(verdict, ranks, _)] = found(exchange(30, size=512), Faults(stall={30}), Recorder(ring=4))
    assert (verdict, ranks) == ("transport-stall", ())


@pytest.mark.parametrize("changed", [{"size": 77}, {"dtype": "Float"}, {"name": "broadcast"}])
def test_of_a_pair_that_differs_the_rank_is_odd_that_also_differs_from_other_pairs(changed: dict[str, object]) -> None:
    mesh = Mesh(2, 4)
    programs = programs_of(mesh)
    at = [number for number, op in enumerate(programs[5]) if op.group.desc == "TENSOR"][6]
    programs[5][at] = replace(programs[5][at], **changed)
    facts = match_collectives(facts_of(run(mesh, programs, Faults()), Recorder()))
    assert [(str(fact.data["verdict"])[-8:], fact.place.ranks) for fact in facts] == [("mismatch", (5,))]


def test_a_pair_that_differs_and_has_no_like_convicts_nobody() -> None:
    programs = {0: [Op(PAIR)] * 4, 1: [*[Op(PAIR)] * 3, Op(PAIR, size=5)]}
    [(verdict, ranks, _)] = found(programs, Faults())
    assert (verdict, ranks) == ("size-mismatch", ())
