"""Where recorders note what has started, a device that is stuck is told from a network that stalls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fr_simulator import Faults, Job, Mesh, Op, Program, Recorder, facts_of, run
from test_collectives import index_of, programs_of, verdicts


@pytest.mark.parametrize("shape", [(4, 2, 1), (2, 2, 2)], ids=str)
def test_with_timing_a_stuck_device_is_told_from_a_stalled_network(shape: tuple[int, int, int]) -> None:
    mesh = Mesh(*shape)
    programs = programs_of(mesh)
    at = index_of(programs[3], desc="TENSOR", nth=8)
    stuck = run(mesh, programs, Faults(device={3: at}))
    assert verdicts(facts_of(stuck, Recorder(timing=True))) == {"device-stuck": {3}}
    assert verdicts(facts_of(stuck)) == {"transport-stall": set()}


@pytest.mark.parametrize("active_only", [False, True])
def test_with_timing_a_device_that_is_stuck_before_a_transfer_is_told(active_only: bool) -> None:
    mesh = Mesh(1, 1, 2)
    programs = programs_of(mesh)
    at = max(at for at, op in enumerate(programs[1]) if op.peers == (("recv", 0),))
    stuck = run(mesh, programs, Faults(device={1: at}))
    assert verdicts(facts_of(stuck, Recorder(timing=True, active_only=active_only))) == {"device-stuck": {1}}
    assert verdicts(facts_of(stuck, Recorder(active_only=active_only))) == {"transport-stall": set()}


#: Two pipelines of two stages, each of two tensor-parallel ranks: 0, 1 before 4, 5, and 2, 3 before 6, 7.
TWO = Mesh(2, 2, 2)
#: Micro-batches of a step, and what the last steps of a ring reach back to.
MANY = 4
TIMED = Recorder(timing=True)


def one_forward_one_backward(rank: int, steps: int = 5) -> Program:
    """The first stage is one micro-batch ahead of the last one."""
    pipeline, tensor = (TWO.groups[desc][rank] for desc in ("PIPELINE", "TENSOR"))
    first, last = pipeline.ranks
    forward, backward = Op(tensor, "_all_gather_base"), Op(tensor, "all_reduce")
    meet = [Op(TWO.groups["DATA"][rank], "all_reduce", 100_000), Op(TWO.groups["default_pg"][rank], "all_reduce", 1)]
    if rank == last:
        turn = [
            Op(pipeline, "", peers=(("recv", first),)),
            forward,
            backward,
            Op(pipeline, "", peers=(("send", first),)),
        ]
        return [*turn * MANY, *meet] * steps
    there = [forward, Op(pipeline, "", peers=(("send", last),))]
    back = [Op(pipeline, "", peers=(("recv", last),)), backward]
    return [*there, *[*there, *back] * (MANY - 1), *back, *meet] * steps


def two_pipelines(faults: Faults, left_out: tuple[int, str] | None = None) -> Job:
    """Their hosts run ahead; one rank leaves out its third transfer of a kind in the last step but one."""
    programs = {rank: one_forward_one_backward(rank) for rank in range(TWO.size)}
    if left_out:
        rank, kind = left_out
        del programs[rank][index_of(programs[rank], kind=kind, nth=3 * MANY + 2)]
    return run(TWO, programs, faults, ahead=40, eager=True)


@pytest.mark.parametrize("ring", [2000, 60])
@pytest.mark.parametrize("dialect", ["pickle", "json"])
@pytest.mark.parametrize("rank", [4, 5, 7])
def test_a_stage_that_has_not_begun_a_transfer_to_which_its_partner_has_come_is_stuck(
    rank: int, dialect: str, ring: int
) -> None:
    """Its tensor-parallel peer has begun, and what that one has yet to send waits behind."""
    at = index_of(one_forward_one_backward(rank), kind="recv", nth=3 * MANY + 1)
    job = two_pipelines(Faults(device={rank: at}))
    recorder = Recorder(timing=True, ring=ring, dialect=dialect)
    assert verdicts(facts_of(job, recorder)) == {"device-stuck": {rank}}
    assert verdicts(facts_of(job, replace(recorder, timing=False))) == {"transport-stall": set()}


@pytest.mark.parametrize("ring", [2000, 60])
@pytest.mark.parametrize("left_out", [(2, "send"), (7, "send")])
@pytest.mark.parametrize("rank", [1, 4, 5])
def test_a_stuck_device_does_not_hide_what_was_left_out_in_another_pipeline(
    rank: int, left_out: tuple[int, str], ring: int
) -> None:
    at = index_of(one_forward_one_backward(rank), desc="TENSOR", nth=6 * MANY + 3)
    job = two_pipelines(Faults(device={rank: at}), left_out)
    found = verdicts(facts_of(job, Recorder(timing=True, ring=ring)))
    assert found == {"device-stuck": {rank}, "p2p-missing": {left_out[0]}}
    assert verdicts(facts_of(job, Recorder(ring=ring))) == {"p2p-missing": {left_out[0]}}


def test_a_ring_that_shows_nothing_that_is_over_may_have_lost_what_a_rank_stands_in() -> None:
    mesh = Mesh(2, 1, 4)
    programs = programs_of(mesh, layers=2, interleaved=True)
    for group in {mesh.groups["TENSOR"][rank].name for rank in range(mesh.size)}:
        job = run(mesh, programs, Faults(dead_group=(group, 3)), ahead=200)
        assert set().union(*verdicts(facts_of(job, Recorder(timing=True, ring=40))).values()) == set()
