"""Two jobs that ran at once and meet at one address: the later one waits for the ranks of the other."""

from __future__ import annotations

import pytest
from builders import hit
from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Source, Span
from neuron_doctor.engine.shared_meetings import shared_meetings

S = 10**9


def log(job: str, first: int, last: int, clock: Clock = Clock.HOST_LOCAL) -> Source:
    return Source(job, f"{job}.out", "log", first=Instant(first * S, clock), last=Instant(last * S, clock))


def told(kind: str, job: str, **data: object) -> Fact:
    return Fact(kind, data, Place(job=job), Span(f"{job}.out"), job)  # type: ignore[arg-type]


def meets(job: str, address: str = "10.0.0.1:48620") -> Fact:
    return told("meeting", job, address=address)


def waits(job: str) -> Fact:
    return told("hang-report", job, what="retry")


def clashes(*said: Fact | Source) -> list[tuple[object, ...]]:
    facts, sources = [f for f in said if isinstance(f, Fact)], [s for s in said if isinstance(s, Source)]
    return [(f.place.job, f.data["other"], f.data["address"]) for f in shared_meetings(facts, sources)]


BOTH = (meets("7"), meets("8"), log("7", 0, 900), log("8", 60, 800))


def test_the_job_that_began_while_the_other_ran_waits_at_its_address() -> None:
    assert clashes(*BOTH, waits("8")) == [("8", "7", "10.0.0.1:48620")]
    assert clashes(*BOTH, waits("7"), waits("8")) == [("8", "7", "10.0.0.1:48620")]


def test_a_job_that_does_not_wait_or_made_a_step_has_no_such_fault() -> None:
    assert clashes(*BOTH) == []
    assert clashes(*BOTH, waits("8"), told("progress", "8", what="step", value=1.0)) == []


def test_of_jobs_that_do_not_wait_no_pair_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster shows thousands."""
    monkeypatch.setattr("neuron_doctor.engine.shared_meetings.are_two_jobs", lambda *_: pytest.fail("a pair"))
    assert clashes(*BOTH) == []
    assert clashes(*BOTH, waits("8"), told("progress", "8", what="step", value=1.0)) == []


def test_a_job_that_had_ended_or_meets_elsewhere_is_in_nobodys_way() -> None:
    ended = (meets("7"), meets("8"), log("7", 0, 50), log("8", 60, 800), waits("8"))
    assert clashes(*ended) == []
    assert clashes(*ended, told("slurm-job", "7", state="COMPLETED")) == []
    assert clashes(meets("7", "10.0.0.1:48621"), *BOTH[1:], waits("8")) == []


def test_a_job_that_the_scheduler_shows_as_running_had_not_ended() -> None:
    facts = (meets("7"), meets("8"), log("7", 0, 50), log("8", 60, 800), waits("8"))
    assert clashes(*facts, told("slurm-job", "7", state="RUNNING")) == [("8", "7", "10.0.0.1:48620")]


def test_clocks_that_are_not_comparable_tell_no_order() -> None:
    assert clashes(meets("7"), meets("8"), log("7", 0, 900, Clock.UTC), log("8", 60, 800), waits("8")) == []


def test_the_tasks_of_an_array_are_two_jobs_and_the_array_and_its_task_are_not() -> None:
    def renamed(first: str, second: str) -> list[Fact | Source]:
        names = {"7": first, "8": second}
        facts = [replace(f, place=Place(job=names[f.source])) for f in (meets("7"), meets("8"), waits("8"))]
        return [*facts, *BOTH[2:]]

    assert clashes(*renamed("5150_1", "5150_2")) == [("5150_2", "5150_1", "10.0.0.1:48620")]
    assert clashes(*renamed("5150", "5150_2")) == []


def test_without_a_job_nothing_is_told() -> None:
    assert clashes(replace(meets("7"), place=Place()), *BOTH[1:], waits("8"), hit("x")) == []
