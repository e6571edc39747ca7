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


# --- one host, and what Slurm says


def test_the_clock_of_one_host_is_off_by_no_more_than_its_zone_is_from_utc() -> None:
    old = hit("x", at=0, source="old", rank=3, host="a")
    for hours, out in ((21, {"old"}), (19, set())):
        new = hit("x", at=hours * HOUR, source="new", rank=3, host="a")
        assert left_out(old, new, progress(source="new", rank=3)) == out
    elsewhere = hit("x", at=21 * HOUR, source="new", rank=3, host="b")
    assert left_out(old, elsewhere, progress(source="new", rank=3)) == set()


def slurm(job: str, state: str = "RUNNING", hours: float = 2.0) -> Fact:
    data = {"job_id": job, "state": state, "nodes": "f[1-8]", "elapsed_s": int(hours * HOUR)}
    return Fact("slurm-job", data, Place(job=job), Span("squeue", int(job)), "squeue")


SQUEUE = source("squeue", kind="slurm")


def of_job(job: str | None, first: float, last: float, name: str) -> list[Fact]:
    """A log of a process, without a rank and without progress, from one hour to another."""
    return [hit("x", at=at * HOUR, offset=n, source=name, pid=60, job=job) for n, at in enumerate((first, last))]


def queued(*facts: Fact) -> set[str]:
    return left_out(*facts, sources=(SQUEUE,))


OLD = of_job("6108", 0, 0.1, "old")


def test_a_job_that_does_not_run_any_more_is_over_where_the_logs_are_those_of_one_that_runs() -> None:
    assert queued(*OLD, *of_job(None, 16, 17.9, "new"), slurm("6131")) == {"old"}
    assert queued(*OLD, *of_job("6131", 16, 16.1, "new"), slurm("6131"), slurm("6108", "CANCELLED")) == {"old"}


def test_it_is_not_over_if_it_runs_or_if_nothing_does() -> None:
    new = of_job(None, 16, 17.9, "new")
    assert queued(*OLD, *new, slurm("6131"), slurm("6108", hours=20)) == set()
    assert queued(*OLD, *new, slurm("6131", "PENDING")) == set()
    assert left_out(*OLD, *new) == set()


def test_what_did_not_last_as_long_as_the_job_that_runs_is_not_its_log() -> None:
    """Somebody looked at the nodes the morning after, while the job of others ran."""
    for first, last in ((16, 16.05), (16, 16.5), (16, 19)):
        assert queued(*OLD, *of_job(None, first, last, "new"), slurm("6131")) == set()


def test_the_logs_of_one_job_in_two_zones_are_no_two_jobs() -> None:
    assert queued(*OLD, *of_job(None, 13.5, 15.4, "new"), slurm("6131")) == set()
    assert queued(*OLD, *of_job("6108", 16, 17.9, "new"), slurm("6131")) == set()


def test_a_third_job_says_nothing() -> None:
    assert queued(*OLD, *of_job("6120", 16, 17.9, "new"), slurm("6131")) == set()


def test_a_log_without_a_job_stays_beside_that_of_a_job_that_runs() -> None:
    assert queued(*of_job(None, 0, 0.1, "old"), *of_job(None, 16, 17.9, "new"), slurm("6131")) == set()


# --- one table of Slurm, which shows that one job had ended when another began


def row(job: str, state: str, *, start: float = -1, end: float | None = None, table: str = "sacct") -> Fact:
    """A job that began and ended at these hours."""
    data = {"job_id": job, "step": "", "state": state, "nodes": "f1", "elapsed_s": -1}
    data["start_s"] = int(start * HOUR) if start >= 0 else -1
    when = None if end is None else Instant(round(end * HOUR * 1e9), Clock.HOST_LOCAL)
    return Fact("slurm-job", data, Place(job=job), Span(table, int(job)), table, when)


def waiting(job: str, at: float, name: str) -> list[Fact]:
    """A log of a job in which ranks wait for others."""
    report = hit("x", at=at * HOUR, offset=8, source=name, pid=70, job=job)
    return [*of_job(job, at, at + 1, name), Fact("hang-report", {"what": "retry"}, report.place, report.span, name)]


