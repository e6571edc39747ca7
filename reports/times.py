"""Instants as people and scripts read them: only as precise, and only in the zone, that the source has proven."""

from __future__ import annotations

from neuron_doctor.engine.facts import Clock, Instant
from neuron_doctor.engine.wallclock import date_of

_SECOND = 1_000_000_000
_COUNTERS = {Clock.BOOT: "boot", Clock.MONOTONIC: "monotonic"}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_AFTER = {Clock.BOOT: "s after boot", Clock.MONOTONIC: "s on the clock of the source"}


def time_object(first: Instant | None, last: Instant | None) -> dict[str, str]:
    """The `time` of the JSON report: `first` and `last` in RFC 3339 where the zone is proven, else `first_local`,
    `last_local` and `clock`. What is unknown, of another clock than the first, or no date of a calendar, is absent."""
    start = first or last
    if start is None:
        return {}
    clock, ends = start.clock, {"first": first, "last": last}
    suffix = "" if clock is Clock.UTC else "_local"
    stamps = {name + suffix: stamp(end) for name, end in ends.items() if end is not None and end.clock is clock}
    known = {name: text for name, text in stamps.items() if text}
    return known | {"clock": _COUNTERS.get(clock, "host-local")} if known and suffix else known


def stamp(instant: Instant) -> str:
    """RFC 3339 for UTC, the same without zone for wall clocks, without year if it is not known, seconds for counters.
    Empty where the calendar has no such date (years 1 to 9999)."""
    if instant.clock in _COUNTERS:
        return _counter(instant)
    try:
        date = date_of(instant.ns).replace(microsecond=0)
    except OverflowError:
        return ""
    text = date.replace(tzinfo=None).isoformat() + _fraction(instant)
    if instant.clock is Clock.YEARLESS:
        return "-" + text[4:]
    return text + "Z" if instant.clock is Clock.UTC else text


def _counter(instant: Instant) -> str:
    seconds = abs(instant.ns) // _SECOND
    return f"{'-' if instant.ns < 0 else ''}{seconds}{_fraction(instant, abs(instant.ns))}"


def _fraction(instant: Instant, ns: int | None = None) -> str:
    """Milli-, micro- or nanoseconds, as many as the source states and its uncertainty leaves any meaning."""
    below = (instant.ns if ns is None else ns) % _SECOND
    for digits in (0, 3, 6, 9):
        unit = 10 ** (9 - digits)
        if below % unit == 0 or instant.uncertainty_ns >= unit:
            return f".{below // unit:0{digits}}" if digits else ""
    return ""


def when(first: Instant | None, last: Instant | None) -> str:
    """The interval in words: `2026-11-20 03:12:44.123 UTC, then until 03:14:07 (over 1 min 23 s)`; empty if unknown."""
    start = first or last
    if start is None or not stamp(start):
        return ""
    end = last if last and last.clock is start.clock and last.ns > start.ns else None
    return _moment(start) + (f", last {_later(start, end)} ({_duration(end.ns - start.ns)} later)" if end else "")


def _moment(instant: Instant) -> str:
    text = stamp(instant)
    match instant.clock:
        case Clock.UTC:
            return text.rstrip("Z").replace("T", " ") + " UTC"
        case Clock.HOST_LOCAL:
            return text.replace("T", " ") + " (clock of the host, zone not known)"
        case Clock.YEARLESS:
            return _without_year(text) + " (clock of the host, year and zone not known)"
        case _:
            return f"{text} {_AFTER[instant.clock]}"


def _later(start: Instant, end: Instant) -> str:
    """The end of an interval without what it shares with the start: the unit, the zone, the date if it is the same."""
    a, b = stamp(start), stamp(end)
    if start.clock in _COUNTERS:
        return b
    date, _, time = b.rstrip("Z").partition("T")
    if a.startswith(date + "T"):
        return time
    return _without_year(b) if start.clock is Clock.YEARLESS else f"{date} {time}"


def _without_year(text: str) -> str:
    """`--11-20T03:12:44` as syslog writes it: `Nov 20 03:12:44`."""
    return f"{_MONTHS[int(text[2:4]) - 1]} {int(text[5:7])} {text[8:]}"


def _duration(ns: int) -> str:
    seconds = ns // _SECOND
    if seconds == 0:
        return f"{ns / 1e6:.3g} ms"
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = [f"{n:,} {unit}" for n, unit in ((hours, "h"), (minutes, "min"), (seconds, "s")) if n]
    return " ".join(parts[:2])
