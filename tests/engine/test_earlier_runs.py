"""Logs of earlier runs are left out where they are surely of the same job, and surely of another run."""

from __future__ import annotations

import pytest
from builders import hit, progress, source

from neuron_doctor.engine.earlier_runs import LEFT_OUT, of_the_last_run
from neuron_doctor.engine.facts import Clock, Collection, Fact, Instant, Place, Source, Span

HOUR = 3600.0
LATER = 40 * HOUR


def failure(name: str, at: float) -> Fact:
    data = {"launcher": "torchrun", "exitcode": -15, "signal": 15, "first": False, "message": ""}
    return Fact(
        "launcher-failure", data, Place(pid=60), Span(name, 5), name, Instant(round(at * 1e9), Clock.HOST_LOCAL)
    )


def last_run(at: float = LATER, clock: Clock = Clock.HOST_LOCAL) -> list[Fact]:
    return [hit("x", at=at, source="new", clock=clock, rank=3), progress(at=at + 60, offset=9, source="new", rank=3)]


def left_out(*facts: Fact, sources: tuple[Source, ...] = ()) -> set[str]:
    """The sources that are left out; of the others every fact has to be kept."""
    known = {one.id for one in sources}
    more = tuple(source(name) for name in sorted({fact.source for fact in facts} - known))
    found, kept = of_the_last_run(Collection((*sources, *more), facts), facts)
    out = {one.id for one in found if any(problem.what == LEFT_OUT for problem in one.problems)}
    assert [fact for fact in facts if fact.source not in out] == list(kept)
    return out


def test_a_log_of_the_same_rank_that_ended_long_before_is_of_an_earlier_run() -> None:
    assert left_out(hit("x", at=0, source="old", rank=3), *last_run()) == {"old"}


def test_a_log_of_no_rank_is_one_only_if_it_tells_of_its_end() -> None:
    called = hit("x", at=0, source="old", pid=60)
    assert left_out(called, failure("old", 900), *last_run()) == {"old"}
    assert left_out(called, *last_run()) == set()


def test_a_log_of_other_ranks_may_be_the_one_of_a_rank_that_has_been_silent_since() -> None:
    assert left_out(hit("x", at=0, source="old", rank=7), failure("old", 900), *last_run()) == set()


@pytest.mark.parametrize(
    ("hours", "clock", "out"), [(10, Clock.UTC, {"old"}), (10, Clock.HOST_LOCAL, set()), (4, Clock.UTC, set())]
)
def test_hours_are_enough_only_where_no_time_zone_can_be_behind_them(hours: int, clock: Clock, out: set[str]) -> None:
    old = hit("x", at=0, source="old", clock=clock, rank=3)
    new = hit("x", at=hours * HOUR, source="new", clock=clock, rank=3)
    assert left_out(old, new, progress(source="new", rank=3)) == out


def test_a_log_that_goes_on_from_one_to_the_other_makes_them_one_run() -> None:
    both = [hit("x", at=at * HOUR, source="launcher", offset=at, pid=1) for at in (0, 20, 40)]
    assert left_out(hit("x", at=0, source="old", rank=3), *both, *last_run()) == set()


def test_what_was_written_later_and_tells_of_no_job_is_no_run() -> None:
    tool = hit("x", at=LATER, source="collect", pid=3)
    assert left_out(hit("x", at=0, source="old", rank=3), failure("old", 900), tool) == set()


def test_numbered_attempts_and_kernel_logs_are_left_to_others() -> None:
    assert left_out(hit("x", at=0, source="old", rank=3, attempt=0), *last_run()) == set()
    kernel = source("dmesg", kind="kernel")
    assert left_out(hit("x", at=0, source="dmesg", pid=60), *last_run(), sources=(kernel,)) == set()


def test_of_three_runs_the_last_stays() -> None:
    runs = [hit("x", at=n * LATER, source=f"run{n}", rank=3) for n in range(2)]
    assert left_out(*runs, *last_run(2 * LATER)) == {"run0", "run1"}
