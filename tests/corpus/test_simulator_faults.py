"""Each fault leaves the footprint that its cause has."""

from dataclasses import replace

import pytest

from neuron_doctor.corpus.simulator.execution import execute
from neuron_doctor.corpus.simulator.faults.absence import SKIPPED
from neuron_doctor.corpus.simulator.history import End, Event, HardwareError, History, Op, StepDone
from neuron_doctor.corpus.simulator.scenario import CAUSES, draw
from neuron_doctor.corpus.simulator.style import Recorder

_SETTLED = {"collectives-rank-missing": {"collectives-rank-missing", "collectives-op-mismatch"}}


def stuck(history: History, rank: int) -> list[tuple[str, int]]:
    return [
        (call.group, call.ordinal) for call in history.lives[rank].calls if call.completed is None and call.peer is None
    ]


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("seed", [1])
def test_every_cause_comes_to_pass_and_shows(cause: str, seed: int) -> None:
    done = execute(draw(seed, fault=cause, ranks=16, recorder=Recorder.NCCL_TIMING))
    assert [fault.cause in _SETTLED.get(cause, {cause}) for fault in done.faults] == [True]
    assert done.shown == (True,)


@pytest.mark.parametrize("cause", CAUSES)
def test_every_fault_names_ranks_and_hosts_of_the_job_that_belong_together(cause: str) -> None:
    done = execute(draw(3, fault=cause, ranks=8))
    job = done.history.job
    for fault in done.faults:
        assert set(fault.ranks) | set(fault.involved) <= set(range(job.world))
        assert {job.host_of(rank).name for rank in fault.ranks} <= set(fault.hosts)
        assert set(fault.hosts) <= {host.name for host in job.hosts}
        assert cause not in fault.weaker


@pytest.mark.parametrize("cause", CAUSES)
def test_events_that_tell_of_a_fault_number_it_and_no_other(cause: str) -> None:
    done = execute(draw(4, fault=cause, ranks=8))
    told = {event.fault for event in done.history.events} - {None}
    assert told <= set(range(len(done.faults)))


@pytest.mark.parametrize(
    "cause", ["collectives-op-mismatch", "collectives-size-mismatch", "collectives-dtype-mismatch"]
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_a_mismatch_the_ranks_at_fault_are_the_minority(cause: str, seed: int) -> None:
    done = execute(draw(seed, fault=cause, ranks=16))
    (fault,) = done.faults
    found: dict[tuple[str, int], dict[object, set[int]]] = {}
    for life in done.history.lives:
        for call in life.calls:
            if call.peer is None and call.completed is None:
                kind = (call.op, call.input_sizes, call.dtype)
                found.setdefault((call.group, call.ordinal), {}).setdefault(kind, set()).add(life.rank)
    differing = [kinds for kinds in found.values() if len(kinds) > 1]
    odd = [min(kinds.values(), key=len) for kinds in differing]
    assert set(fault.ranks) in odd


@pytest.mark.parametrize("cause", ["collectives-size-mismatch", "collectives-dtype-mismatch"])
def test_what_no_recorder_writes_down_of_a_barrier_does_not_differ_in_one(cause: str) -> None:
    for seed in (1, 560000):
        done = execute(draw(seed, fault=cause))
        (fault,) = done.faults
        calls = [call for rank in fault.ranks for call in done.history.lives[rank].calls]
        assert {call.op for call in calls if call.completed is None and call.peer is None} - {Op.BARRIER}


@pytest.mark.parametrize("seed", range(4))
def test_ranks_that_use_groups_in_another_order_wait_in_another_group_than_their_peers(seed: int) -> None:
    done = execute(draw(seed, fault="collectives-order-mismatch", ranks=16))
    (fault,) = done.faults
    history = done.history
    assert fault.ranks
    for rank in fault.ranks:
        group, ordinal = stuck(history, rank)[0]
        members = next(one.ranks for one in history.job.groups if one.name == group)
        assert any(stuck(history, peer)[0] != (group, ordinal) for peer in members)


@pytest.mark.parametrize("seed", range(3))
def test_a_stalled_transport_has_all_members_of_one_collective_started_and_none_completed(seed: int) -> None:
    done = execute(draw(seed, fault="collectives-transport-stall", ranks=16))
    history = done.history
    group, ordinal = stuck(history, done.faults[0].involved[0])[0]
    members = next(one.ranks for one in history.job.groups if one.name == group)
    calls = [
        call for rank in members for call in history.lives[rank].calls if (call.group, call.ordinal) == (group, ordinal)
    ]
    calls = [call for call in calls if call.peer is None]
    assert len(calls) == len(members)
    assert all(call.started is not None and call.completed is None for call in calls)


@pytest.mark.parametrize("seed", range(3))
def test_a_partial_completion_is_complete_at_some_members_and_not_at_others(seed: int) -> None:
    done = execute(draw(seed, fault="collectives-partial-completion", ranks=16))
    seen: dict[tuple[str, int], set[bool]] = {}
    for life in done.history.lives:
        for call in life.calls:
            if call.peer is None:
                seen.setdefault((call.group, call.ordinal), set()).add(call.completed is not None)
    assert any(len(both) == 2 for both in seen.values())


def test_a_hang_outside_collectives_leaves_no_call_in_flight() -> None:
    done = execute(draw(2, fault="hang-outside-collectives", ranks=8))
    assert not any(stuck(done.history, life.rank) for life in done.history.lives)
    assert {life.end for life in done.history.lives} == {End.HUNG}


def test_a_straggler_makes_every_step_longer_and_hangs_nothing() -> None:
    done = execute(draw(2, fault="straggler", ranks=8, recorder=Recorder.NONE))
    seconds = [event.seconds for event in done.history.events if isinstance(event, StepDone) and event.rank == 0]
    assert max(seconds[5:]) > 1.3 * min(seconds[:4])
    assert {life.end for life in done.history.lives} == {End.FINISHED}


def test_corrected_errors_are_a_risk_and_no_root() -> None:
    done = execute(draw(2, fault="hw-ecc-corrected-rising", ranks=8, recorder=Recorder.NONE))
    counts = [event.count for event in done.history.events if isinstance(event, HardwareError)]
    assert counts == sorted(counts)
    assert not done.faults[0].is_root
    assert {life.end for life in done.history.lives} == {End.FINISHED}


def test_a_lost_device_takes_the_ranks_of_all_its_cores() -> None:
    done = execute(draw(2, fault="hw-pcie-error", ranks=16))
    (fault,) = done.faults
    seats = [done.history.job.seats[rank] for rank in fault.ranks]
    assert {seat.device for seat in seats} == {fault.device}


def test_events_are_told_in_the_order_of_time() -> None:
    events: tuple[Event, ...] = execute(draw(2, fault="host-oom", ranks=8)).history.events
    assert [event.time for event in events] == sorted(event.time for event in events)


def test_a_rank_that_leaves_out_a_branch_is_stuck_where_the_program_has_no_such_branch() -> None:
    drawn = draw(1, fault="collectives-rank-missing", ranks=8)
    recipe = replace(drawn.recipe, evaluate_every=6, checkpoint_every=6)
    done = execute(replace(drawn, recipe=recipe, plans=(replace(drawn.plans[0], variant=SKIPPED),)))
    assert done.faults[0].cause == "collectives-rank-missing"
    assert done.shown == (True,)