def tabled(*facts: Fact) -> set[str]:
    return left_out(*facts, sources=(source("sacct", kind="slurm"), source("other", kind="slurm")))


RUNS = row("6131", "RUNNING", start=0.7)


@pytest.mark.parametrize(
    ("old", "out"),
    [
        (row("6108", "CANCELLED", start=0, end=0.5), {"old"}),
        (row("6108", "COMPLETED", start=0, end=0.5), {"old"}),
        (row("6108", "FAILED", start=0, end=0.5), set()),
        (row("6108", "CANCELLED", start=0, end=0.8), set()),
        (row("6108", "CANCELLED", start=0, end=0.5, table="other"), set()),
        (row("6108", "RUNNING", start=0), set()),
    ],
)
def test_a_job_that_was_cancelled_before_the_one_began_that_runs_is_not_asked_about(old: Fact, out: set[str]) -> None:
    assert tabled(*OLD, *waiting("6131", 0.8, "new"), old, RUNS) == out


def test_it_may_be_asked_about_if_the_one_that_runs_does_well_or_has_no_logs() -> None:
    old = row("6108", "CANCELLED", start=0, end=0.5)
    well = [*of_job("6131", 0.8, 2, "new"), progress(at=HOUR, offset=9, source="new", pid=60, job="6131")]
    assert tabled(*OLD, *well, old, RUNS) == set()
    assert tabled(*OLD, old, RUNS) == set()
    assert tabled(*OLD, *waiting("6140", 0.8, "new"), old, RUNS) == set()


def test_a_job_that_runs_is_the_one_that_is_asked_about_if_it_is_cancelled_in_the_end() -> None:
    ended = [row("6108", "CANCELLED", start=0, end=0.5), row("6131", "CANCELLED", start=0.7, end=3)]
    assert tabled(*OLD, *waiting("6131", 0.8, "new"), *ended) == set()


def test_jobs_of_others_that_run_say_nothing_of_when_the_own_one_began() -> None:
    old, others = row("6108", "CANCELLED", start=0, end=0.5), row("5001", "RUNNING", start=0.1)
    assert tabled(*OLD, *waiting("6131", 0.8, "new"), old, others, RUNS) == {"old"}


# --- a run that somebody ended


@pytest.mark.parametrize("pattern", ["launcher-interrupt", "orchestration-slurm-job-cancelled"])
@pytest.mark.parametrize(("hours", "out"), [(15, {"old"}), (13, set())])
def test_what_follows_a_run_that_was_ended_is_another_if_no_zone_can_be_behind_it(
    pattern: str, hours: int, out: set[str]
) -> None:
    old = [hit("compile-call", at=0, source="old", pid=60), hit(pattern, at=60, offset=9, source="old", pid=50)]
    assert left_out(*old, *last_run(hours * HOUR)) == out


def test_a_run_of_which_anything_may_be_a_failure_is_not_left_out_because_somebody_ended_it() -> None:
    old = [
        hit("disk-full", at=0, source="old", pid=60),
        hit("launcher-interrupt", at=60, offset=9, source="old", pid=50),
    ]
    assert left_out(*old, *last_run(15 * HOUR)) == set()


def test_a_run_that_failed_before_somebody_ended_it_may_be_what_is_asked_about() -> None:
    old = [
        hit("compile-call", at=0, source="old", pid=60),
        hit("launcher-interrupt", at=60, offset=9, source="old", pid=50),
    ]
    hung = Fact("hang-report", {"what": "collectives"}, Place(pid=60), Span("old", 5), "old")
    assert left_out(*old, hung, *last_run(15 * HOUR)) == set()


def test_a_run_that_hangs_until_somebody_ends_it_is_the_last_one() -> None:
    end = hit("launcher-interrupt", at=15 * HOUR, offset=90, source="new", pid=50)
    assert left_out(hit("x", at=0, source="new", pid=60), progress(at=60, offset=9, source="new"), end) == set()
