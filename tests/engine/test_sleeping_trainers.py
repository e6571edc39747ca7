"""A job that stands in a file system by the kernel's reports, beside stalls that got over and tasks that are not the job's."""

from __future__ import annotations

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Source, Span
from neuron_doctor.engine.sleeping_trainers import sleeping_trainers

SECOND = 10**9
LOG = Source("log", "train.log", "log", size=1000)
KERNEL = Source("kernel", "dmesg.txt", "kernel", size=9000)


def report(at_s: int, waited_s: int = 122, pid: int = 41230, clock: Clock = Clock.BOOT) -> Fact:
    data = {"process": "pt_main_thread", "waited_s": waited_s}
    span = Span("dmesg.txt", offset=at_s)
    return Fact("blocked-task", data, Place(host="a", pid=pid), span, "kernel", Instant(at_s * SECOND, clock))


def step(at_s: int, offset: int = 100) -> Fact:
    place, span = Place(host="a", rank=0), Span("train.log", offset=offset, length=80)
    return Fact(
        "progress", {"what": "step", "value": 5.0}, place, span, "log", Instant(at_s * SECOND, Clock.HOST_LOCAL)
    )


def save(at_s: int, offset: int = 920, length: int = 79) -> Fact:
    span = Span("train.log", offset=offset, length=length)
    return Fact("save-begun", {}, Place(host="a", rank=0), span, "log", Instant(at_s * SECOND, Clock.HOST_LOCAL))


def told(*facts: Fact) -> list[tuple[object, object]]:
    return [(fact.data["tasks"], fact.data["seconds"]) for fact in sleeping_trainers(facts, [LOG, KERNEL])]


def test_who_is_reported_again_after_the_log_ended_with_a_save_sleeps() -> None:
    assert told(step(10), save(11), report(812590), report(812835)) == [(1, 367)]


def test_newer_kernels_add_the_time_up_themselves() -> None:
    assert told(step(10), save(11), report(812590, 368)) == [(1, 368)]


def test_two_minutes_may_just_be_much_to_write() -> None:
    assert told(step(10), save(11), report(812590), report(812590, pid=41231)) == []


def test_what_stands_below_the_save_shows_that_the_log_went_on() -> None:
    assert told(step(10), save(11, offset=800), report(812590), report(812835)) == []


def test_a_log_that_tells_of_no_step_may_be_of_any_program() -> None:
    assert told(save(11), report(812590), report(812835)) == []


def test_by_one_clock_no_save_is_needed_and_a_later_step_shows_that_it_got_over() -> None:
    reports = report(1000, clock=Clock.HOST_LOCAL), report(1245, clock=Clock.HOST_LOCAL)
    assert told(step(800), *reports) == [(1, 367)]
    assert told(step(1300), *reports) == []


def test_a_job_that_is_done_stands_nowhere() -> None:
    done = Fact("completion", {}, Place(host="a"), Span("train.log", offset=990), "log", None)
    assert told(step(10), save(11), report(812590), report(812835), done) == []


def test_a_job_that_stepped_while_one_of_its_tasks_slept_goes_on() -> None:
    reports = [report(1000 + 120 * number, clock=Clock.HOST_LOCAL) for number in range(8)]
    assert told(*(step(at, offset=at) for at in range(100, 840, 10)), *reports) != []
    assert told(*(step(at, offset=at) for at in range(100, 1840, 10)), *reports) == []
