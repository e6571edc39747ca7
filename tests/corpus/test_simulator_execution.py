"""A simulated job runs as its program says, and faults spread as they would in truth."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.corpus.simulator.execution import execute, run
from neuron_doctor.corpus.simulator.history import (
    Call,
    End,
    ExecutionFailed,
    HangSuspected,
    History,
    LauncherSaw,
    Op,
    PeerLost,
    WatchdogTimeout,
)
from neuron_doctor.corpus.simulator.jobs import Shape
from neuron_doctor.corpus.simulator.plan import Custom, Plan, Watcher
from neuron_doctor.corpus.simulator.program import Recipe
from neuron_doctor.corpus.simulator.scenario import Scenario, draw
from neuron_doctor.corpus.simulator.sites import CODEBASES


def scenario(
    *plans: Plan, watcher: Watcher = Watcher.WATCHDOG, shape: Shape | None = None, **custom: object
) -> Scenario:
    recipe = Recipe(CODEBASES[0], 12)
    return Scenario(7, shape or Shape(4, 2, 2, 1, 8), recipe, plans, custom=Custom(watcher=watcher, **custom))  # type: ignore[arg-type]


def incomplete(history: History, rank: int) -> list[Call]:
    return [call for call in history.lives[rank].calls if call.completed is None]


def members(history: History, group: str) -> tuple[int, ...]:
    return next(one.ranks for one in history.job.groups if one.name == group)


@pytest.mark.parametrize(
    "shape", [Shape(4, 2, 2, 1, 8), Shape(1, 1, 2, 1, 2), Shape(2, 4, 4, 2, 32), Shape(8, 1, 1, 1, 4)]
)
@pytest.mark.parametrize("batched", [True, False])
def test_a_healthy_job_finishes_every_step_and_every_call(shape: Shape, batched: bool) -> None:
    history, faults = run(Scenario(3, shape, Recipe(CODEBASES[1], 8, one_f_one_b=batched)))
    assert not faults
    assert {life.end for life in history.lives} == {End.FINISHED}
    assert {life.last_step for life in history.lives} == {7}
    assert not any(incomplete(history, rank) for rank in range(shape.world))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_every_call_is_issued_then_started_then_completed(seed: int) -> None:
    history, _ = run(draw(seed, ranks=8))
    for life in history.lives:
        issued = [call.issued for call in life.calls]
        assert issued == sorted(issued)
        for call in life.calls:
            assert call.started is None or call.started >= call.issued
            assert call.completed is None or (call.started is not None and call.completed > call.started)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_a_collective_completes_only_after_all_its_members_started_it(seed: int) -> None:
    history, _ = run(draw(seed, ranks=8))
    started: dict[tuple[str, int], list[float | None]] = {}
    completed: dict[tuple[str, int], list[float]] = {}
    for life in history.lives:
        for call in life.calls:
            if call.peer is None:
                started.setdefault((call.group, call.ordinal), []).append(call.started)
                if call.completed is not None:
                    completed.setdefault((call.group, call.ordinal), []).append(call.completed)
    for (group, ordinal), times in completed.items():
        came = started[group, ordinal]
        assert len(came) == len(members(history, group))
        assert None not in came
        assert min(times) > max(time for time in came if time is not None)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_a_transfer_completes_only_if_its_other_end_was_started(seed: int) -> None:
    history, _ = run(draw(seed, fault="p2p-missing", ranks=8))
    started: Counter[tuple[int, int]] = Counter()
    completed: Counter[tuple[int, int]] = Counter()
    for life in history.lives:
        for call in life.calls:
            if call.peer is not None and call.op is Op.SEND:
                started[call.rank, call.peer] += call.started is not None
            if call.peer is not None and call.op is Op.RECV:
                completed[call.peer, call.rank] += call.completed is not None
    assert all(started[pair] >= count for pair, count in completed.items())


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_the_same_scenario_gives_the_same_history(seed: int) -> None:
    assert run(draw(seed, ranks=4)) == run(draw(seed, ranks=4))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_nothing_happens_to_a_process_after_its_end(seed: int) -> None:
    history, _ = run(draw(seed, ranks=8))
    for life in history.lives:
        if life.ended is not None:
            assert all(call.issued <= life.ended for call in life.calls)
            assert all(call.completed is None or call.completed <= life.ended for call in life.calls)
    ended = {life.rank: life.ended for life in history.lives}
    for event in history.events:
        if isinstance(event, PeerLost | WatchdogTimeout | HangSuspected | ExecutionFailed):
            end = ended[event.rank or 0]
            assert end is None or event.time <= end


def test_a_rank_stuck_on_its_host_is_the_only_one_that_reports_no_hang() -> None:
    history, _ = run(scenario(Plan("collectives-rank-missing", 5, 6)))
    reporters = {event.rank for event in history.events if isinstance(event, WatchdogTimeout)}
    assert reporters == set(range(16)) - {5}
    assert not incomplete(history, 5)
    assert all(incomplete(history, rank) for rank in range(16) if rank != 5)


def test_the_stall_of_one_rank_reaches_other_groups_and_no_rank_finishes_the_step() -> None:
    history, _ = run(scenario(Plan("collectives-rank-missing", 5, 6)))
    assert {life.last_step for life in history.lives} == {5}
    waited_in = {incomplete(history, rank)[0].group for rank in range(16) if rank != 5}
    assert len(waited_in) > 1


def test_the_watchdog_names_a_call_that_did_not_complete() -> None:
    history, _ = run(scenario(Plan("collectives-rank-missing", 5, 6)))
    named = [e for e in history.events if isinstance(e, WatchdogTimeout) and e.rank is not None]
    assert named
    for event in named:
        call = history.lives[event.rank or 0].calls[event.index]
        assert call.completed is None
        assert call.group == event.group
        assert event.time >= call.issued + event.timeout


def test_the_runtime_of_the_waiting_ranks_suspects_a_hang_and_the_stuck_device_says_nothing() -> None:
    history, _ = run(scenario(Plan("collectives-device-stuck", 5, 6), watcher=Watcher.RUNTIME))
    reporters = {event.rank for event in history.events if isinstance(event, HangSuspected)}
    assert 5 not in reporters
    assert reporters
    statuses = {event.status for event in history.events if isinstance(event, ExecutionFailed)}
    assert statuses == {1200}


def test_a_hardware_error_stops_its_rank_and_neighbours_lose_the_connection() -> None:
    history, faults = run(scenario(Plan("hw-hbm-ue", 5, 6), peer_lost=1.0))
    assert faults[0].ranks == (5,)
    lost = [event for event in history.events if isinstance(event, PeerLost)]
    assert lost
    assert all(event.rank != 5 for event in lost)
    first = min((event for event in history.events if isinstance(event, LauncherSaw)), key=lambda event: event.time)
    assert first.rank == 5


def test_a_device_error_ends_its_rank_before_the_watchdog_and_leaves_it_without_a_dump() -> None:
    history, _ = run(scenario(Plan("hw-sram-ue", 5, 6), peer_lost=0.0, local_teardown=False))
    assert not history.lives[5].dumps_recorder
    assert all(life.dumps_recorder for life in history.lives if life.rank != 5)


def test_two_independent_faults_both_come_to_pass() -> None:
    done = execute(scenario(Plan("collectives-rank-missing", 0, 6, 0.0), Plan("hw-hbm-ue", 13, 6, 0.0), peer_lost=0.0))
    assert [fault.cause for fault in done.faults] == ["collectives-rank-missing", "hw-hbm-ue"]
    assert done.shown == (True, True)


def test_a_fault_that_another_forestalls_is_no_fault_of_the_incident() -> None:
    _, faults = run(scenario(Plan("collectives-rank-missing", 0, 3), Plan("host-oom", 13, 9)))
    assert [fault.cause for fault in faults] == ["collectives-rank-missing"]


def test_a_snapshot_finds_all_processes_alive_and_nothing_later_than_itself() -> None:
    history, _ = run(draw(5, fault="compile-in-progress-wait", ranks=8))
    assert {life.end for life in history.lives} == {End.HUNG}
    assert all(event.time <= history.collected for event in history.events)


def test_hosts_issue_no_further_ahead_than_their_limit() -> None:
    history, _ = run(scenario(Plan("collectives-device-stuck", 5, 6), limit=8))
    for life in history.lives:
        batches = {call.batch for call in incomplete(history, life.rank) if call.batch is not None}
        single = [call for call in incomplete(history, life.rank) if call.batch is None]
        assert len(single) + len(batches) <= 9


def test_random_state_of_the_interpreter_changes_nothing() -> None:
    random.seed(1)
    one = run(draw(11, ranks=4))
    random.seed(2)
    assert run(draw(11, ranks=4)) == one
