"""Gaps across the clocks of a host: bounded by the lives of processes, by copied lines and by zones, and never guessed."""

from __future__ import annotations

import pytest
from builders import hit, source
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact, Instant, Source
from neuron_doctor.engine.moments import Moment
from neuron_doctor.engine.timeline import Gap, Timeline, timeline

S = 10**9
HOUR = 3600.0
START = 1_700_000_000.0
DMESG = source("dmesg", kind="kernel", host="a")
LOG = source("rank0", host="a")


def kernel(kind: str, at: float, *, clock: Clock = Clock.BOOT, pid: int = 7000, text: str = "") -> Fact:
    made = hit(text or kind, at=at, clock=clock, source="dmesg", host="a", pid=pid, offset=int(at))
    return made if kind == "hit" else replace(made, kind=kind, data={})


def said(
    at: float, *, clock: Clock = Clock.HOST_LOCAL, pid: int | None = 7000, text: str = "line", **place: object
) -> Fact:
    return hit(text, at=at, clock=clock, source="rank0", host="a", pid=pid, offset=int(at), **place)


def reported(at: float, signal: int = 9) -> Fact:
    fact = hit("x", at=at, source="torchrun", host="a", pid=7000)
    return replace(fact, kind="launcher-failure", data={"launcher": "torchrun", "signal": signal, "exitcode": 0})


def gap(facts: list[Fact], a: Fact, b: Fact, *sources: Source) -> Gap | None:
    clocks = timeline(facts, sources or (DMESG, LOG))
    one, two = clocks.moment(a), clocks.moment(b)
    assert one
    assert two
    return clocks.difference(one, two)


def test_one_clock_gives_the_gap_itself_widened_by_what_the_stamps_leave_open() -> None:
    a, b = Moment(Instant(5 * S, Clock.UTC, S), "a"), Moment(Instant(9 * S, Clock.UTC), "a")
    assert Timeline().difference(a, b) == Gap(3 * S, 5 * S)
    assert Timeline().difference(a, Moment(b.instant, "b")) is None


@given(st.floats(0, 1e6), st.floats(0.1, 100), st.floats(0, 1e5), st.floats(0, 20))
def test_a_process_orders_the_boot_clock_and_the_clock_of_its_log(
    boot: float, opening: float, life: float, lag: float
) -> None:
    """The true time is that of the log; the boot clock began at START - boot."""
    wrote, stopped = said(START + opening), said(START + opening + life)
    opened, closed = kernel("attach", boot), kernel("detach", boot + opening + life + lag)
    found = gap([wrote, stopped, opened, closed], opened, wrote)
    assert found is not None
    assert found.low <= opening * S <= found.high
    assert found.high - found.low <= (opening + lag + 160) * S + 0.002 * S * (life + 200)


def test_a_killed_process_wrote_before_and_was_reported_after() -> None:
    killed = kernel("oom-kill", 500.0)
    facts = [said(START - 3), killed, reported(START + 4)]
    found = gap(facts, killed, facts[0], DMESG, LOG, source("torchrun", host="a"))
    assert found is not None
    assert (round(found.low / S), round(found.high / S)) == (-67, 2)


def test_a_process_that_ended_by_itself_was_not_killed() -> None:
    killed = kernel("oom-kill", 500.0)
    other = reported(START + 4, signal=0)
    found = gap([killed, other], killed, other, DMESG, source("torchrun", host="a"))
    assert found is None


def test_a_process_id_of_two_ranks_proves_nothing() -> None:
    wrote, also, opened = said(START, rank=0), said(START, rank=8), kernel("attach", 100.0)
    assert gap([wrote, also, opened], opened, wrote) is None


def test_a_line_in_both_logs_is_one_event() -> None:
    copy, line = (
        kernel("hit", 100.0, text="Suspected hang in operation 37"),
        said(START, text="Suspected hang in operation 37"),
    )
    assert gap([copy, line], copy, line) == Gap(-2 * S, 2 * S)


