"""What a kernel log tells of earlier runs is told apart from what it tells of this one."""

from __future__ import annotations

import pytest
from builders import hit, source
from msgspec.structs import replace

from neuron_doctor.engine.beforehand import beforehand
from neuron_doctor.engine.clocks import clocks_of
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Source
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.moments import Track
from neuron_doctor.engine.offsets import estimate
from neuron_doctor.engine.orders import Order
from neuron_doctor.engine.timeline import Timeline, timeline

DAY = 86_400.0
START = 1_700_000_000.0
DMESG = source("dmesg", kind="kernel", host="a")


def holds(*facts: Fact, others: tuple[Fact, ...] = (), sources: tuple[Source, ...]) -> bool:
    match = Match(None, Place(), (), facts, None)  # type: ignore[arg-type]
    everything = (*facts, *others)
    return beforehand(everything, sources, timeline(everything, sources)).holds(match)


@pytest.mark.parametrize(("age", "older"), [(7 * DAY, True), (20 * 3600.0, False), (-60.0, False)])
def test_wall_clocks_may_be_in_two_zones(age: float, older: bool) -> None:
    log = source("rank0", host="a", rank=0, first=START, last=START + 60)
    assert holds(hit("broke", at=START - age, source="dmesg", host="a"), sources=(DMESG, log)) is older


@pytest.mark.parametrize(("age", "older"), [(2 * DAY, True), (20 * 3600.0, False), (-60.0, False)])
def test_an_event_of_kubernetes_may_be_of_days_before_all_logs(age: float, older: bool) -> None:
    log, events = source("rank0", rank=0, first=START, last=START + 60), source("events", kind="kubectl")
    event = replace(
        hit("x", at=START - age, source="events", clock=Clock.UTC), kind="k8s-event", data={"reason": "Evicted"}
    )
    assert holds(event, sources=(events, log)) is older
    assert not holds(event, sources=(events,))


def test_a_log_of_which_nothing_is_understood_begins_no_run() -> None:
    boot_log = source("cloud-init", host="a", first=START, last=START + 60)
    assert not holds(hit("broke", at=START - 7 * DAY, source="dmesg", host="a"), sources=(DMESG, boot_log))


def said(kind: str, at: float, **place: object) -> Fact:
    fact = hit("x", at=at, source="syslog.4", host="a", **place)  # type: ignore[arg-type]
    return Fact(kind, {}, fact.place, fact.span, "syslog.4", fact.instant)


@pytest.mark.parametrize(("kind", "older"), [("detach", True), ("progress", False)])
def test_the_log_of_a_system_begins_no_run_and_reaches_back_like_the_kernels(kind: str, older: bool) -> None:
    broke = said("hw-err", START - 7 * DAY)
    log, system = source("rank0", host="a", rank=0, first=START), source("syslog.4", host="a", first=START - 9 * DAY)
    assert holds(broke, others=(said(kind, START - 8 * DAY),), sources=(system, log)) is older


@pytest.mark.parametrize(("shown", "older"), [(START + 60, True), (START - 40 * 3600.0, False)])
def test_the_date_of_a_host_whose_clock_shows_that_of_the_run_tells_days(shown: float, older: bool) -> None:
    log = source("job", rank=0, first=START)
    broke = hit("broke", at=START - 2 * DAY, source="dmesg", host="a")
    now = hit("x", at=shown, source="dmesg", host="a", offset=9)
    assert holds(broke, others=(now,), sources=(DMESG, log)) is older


@pytest.mark.parametrize(
    ("age", "clock", "older"),
    [(20 * 3600.0, Clock.UTC, True), (14 * 3600.0, Clock.UTC, False), (20 * 3600.0, Clock.HOST_LOCAL, False)],
)
def test_what_is_told_of_another_host_in_utc_is_older_where_no_zone_lies_between(
    age: float, clock: Clock, older: bool
) -> None:
    log, agent = source("rank0", host="b", rank=0, first=START, last=START + 60), source("agent", kind="kernel")
    broke = hit("broke", at=START - age, clock=clock, source="agent", host="c")
    now = hit("x", at=START + 60, source="agent", offset=9)
    assert holds(broke, others=(now,), sources=(agent, log)) is older


@pytest.mark.parametrize(
    ("age", "older"), [(9 * DAY, True), (20 * 3600.0, False), (-9 * DAY, False), (250 * DAY, False)]
)
def test_dates_without_a_year_tell_days_where_none_has_one(age: float, older: bool) -> None:
    """Near the turn of the year the later one may have the smaller date."""
    start = 300 * DAY

    def yearless(at: float) -> Instant:
        return Instant(int(at * 1e9), Clock.YEARLESS)

    log = replace(source("engine", rank=0), first=yearless(start), last=yearless(start + 3600))
    broke = replace(hit("broke", source="dmesg", host="a"), instant=yearless(start - age))
    now = replace(hit("x", source="dmesg", host="a", offset=9), instant=yearless(start + 60))
    assert holds(broke, others=(now,), sources=(DMESG, log)) is older


def test_the_clock_of_another_host_tells_nothing() -> None:
    log = source("rank0", host="b", rank=0, first=START)
    assert not holds(hit("broke", at=START - 7 * DAY, source="dmesg", host="a"), sources=(DMESG, log))


