"""Ranks that their peers wait for in a job that moves, told from those that are late because another one is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fr_simulator import MS, Faults, Mesh, Op, Pg, Recorder, facts_of, run
from test_fr_scenarios import verdicts

from neuron_doctor.engine.stragglers import stragglers


def test_a_rank_is_a_straggler_also_where_only_the_first_collective_of_a_step_waits_for_it() -> None:
    world = Pg("0", "default_pg", tuple(range(4)))
    job = run(Mesh(4, 1), {rank: [Op(world)] * 32 for rank in range(4)}, Faults())
    for rank, issued in job.issued.items():
        for number, one in enumerate(issued):
            one.started_ns = one.done_ns - (50 if number % 4 == 0 and rank != 2 else 2) * MS
    assert verdicts(facts_of(job, Recorder(timing=True))) == {"straggler": {2}}


@pytest.mark.parametrize(("slow_ms", "expected"), [(52, {"straggler": {2}}), (85, {"healthy": set()})])
def test_a_collective_takes_its_time_for_the_last_rank_too_and_the_others_wait_half_as_long_again_or_nobody_is_slow(
    slow_ms: int, expected: dict[str, set[int]]
) -> None:
    """Every third collective waits long, the others some milliseconds."""
    world = Pg("0", "default_pg", tuple(range(4)))
    job = run(Mesh(4, 1), {rank: [Op(world)] * 32 for rank in range(4)}, Faults())
    for rank, issued in job.issued.items():
        for number, one in enumerate(issued):
            own, others = (slow_ms, 96) if number % 3 == 0 else (54, 61)
            one.started_ns = one.done_ns - (own if rank == 2 else others) * MS
    assert verdicts(facts_of(job, Recorder(timing=True))) == expected


@pytest.mark.parametrize(("waited", "expected"), [(8, {"straggler": {1}}), (0, {"healthy": set()})])
def test_ranks_that_are_late_because_a_neighbour_is_late_are_no_stragglers(
    waited: int, expected: dict[str, set[int]]
) -> None:
    """Ranks 0 and 1 share a tensor group, in which few collectives, or none, still show that 0 waits for 1."""
    mesh = Mesh(2, 2)
    programs = {
        rank: ([Op(mesh.groups["TENSOR"][rank])] * 20 + [Op(mesh.groups["DATA"][rank])]) * 10 for rank in range(4)
    }
    job = run(mesh, programs, Faults())
    for rank, issued in job.issued.items():
        for number, one in enumerate(issued):
            in_data = one.op.group.desc == "DATA" and rank in (2, 3)
            in_tensor = one.op.group.desc == "TENSOR" and rank == 0 and number >= len(issued) - waited and number % 2
            one.started_ns = one.done_ns - (40 if in_data or in_tensor else 1) * MS
    assert verdicts(facts_of(job, Recorder(timing=True))) == expected


@pytest.mark.parametrize(
    ("wait_ms", "short", "expected"),
    [(2.5, 20, {"straggler": {2}}), (0.3, 20, {"healthy": set()}), (2.5, 12, {"healthy": set()})],
)
def test_waits_that_are_short_and_many_add_up_in_a_tensor_group(
    wait_ms: float, short: int, expected: dict[str, set[int]]
) -> None:
    """Of 32 collectives that a dump describes, in as many milliseconds each, at least 16 and a tenth of the time."""
    mesh = Mesh(2, 2)
    job = run(mesh, {rank: [Op(mesh.groups["TENSOR"][rank])] * 40 for rank in range(4)}, Faults())
    for rank, issued in job.issued.items():
        for number, one in enumerate(issued):
            waited = wait_ms if rank == 3 and number >= len(issued) - short else 0
            one.started_ns = one.done_ns - int((0.4 + waited) * MS)
    assert verdicts(facts_of(job, Recorder(timing=True))) == expected


def test_ranks_that_come_last_by_chance_do_not_hide_the_one_that_is_slow() -> None:
    world = Pg("0", "default_pg", tuple(range(4)))
    job = run(Mesh(4, 1), {rank: [Op(world)] * 32 for rank in range(4)}, Faults())
    for rank, issued in job.issued.items():
        for number, one in enumerate(issued):
            slow, last = (2, 400) if number % 4 == 0 else (number % 3, 10)
            one.started_ns = one.done_ns - (2 if rank == slow else last) * MS
    assert verdicts(facts_of(job, Recorder(timing=True))) == {"straggler": {2}}


def test_ranks_that_come_to_their_own_group_together_are_late_because_of_somebody_elsewhere() -> None:
    """Ranks 4 and 5 are a stage after somebody late; in their tensor group now one, now the other waits a little."""
    mesh = Mesh(2, 2, 2)
    job = run(mesh, {rank: mesh.program(rank, steps=20) for rank in range(mesh.size)}, Faults())
    for rank, issued in job.issued.items():
        for number, one in enumerate(issued):
            in_data = one.op.group.desc == "DATA" and rank in (6, 7)
            in_tensor = one.op.group.desc == "TENSOR" and number % 2 == rank % 2
            one.started_ns = one.done_ns - (500 if in_data else 12 if in_tensor else 1) * MS
    assert verdicts(facts_of(job, Recorder(timing=True))) == {"healthy": set()}


def seen(waits: dict[int, dict[int, int]], ranks: int = 16) -> list[int]:
    """Who is slow by what each rank still describes of the collectives of the world: how long it waited in each, in ms."""
    members = {
        rank: SimpleNamespace(
            base=0,
            record=SimpleNamespace(
                starts=True,
                point_to_point=False,
                recent=[SimpleNamespace(number=n, wait_us=of[rank] * 1000) for n, of in waits.items() if rank in of],
            ),
        )
        for rank in range(ranks)
    }
    world = SimpleNamespace(
        key=("0", "", 0), ranks=tuple(range(ranks)), members=members, title="default_pg", completions=True
    )
    return [one.rank for one in stragglers([world])]  # type: ignore[list-item]


def row(number: int, slow: int, without: range, ranks: int = 16) -> dict[int, int]:
    return {rank: 1 if rank == slow else 50 + 7 * number % 20 for rank in range(ranks) if rank not in without}


def test_dumps_that_were_written_one_after_the_other_tell_by_what_nearly_all_of_them_describe() -> None:
    apart = {number: row(number, 11, range(number % 4)) for number in range(8)}
    assert seen(apart) == [11]


def test_where_the_slow_one_is_not_among_those_that_describe_it_none_of_them_is_taken_for_it() -> None:
    hidden = {number: row(number, 2, range(2, 4)) for number in range(12)}
    assert all(2 not in of for of in hidden.values())
    assert seen(hidden) == []
    # a few of which too few tell
    assert seen({number: row(number, 11, range(6)) for number in range(12)}) == []


@pytest.mark.parametrize(("pairs", "expected"), [(1, {"straggler": {0}}), (8, {"healthy": set()})])
def test_of_many_groups_a_rank_of_one_is_last_a_few_times_by_chance(pairs: int, expected: dict[str, set[int]]) -> None:
    """In the first pair rank 0 is last seven times, in the others now one, now the other is."""
    groups = [Pg(str(n), "TENSOR", (2 * n, 2 * n + 1)) for n in range(pairs)]
    job = run(Mesh(2, pairs), {rank: [Op(groups[rank // 2])] * 7 for rank in range(2 * pairs)}, Faults())
    for rank, issued in job.issued.items():
        for number, one in enumerate(issued):
            waits = rank % 2 == 1 if rank < 2 else number % 2 == rank % 2
            one.started_ns = one.done_ns - (60 if waits else 1) * MS
    assert verdicts(facts_of(job, Recorder(timing=True))) == expected