@pytest.mark.parametrize("again", [100.0, 4000.0])
def test_a_line_that_stands_twice_is_no_one_event(again: float) -> None:
    text = "Suspected hang in operation 37"
    copies = [kernel("hit", 50.0, text=text), kernel("hit", again, text=text)]
    line = said(START, text=text)
    assert gap([*copies, line], copies[0], line) is None


def test_an_agent_that_quotes_the_kernel_log_later_is_no_witness() -> None:
    copy, line = kernel("hit", 100.0, text="Suspected hang"), said(START, text="Suspected hang", pid=None)
    assert gap([copy, line], copy, line) is None


@pytest.mark.parametrize("zone", [-12, -3.5, 0, 5.75, 14])
def test_a_rough_bound_proves_a_zone(zone: float) -> None:
    """The log is in UTC; the kernel's wall clock in another zone."""
    wrote, last = said(START, clock=Clock.UTC), said(START + 60, clock=Clock.UTC)
    opened = kernel("attach", START - 9 + zone * HOUR, clock=Clock.HOST_LOCAL)
    closed = kernel("detach", START + 65 + zone * HOUR, clock=Clock.HOST_LOCAL)
    assert gap([wrote, last, opened, closed], opened, wrote) == Gap(9 * S, 9 * S)


def test_a_kernel_log_in_another_zone_than_its_programs_is_found_out() -> None:
    wrote, last = said(START), said(START + 60)
    opened = kernel("attach", START - 9 + 2 * HOUR, clock=Clock.HOST_LOCAL)
    closed = kernel("detach", START + 65 + 2 * HOUR, clock=Clock.HOST_LOCAL)
    facts = [wrote, last, opened, closed]
    assert gap(facts, opened, wrote) == Gap(9 * S, 9 * S)
    assert not timeline(facts, (DMESG, LOG)).assumed


def test_without_evidence_a_kernel_log_is_taken_to_be_in_the_zone_of_its_host() -> None:
    broke, wrote = kernel("hit", START - 60, clock=Clock.HOST_LOCAL, pid=1), said(START)
    clocks = timeline([broke, wrote], (DMESG, LOG))
    a, b = clocks.moment(broke), clocks.moment(wrote)
    assert a
    assert b
    assert clocks.difference(a, b) == Gap(60 * S, 60 * S)
    assert not clocks.one_zone(a, b)


def test_utc_and_a_zone_that_is_not_known_differ_by_hours_at_most() -> None:
    old, now = said(START - 7 * 24 * HOUR, clock=Clock.UTC), said(START)
    found = gap([old, now], old, now)
    assert found is not None
    assert found.within(3600 * S, 10 * 24 * 3600 * S)
    assert gap([said(START, clock=Clock.UTC), now], said(START, clock=Clock.UTC), now).within(0, S) is None  # type: ignore[union-attr]


def test_a_controller_tells_of_hosts_by_its_own_clock() -> None:
    event = hit("evicted", at=START, clock=Clock.UTC, source="events", host="a")
    line = hit("died", at=START, clock=Clock.UTC, source="rank0", host="a")
    assert gap([event, line], event, line, source("events", kind="kubectl"), LOG) is None


def test_a_launcher_on_another_host_tells_by_the_clock_of_that_host() -> None:
    fact = hit("x", at=START, source="srun", host="a", pid=7000)
    report = replace(fact, kind="launcher-failure", data={"launcher": "srun", "signal": 9})
    clocks = timeline([report], (source("srun", host="head"),))
    assert clocks.moment(report) == Moment(Instant(round(START * S), Clock.HOST_LOCAL), "head")


def test_the_seconds_of_two_boots_are_two_clocks() -> None:
    """The host went down between: its second boot began anew, and wrote the lines of the first one again."""
    before, error = kernel("hit", 1.0, text="Linux version"), kernel("hit", 5000.0, text="mce: error")
    after = replace(kernel("hit", 1.0, text="Linux version"), span=replace(before.span, offset=6000))
    assert gap([before, error, after], before, error) == Gap(4999 * S, 4999 * S)
    assert gap([before, error, after], error, after) is None
    stray = replace(kernel("hit", 4990.0, text="late"), span=replace(before.span, offset=6000))
    assert gap([before, error, stray], error, stray) == Gap(-10 * S, -10 * S)


