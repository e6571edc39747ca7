"""Dumps of a job that moves: completions that some ranks have seen and others have not yet."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Recorder, facts_of, run
from msgspec.structs import replace
from test_collectives import programs_of, verdicts

from neuron_doctor.engine.facts import Fact


@pytest.mark.parametrize(
    ("lagging", "hosts", "expected"),
    [
        ([5, 10], 2, {"device-stuck": {5, 10}, "rank-missing": {15}}),
        ([3, 5, 10], 2, {"undecided": set()}),
        ([3, 5, 10], 0, {"undecided": set()}),
        ([3, 5, 10], 1, {"device-stuck": {3, 5, 10}, "rank-missing": {15}}),
    ],
)
def test_more_devices_than_get_stuck_at_once_show_that_completions_are_still_being_seen(
    lagging: list[int], hosts: int, expected: dict[str, set[int]]
) -> None:
    """A watchdog looks every 100 ms for what has completed: a moment later it has seen that, too. One host may be stuck."""
    mesh = Mesh(4, 4)
    job = run(mesh, programs_of(mesh), Faults(host={15: 40}))
    for rank in lagging:
        for one in job.issued[rank][-7:]:
            one.done_ns = 0
    facts = facts_of(job)
    assert verdicts(on_hosts(facts, hosts) if hosts else facts) == expected


@pytest.mark.parametrize(
    ("fresh", "expected"),
    [
        ((), {"device-stuck": {5, 10}, "rank-missing": {15}}),
        ((5,), {"device-stuck": {10}, "rank-missing": {15}}),
        ((5, 10), {"rank-missing": {15}}),
        (tuple(range(15)), {"rank-missing": {15}}),
        (tuple(range(8, 16)), {"device-stuck": {5}, "rank-missing": {15}}),
        (tuple(range(16)), {"moving": set()}),
    ],
)
def test_a_device_that_had_just_completed_something_when_its_dump_was_written_is_not_stuck(
    fresh: tuple[int, ...], expected: dict[str, set[int]]
) -> None:
    """Where all had, nothing is: what seems to be missing is on its way."""
    mesh = Mesh(4, 4)
    job = run(mesh, programs_of(mesh), Faults(host={15: 40}))
    for rank in (5, 10):
        for one in job.issued[rank][-7:]:
            one.done_ns = 0
    facts = facts_of(job)
    facts = [replace(one, data={**one.data, "fresh": 2 * (one.place.rank in fresh)}) for one in facts]
    assert verdicts(facts) == expected


@pytest.mark.parametrize(("started", "expected"), [(7, {"device-stuck": {5}}), (1, {}), (2, {})])
def test_a_device_that_had_not_started_what_peers_completed_is_not_stuck_but_its_dump_is_older(
    started: int, expected: dict[str, set[int]]
) -> None:
    mesh = Mesh(4, 4)
    job = run(mesh, programs_of(mesh), Faults(host={15: 40}))
    for number, one in enumerate(job.issued[5][-7:]):
        one.done_ns = 0
        one.started_ns = one.started_ns if number < started else 0
    assert verdicts(facts_of(job, Recorder(timing=True))) == expected | {"rank-missing": {15}}


def on_hosts(facts: list[Fact], hosts: int) -> list[Fact]:
    """The dumps of ranks that are dealt out to so many hosts."""
    return [replace(fact, place=replace(fact.place, host=f"n{(fact.place.rank or 0) % hosts}")) for fact in facts]


def test_where_collectives_run_beside_devices_that_seem_stuck_the_job_moves() -> None:
    mesh = Mesh(2, 4)
    tensor, world = mesh.groups["TENSOR"], mesh.groups["default_pg"]
    programs = {rank: [*[Op(tensor[rank])] * 20, Op(world[rank])] * 2 for rank in range(mesh.size)}
    job = run(mesh, programs, Faults(), ahead=20)
    seen = [18, 18, 14, 9, 16, 12, 10, 15]  # by rank: what its watchdog has seen completed in the last step
    for rank, issued in job.issued.items():
        for one in issued[21 + seen[rank] :]:
            one.done_ns = 0
    assert verdicts(on_hosts(facts_of(job), 2)) == {"moving": set()}
    assert verdicts(facts_of(job)) == {"undecided": set()}  # one host may have stopped looking


@pytest.mark.parametrize(
    ("fresh", "expected"),
    [
        (14, {"moving": set()}),
        (8, {"moving": set()}),
        (6, {"partial-completion": {14, 15}}),
        (0, {"partial-completion": {14, 15}}),
    ],
)
def test_what_completed_on_most_in_the_moment_before_is_about_to_complete_on_the_others(
    fresh: int, expected: dict[str, set[int]]
) -> None:
    mesh = Mesh(16, 1)
    job = run(mesh, {rank: [Op(mesh.groups["default_pg"][rank])] * 30 for rank in range(mesh.size)}, Faults())
    for rank in (14, 15):
        job.issued[rank][-1].done_ns = 0
    facts = [replace(one, data={**one.data, "fresh": 2 * ((one.place.rank or 0) < fresh)}) for one in facts_of(job)]
    assert verdicts(facts) == expected


def test_a_device_that_lags_in_one_group_while_another_group_just_ends_elsewhere_is_left_open() -> None:
    mesh = Mesh(4, 2)
    tensor = mesh.groups["TENSOR"]
    job = run(mesh, {rank: [Op(tensor[rank])] * 30 for rank in range(mesh.size)}, Faults())
    for rank in range(4):
        for one in job.issued[rank][-5 if rank == 2 else -2 :]:
            one.done_ns = 0
    assert verdicts(facts_of(job)) == {"device-stuck": {2}}
    job.issued[6][-1].done_ns = 0
    assert verdicts(facts_of(job)) == {"undecided": set()}