@pytest.mark.parametrize(("age", "older"), [(35 * DAY, True), (-35 * DAY, False), (5000 * DAY, False)])
def test_the_date_of_another_host_tells_weeks_but_not_of_a_clock_that_was_never_set(age: float, older: bool) -> None:
    log = source("job", rank=0, first=START)
    assert holds(hit("broke", at=START - age, source="dmesg", host="a"), sources=(DMESG, log)) is older


@pytest.mark.parametrize(("pids", "older"), [((70, 71), True), ((70,), False)])
def test_processes_of_a_log_that_names_no_host_are_known_by_several_numbers(pids: tuple[int, ...], older: bool) -> None:
    broke = hit("broke", at=1000.0, clock=Clock.BOOT, source="dmesg", host="a")
    opened = [hit("x", at=400_000.0 + n, clock=Clock.BOOT, source="dmesg", host="a", pid=n) for n in pids]
    attached = [Fact("attach", {}, fact.place, fact.span, "dmesg", fact.instant) for fact in opened]
    lines = [hit("y", source="job", pid=n) for n in pids]
    assert holds(broke, others=(*attached, *lines), sources=(DMESG, source("job"))) is older


@pytest.mark.parametrize("at", [399_000.0, 400_500.0])
def test_a_fault_after_processes_of_a_log_without_a_host_began_is_of_the_run(at: float) -> None:
    broke = hit("broke", at=at, clock=Clock.BOOT, source="dmesg", host="a")
    opened = [hit("x", at=400_000.0 + n, clock=Clock.BOOT, source="dmesg", host="a", pid=n) for n in (70, 71)]
    attached = [Fact("attach", {}, fact.place, fact.span, "dmesg", fact.instant) for fact in opened]
    lines = [hit("y", source="job", pid=n) for n in (70, 71)]
    assert not holds(broke, others=(*attached, *lines), sources=(DMESG, source("job")))


@pytest.mark.parametrize(("at", "older"), [(1000.0, True), (399_000.0, False), (400_100.0, False)])
def test_on_the_boot_clock_the_run_begins_when_its_process_opens_the_device(at: float, older: bool) -> None:
    broke = hit("broke", at=at, clock=Clock.BOOT, source="dmesg", host="a")
    opened = hit("x", at=400_000.0, clock=Clock.BOOT, source="dmesg", host="a", pid=7000)
    attach = Fact("attach", {}, opened.place, opened.span, "dmesg", opened.instant)
    line = hit("y", source="rank0", host="a", pid=7000)
    assert holds(broke, others=(attach, line), sources=(DMESG, source("rank0", host="a"))) is older


def test_processes_that_no_log_knows_begin_no_run() -> None:
    broke = hit("broke", at=1000.0, clock=Clock.BOOT, source="dmesg", host="a")
    opened = hit("x", at=400_000.0, clock=Clock.BOOT, source="dmesg", host="a", pid=1)
    attach = Fact("attach", {}, opened.place, opened.span, "dmesg", opened.instant)
    assert not holds(broke, others=(attach,), sources=(DMESG, source("rank0", host="a")))


def test_a_record_of_now_beside_old_ones_is_of_now() -> None:
    log = source("rank0", host="a", rank=0, first=START)
    old, now = (
        hit("broke", at=t, offset=n, source="dmesg", host="a") for n, t in enumerate((START - 9 * DAY, START + 5))
    )
    assert not holds(old, now, sources=(DMESG, log))


@pytest.mark.parametrize("opens", [True, False])
@pytest.mark.parametrize(("age", "older"), [(5 * 3600.0, True), (600.0, False), (-5 * 3600.0, False)])
def test_a_host_whose_kernel_shows_when_it_began_is_told_by_that_alone(age: float, *, older: bool, opens: bool) -> None:
    """Another host began ten hours before it, and their clocks are known to agree: this one took a place that was free, unless
    only the end of its log was collected."""
    logs = [source(f"rank{n}", host=host, rank=n) for n, host in enumerate("ab")]
    begun = [Instant(round((START - hours * 3600) * 1e9), Clock.UTC) for hours in (0, 10)]
    logs = [replace(log, first=first, last=first) for log, first in zip(logs, begun, strict=True)]
    broke = hit("broke", at=START - age, clock=Clock.UTC, source="dmesg", host="a")
    steps = [hit("y", source=log.id, host=log.place.host, pid=7) for log in logs]
    opened = hit("x", at=START - 60, clock=Clock.UTC, source="dmesg", host="a", pid=7, offset=9)
    if opens:
        steps.append(Fact("attach", {}, opened.place, opened.span, "dmesg", opened.instant))
    one, other = Track("a", Clock.UTC), Track("b", Clock.UTC)
    now = begun[0].ns
    agree = [Order(first, now, then, now, 0, "clock") for first, then in ((one, other), (other, one))]
    sources = (DMESG, *logs)
    clocks = Timeline(clocks_of(sources), estimate(agree))
    match = Match(None, Place(), (), (broke,), None)  # type: ignore[arg-type]
    assert beforehand((broke, *steps), sources, clocks).holds(match) is (older and opens)
