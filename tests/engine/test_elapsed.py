"""How long a job held its devices after its last step, by the kernel log of its host."""

from __future__ import annotations

from builders import progress, source
from msgspec.structs import replace

from neuron_doctor.engine.elapsed import unmoved_ns
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Source, Span

SECOND = 10**9


def device(kind: str, at: float, offset: int, host: str = "a") -> Fact:
    instant = Instant(round(at * SECOND), Clock.HOST_LOCAL)
    return Fact(kind, {"slot": 1}, Place(host=host, pid=7), Span("kern", offset), "kern", instant)


KERNEL = source("kern", kind="kernel", first=0, last=9_000, host="a")
LOG = source("s", first=100_004, last=100_300, host="a")
STEP = progress(at=100_300, host="a")


def unmoved(*facts: Fact, sources: tuple[Source, ...] = (KERNEL, LOG)) -> float:
    return unmoved_ns((STEP, *facts), sources) / SECOND


def test_what_the_kernel_saw_held_for_longer_than_the_program_told_of_stood_still() -> None:
    assert unmoved(device("attach", 5_000, 1)) == 4_000 - 296


def test_who_let_go_does_not_stand_still() -> None:
    assert unmoved(device("attach", 5_000, 1), device("detach", 6_000, 2)) == 0
    assert unmoved(device("detach", 4_000, 1), device("attach", 5_000, 2)) == 4_000 - 296


def test_another_host_tells_nothing() -> None:
    assert unmoved(device("attach", 5_000, 1, host="b")) == 0
    assert unmoved() == 0


def test_a_log_without_a_year_ends_in_the_year_in_which_its_records_are() -> None:
    year = 54 * 365.25 * 86_400
    yearless = replace(KERNEL, last=Instant(round((2 * 365.25 * 86_400 + 9_000) * SECOND), Clock.YEARLESS))
    found = unmoved(device("attach", year + 5_000, 1), sources=(yearless, LOG))
    assert abs(found - 3_704) < 2 * 86_400


def asked(at: float, clock: Clock = Clock.HOST_LOCAL, log: str = "s") -> Fact:
    return Fact("dump-request", {}, Place(), Span(log, 900), log, Instant(round(at * SECOND), clock))


def test_who_is_asked_for_a_dump_tells_how_long_ago_the_last_step_was() -> None:
    assert unmoved(asked(103_000), sources=(LOG,)) == 2_700
    assert unmoved(asked(103_000), asked(103_100), sources=(LOG,)) == 2_800
    assert unmoved(asked(103_000, log="other"), asked(103_000, Clock.UTC), sources=(LOG,)) == 0


CONTROLLER = source("ctl", first=100_000, last=109_000)


def event(what: str, at: float, offset: int = 0, job: str = "7") -> Fact:
    data = {"what": what, "job_id": job}
    return Fact("job-event", data, Place(), Span("ctl", offset), "ctl", Instant(round(at * SECOND), Clock.HOST_LOCAL))


def shown(state: str, job: str = "7", host: str = "a") -> Fact:
    return Fact("slurm-job", {"job_id": job, "state": state}, Place(host=host, job=job), Span("sacct"), "sacct")


def test_what_slurm_says_is_running_long_after_the_program_told_of_anything_stood_still() -> None:
    """The program may have begun to write a quarter of an hour after its job."""
    slurm = (CONTROLLER, LOG)
    assert unmoved(event("started", 100_000), shown("RUNNING"), sources=slurm) == 9_000 - 900 - 296
    for facts in (
        (event("started", 100_000), shown("COMPLETED")),
        (event("started", 100_000), shown("RUNNING"), shown("FAILED")),
        (event("started", 100_000), event("done", 105_000, 1), shown("RUNNING")),
        (event("started", 100_000), shown("RUNNING", host="b")),
        (event("started", 100_000, job="8"), shown("RUNNING")),
        (event("started", 100_000),),
    ):
        assert unmoved(*facts, sources=slurm) == 0


def test_a_log_that_begins_long_after_its_job_may_have_been_rotated() -> None:
    """A job of days, and the last hour of its log."""
    assert unmoved(event("started", 99_200), shown("RUNNING"), sources=(CONTROLLER, LOG)) > 0
    assert unmoved(event("started", 99_000), shown("RUNNING"), sources=(CONTROLLER, LOG)) == 0
    assert unmoved(event("started", 100_400), shown("RUNNING"), sources=(CONTROLLER, LOG)) == 0
