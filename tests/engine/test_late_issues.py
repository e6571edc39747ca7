"""Who comes late, by when collectives were issued: where all share a clock, and not where stages of a pipeline come in turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fr_simulator import MS, START_NS, Faults, Job, Mesh, Op, Pg, Recorder, facts_of, run
from test_fr_scenarios import verdicts

from neuron_doctor.engine.facts import Fact

GLOO = Recorder(backend="gloo")
WORLD = Pg("0", "default_pg", (0, 1, 2, 3))
PAIRS = [Pg("1", "TENSOR", (0, 1)), Pg("2", "TENSOR", (2, 3))]


def job_of(steps: int = 12, *, pairs: bool = True) -> Job:
    """Each step an all-reduce of the pair, then two of the world."""

    def step(rank: int) -> list[Op]:
        own = [Op(PAIRS[rank // 2], size=512)] if pairs else [Op(WORLD, size=512)]
        return [*own, Op(WORLD, size=64), Op(WORLD, size=1)]

    return run(Mesh(2, 2), {rank: step(rank) * steps for rank in range(4)}, Faults(), ahead=1)


def timed(job: Job, late_ms: Callable[[int, int], int], *, skew_ms: tuple[int, ...] = (0, 0, 0, 0)) -> list[Fact]:
    """The dumps, each step 400 ms long; `late_ms`: how late a rank comes to the n-th operation of a step."""
    for rank, issued in job.issued.items():
        for at, one in enumerate(issued):
            step, nth = divmod(at, 3)
            begun = 400 * step + 10 * nth + (300 if nth else 0)
            one.at_ns = START_NS + (begun + late_ms(rank, nth) + skew_ms[rank]) * MS
    return facts_of(job, GLOO)


def of_pair(rank: int, nth: int) -> int:
    """The last one comes late to its pair; so both come to the world, where nobody notices."""
    return 250 if rank == 3 and nth == 0 else 0


def alone(rank: int, nth: int) -> int:
    return 250 if rank == 2 and nth == 0 else 3 * (rank + nth)


def in_turn(rank: int, nth: int) -> int:
    """As the stages of a pipeline end, the first one last."""
    return 80 * (3 - rank) if nth == 0 else 0


def test_one_that_comes_late_to_its_pair_is_slow_where_another_pair_does_not_wait() -> None:
    assert verdicts(timed(job_of(), of_pair)) == {"straggler": {3}}


def test_one_that_comes_late_to_all_others_who_come_at_one_time_is_slow() -> None:
    assert verdicts(timed(job_of(pairs=False), alone)) == {"straggler": {2}}


def test_stages_that_come_in_turn_are_not_slow() -> None:
    assert verdicts(timed(job_of(pairs=False), in_turn)) == {"healthy": set()}


def test_where_all_pairs_have_one_that_comes_late_it_is_how_the_program_works() -> None:
    assert verdicts(timed(job_of(), lambda rank, nth: 250 if rank % 2 and nth == 0 else 0)) == {"healthy": set()}


@pytest.mark.parametrize("skew_ms", [(0, 0, 0, 250), (0, 900, 0, 900), (0, 50, 100, 150)])
def test_clocks_that_are_apart_make_nobody_slow(skew_ms: tuple[int, ...]) -> None:
    assert verdicts(timed(job_of(), lambda *_: 0, skew_ms=skew_ms)) == {"healthy": set()}
    assert verdicts(timed(job_of(pairs=False), lambda *_: 0, skew_ms=skew_ms)) == {"healthy": set()}


def test_who_is_late_by_less_than_others_wait_for_anybody_is_not_slow() -> None:
    assert verdicts(timed(job_of(), lambda rank, nth: 30 if rank == 3 and nth == 0 else 0)) == {"healthy": set()}


@pytest.mark.parametrize(("late_s", "expected"), [(700, {"rank-missing": {1}}), (500, {"healthy": set()})])
def test_who_came_after_all_others_had_given_up_is_late_though_all_is_retired(
    late_s: int, expected: dict[str, set[int]]
) -> None:
    """The time-out is 600 s; what failed is retired, too."""
    job = job_of(pairs=False)
    facts = timed(job, lambda *_: 0)
    job.issued[1][-1].at_ns += late_s * 1000 * MS
    facts = facts_of(job, GLOO)
    assert verdicts(facts) == expected


def test_of_two_that_came_too_late_one_may_have_waited_for_the_other() -> None:
    job = job_of(pairs=False)
    timed(job, lambda *_: 0)
    for rank in (1, 2):
        job.issued[rank][-1].at_ns += 700 * 1000 * MS
    assert verdicts(facts_of(job, GLOO)) == {"healthy": set()}


@pytest.mark.parametrize("names", ["1234", "3412"])
def test_who_came_too_late_may_have_waited_in_another_group(names: str) -> None:
    """Rank 3 comes late to rank 2, which so comes late to rank 0: no victim is convicted, whatever groups are called."""
    data = [Pg(names[0], "DATA", (0, 2)), Pg(names[1], "DATA", (1, 3))]
    tensor = [Pg(names[2], "TENSOR", (0, 1)), Pg(names[3], "TENSOR", (2, 3))]
    steps = {r: [Op(WORLD, size=64), Op(tensor[r // 2], size=512), Op(data[r % 2], size=64)] * 8 for r in range(4)}
    job = run(Mesh(2, 2), steps, Faults(), ahead=1)
    timed(job, lambda *_: 0)
    for late in (*job.issued[3][-2:], job.issued[2][-1]):
        late.at_ns += 700 * 1000 * MS
    assert verdicts(facts_of(job, GLOO)) == {"healthy": set()}