# --- what a host says itself of its clocks -------------------------------------------------------------------------


def tie(at: float, wall: float, *, name: str = "dmesg") -> Fact:
    made = hit("tie", at=at, clock=Clock.BOOT, source=name, host="a", offset=int(at))
    return replace(made, kind="clock-tie", data={"epoch": wall})


def utc(at: float) -> Fact:
    return hit("utc", at=at, clock=Clock.UTC, source="rank0", host="a", pid=7000, offset=int(at))


def test_the_wall_clock_that_the_kernel_prints_ties_the_seconds_since_boot_to_utc() -> None:
    error, later = kernel("hit", 500), utc(START + 700)
    found = gap([tie(9, START + 9), error, later], error, later)
    assert found is not None
    assert found.low <= 200 * S <= found.high
    assert found.high - found.low <= 130 * S
    assert gap([error, later], error, later) is None


def test_the_date_of_the_driver_is_that_of_seconds_since_1970() -> None:
    dated = replace(tie(9, 0), data={"wall": "2023-nov-14 22:13:29.500000"})
    error, later = kernel("hit", 500), utc(START + 700)
    found, same = gap([dated, error, later], error, later), gap([tie(9, START + 9.5), error, later], error, later)
    assert found == same is not None
    for odd in ("2023-xyz-14 22:13:29", "2023-nov-31 22:13:29", "2023-nov-14 29:13:29"):
        assert gap([replace(dated, data={"wall": odd}), error, later], error, later) is None


def test_two_boots_in_one_log_are_tied_each_by_its_own_word() -> None:
    before, after, later = kernel("hit", 500_000), kernel("hit", 50), utc(START + 700)
    first, second = tie(9, START - 600_000), tie(9, START)
    facts = [
        replace(fact, span=replace(fact.span, offset=n))
        for n, fact in enumerate([first, before, second, after], start=1)
    ]
    clocks = timeline([*facts, later], (DMESG, LOG))
    moments = [clocks.moment(fact) for fact in (facts[1], facts[3], later)]
    assert moments[0]
    assert moments[1]
    assert moments[2]
    old, new = (clocks.difference(moment, moments[2]) for moment in moments[:2] if moment)
    assert old is not None
    assert new is not None
    assert old.low > 100_000 * S - 400 * S
    assert new.low <= 659 * S <= new.high


def test_a_log_of_another_boot_that_says_nothing_is_not_tied_by_what_the_next_one_says() -> None:
    """Its seconds would seem to be days after the boot that the other log tells of."""
    before = replace(kernel("hit", 298_850), source="dmesg-before")
    later, word = utc(START + 700), tie(9, START + 9)
    sources = (DMESG, source("dmesg-before", kind="kernel", host="a"), LOG)
    assert gap([word, before, later], before, later, *sources) is None
    disagreeing = tie(9, START - 300_000, name="dmesg-before")
    assert gap([word, disagreeing, before, later], before, later, *sources) is None


def test_a_word_that_the_life_of_a_process_contradicts_counts_for_nothing() -> None:
    """The process wrote before the kernel saw it open the device, a year later by the word."""
    opened, closed = kernel("attach", 100), kernel("detach", 900)
    wrote, stopped = utc(START + 100), utc(START + 890)
    facts = [wrote, stopped, opened, closed]
    assert gap([*facts, tie(9, START + 3e7)], opened, wrote) == gap(facts, opened, wrote)


def test_a_shell_that_shows_utc_proves_the_zone_of_the_programs_of_its_host() -> None:
    shell = replace(hit("date", source="sysfs", host="a"), kind="utc-host", data={})
    local, later = said(START), utc(START + 7)
    found = gap([shell, local, later], local, later)
    assert found == Gap(7 * S, 7 * S)
    elsewhere = replace(shell, place=replace(shell.place, host="b"))
    unknown = gap([elsewhere, local, later], local, later)
    assert unknown is not None
    assert unknown.low < 0 < unknown.high
