"""Processes that the kernel killed when nobody used the devices are none of a job that opened them long after."""

from __future__ import annotations

import pytest
from builders import hit, progress
from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact, Place
from neuron_doctor.engine.idle_hosts import idle_hosts
from neuron_doctor.engine.match import Match

HOUR = 3600.0
KILLED = 1_700_000_000.0


def kernel(kind: str, at: float | None, pid: int, offset: int = 0, clock: Clock = Clock.BOOT) -> Fact:
    fact = hit("x", at=at, offset=offset, source="dmesg", pid=pid, clock=clock)
    return Fact(kind, {}, fact.place, fact.span, "dmesg", fact.instant)


KILL = kernel("oom-kill", KILLED, 3021)
OPENED = kernel("attach", KILLED + 7 * HOUR, 7193, 2)
CLOSED = kernel("detach", KILLED + 8 * HOUR, 7193, 3)
STEP = progress(source="job")


def are_of_no_job(*facts: Fact, killed: Fact = KILL) -> bool:
    match = Match(None, Place(), (), (killed,), None)  # type: ignore[arg-type]
    return idle_hosts((killed, *facts)).hold(match)


def test_who_was_killed_hours_before_anybody_opened_the_devices_is_of_no_job_that_made_steps() -> None:
    assert are_of_no_job(OPENED, CLOSED, STEP)
    assert are_of_no_job(OPENED, STEP)
    assert not are_of_no_job(OPENED, CLOSED)


@pytest.mark.parametrize(
    "others",
    [
        (),  # nobody opened them
        (kernel("attach", KILLED + 60, 7193, 2),),  # that soon: the start of the job may have been killed
        (
            OPENED,
            CLOSED,
            kernel("detach", KILLED + 30, 41, 9),
        ),  # somebody had them then, and the ring has lost since when
        (OPENED, CLOSED, kernel("attach", KILLED - HOUR, 41, 9)),  # somebody may have them still
        (kernel("attach", KILLED - HOUR, 41, 9), kernel("detach", KILLED - 60, 41, 9), OPENED),  # it ended just before
        (kernel("attach", KILLED + 7 * HOUR, 7193, 2, Clock.UTC),),
        (kernel("attach", None, 7193, 2),),
    ],
)
def test_who_was_killed_while_somebody_may_have_had_the_devices_may_be_of_the_job(others: tuple[Fact, ...]) -> None:
    assert not are_of_no_job(*others, STEP)


def test_earlier_users_that_were_gone_for_long_do_not_matter() -> None:
    before = (kernel("attach", KILLED - 9 * HOUR, 41, 9), kernel("detach", KILLED - 2 * HOUR, 41, 9))
    assert are_of_no_job(*before, OPENED, CLOSED, STEP)


def test_what_broke_while_nobody_used_the_devices_may_last() -> None:
    broke = kernel("hw-err", KILLED, 3021)
    assert not are_of_no_job(OPENED, CLOSED, STEP, killed=broke)


def test_a_log_without_steps_may_be_of_another_run() -> None:
    failed = hit("x", source="compile")
    failed = Fact("launcher-failure", {"launcher": "slurm", "exitcode": 1}, failed.place, failed.span, "compile")
    assert not are_of_no_job(OPENED, CLOSED, STEP, failed)
    assert are_of_no_job(OPENED, CLOSED, STEP, replace(failed, source="job"))


def test_one_log_may_tell_of_several_hosts() -> None:
    of = [replace(fact, place=replace(fact.place, host=host)) for fact, host in ((KILL, "a"), (OPENED, "b"))]
    assert not are_of_no_job(of[1], STEP, killed=of[0])
    assert are_of_no_job(replace(of[1], place=replace(of[1].place, host="a")), STEP, killed=of[0])


def test_the_kernels_of_other_hosts_say_nothing_of_it() -> None:
    elsewhere = [replace(fact, source="dmesg2") for fact in (OPENED, CLOSED)]
    assert not are_of_no_job(*elsewhere, STEP)
