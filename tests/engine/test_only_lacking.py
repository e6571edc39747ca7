"""Ranks that wait for one another in a circle of which all have come to every collective but one."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Recorder, facts_of, run
from test_collectives import RECORDERS, index_of, programs_of, verdicts

MESH = Mesh(4, 2, 2)


@pytest.mark.parametrize("recorder", ["nccl", "timing", "wrapped ring", "torch 2.5", "nvrx json"])
@pytest.mark.parametrize("culprit", [0, 5, 10])
def test_who_left_out_a_collective_and_went_on_to_where_all_have_come_is_at_fault(culprit: int, recorder: str) -> None:
    programs = programs_of(MESH)
    del programs[culprit][index_of(programs[culprit], desc="TENSOR", nth=-1)]
    job = run(MESH, programs, Faults(), ahead=30)
    assert verdicts(facts_of(job, RECORDERS[recorder])) == {"rank-missing": {culprit}}


@pytest.mark.parametrize("culprit", [0, 5, 10])
def test_who_put_one_in_before_where_all_have_come_is_at_fault(culprit: int) -> None:
    programs = programs_of(MESH)
    group = MESH.groups["TENSOR"][culprit]
    programs[culprit].insert(-1, Op(group, "all_reduce", 1))
    job = run(MESH, programs, Faults(), ahead=30)
    assert verdicts(facts_of(job)) == {"order-mismatch": {culprit}}


def test_of_two_members_one_of_which_came_none_is_the_odd_one_by_number() -> None:
    mesh = Mesh(2, 4)
    programs = programs_of(mesh)
    del programs[3][index_of(programs[3], desc="TENSOR", nth=-1)]
    found = verdicts(facts_of(run(mesh, programs, Faults(), ahead=30), Recorder(timing=True)))
    assert "rank-missing" not in found
    assert set().union(*found.values()) <= {3}


def test_who_went_away_to_a_barrier_of_its_own_is_at_fault_though_transfers_take_part_in_the_circle() -> None:
    programs = programs_of(MESH, batches=True)
    world = MESH.groups["default_pg"][5]
    at = index_of(programs[5], desc="TENSOR", nth=-3)
    programs[5] = [*programs[5][:at], Op(world, "all_reduce_barrier", 1)]
    assert verdicts(facts_of(run(MESH, programs, Faults(), ahead=1))) == {"rank-missing": {5}}
    assert set().union(*verdicts(facts_of(run(MESH, programs, Faults(), ahead=30))).values()) == {5}


def test_a_circle_convicts_whatever_a_rank_without_a_dump_does() -> None:
    programs = programs_of(MESH)
    del programs[5][index_of(programs[5], desc="TENSOR", nth=-1)]
    job = run(MESH, programs, Faults(), ahead=30)
    assert set().union(*verdicts(facts_of(job, without=[9])).values()) == {5}
