"""Time stamps as they stand in logs: their patterns, and how the matched groups become an Instant.

Every reader takes the named groups of a match (absent or None: not printed) and returns an Instant, or None where the
groups are no possible time (month 13, a year that nanoseconds in 64 bits cannot hold). The uncertainty is the
resolution of the stamp. Neither the zone nor the date of this machine is ever used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Instant
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.wallclock import ns_of

Groups = Mapping[str, str | None]
StampReader = Callable[[Groups], Instant | None]

_SECOND = 1_000_000_000
_HOURS, _MINUTES, _SECONDS = range(24), range(60), range(61)  # 61: a leap second is printed as :60

_ISO_LOCAL = r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[T ](?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
_ZONE = r"(?P<zone> ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))"

#: RFC 3339 and its relatives: blank or `T`, `.` or `,` before the fraction, zone or none.
ISO = f"{_ISO_LOCAL}{_ZONE}?"
ISO_ZONED = f"{_ISO_LOCAL}{_ZONE}"

#: libnrt: `2024-Jun-26 00:32:47.943821`, until runtime 2.20 with four digits. Another stamp may be glued to its end
#: (torn lines), so the fraction ends where a year and a month begin.
RUNTIME = (
    r"(?P<year>\d{4})-(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-(?P<day>\d\d) "
    r"(?P<clock>\d\d:\d\d:\d\d)\.(?P<fraction>\d{3,9})(?=\d{4}-[A-Z]|[^\d-]|$)"
)

#: syslog and journald `short`: `Oct 16 01:07:00`, with microseconds in `short-precise`.
SYSLOG = (
    r"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: {1,2}|-)(?P<day>\d{1,2}) "
    r"(?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))?"
)

#: `dmesg -T` in any language: `Sun Jan 11 09:52:01 2026`, `二 9月  3 05:57:48 2024`.
CTIME = (
    r"[^\s\]]{1,12} (?P<month>[^\s\]]{1,12}) {1,2}(?P<day>\d{1,2}) (?P<clock>\d\d:\d\d:\d\d)"
    r"(?:\.(?P<fraction>\d{1,9}))? (?P<year>\d{4})"
)

#: Month names by their first letters, as the C library prints them with `%b` in the languages met in practice.
_MONTHS = (
    "jan ene gen янв",
    "feb fév fev фев",
    "mar mär mrz mrt мар",
    "apr avr abr апр",
    "may mai mag mei maj май мая",
    "jun juin giu июн",
    "jul juil lug июл",
    "aug aoû ago авг",
    "sep set сен",
    "oct okt ott out окт",
    "nov ноя",
    "dec dez déc dic дек",
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
_LONGEST_NAME = 4
_LEADING_NUMBER = regex(r"\d{1,2}")  # `9月`, `9월`, `09`

#: A time that stands alone before the message, and how far into the line that can be.
_TIME_OF_DAY = regex(r"(?<![\w:.,+/-])(?P<clock>\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?![\w:/<-])")
_BEFORE_MESSAGE = 60
_DAY = 86_400 * _SECOND
#: What stands below a line was written so much later at most.
_NEXT = 6 * 3600 * _SECOND

_YEARLESS_YEAR = "1972"  # a leap year, so that 29 February exists
_YEARS = range(1970, 2262)
_OLD_RUNTIME_DIGITS = 4
_MILLISECONDS = range(1000)


def dated(when: datetime, clock: Clock, resolution_ns: int = 1_000_000_000) -> Instant | None:
    """The instant of a date with a zone; None for a year in which no job ran."""
    return Instant(ns_of(when), clock, resolution_ns) if when.year in _YEARS else None


def _month(name: str) -> int | None:
    number = _LEADING_NUMBER.match(name)
    if number is not None:
        return int(number[0])
    folded = name.casefold()
    names = (folded[:length] for length in range(_LONGEST_NAME, 2, -1))
    return next((_MONTH_OF[name] for name in names if name in _MONTH_OF), None)


@lru_cache(maxsize=1024)
def _day_ns(year: str, month: str, day: str) -> int | None:
    number = _month(month)
    if number is None or int(year) not in _YEARS:
        return None
    try:
        midnight = datetime(int(year), number, int(day), tzinfo=UTC)
    except ValueError:
        return None
    return ns_of(midnight)


@lru_cache(maxsize=4096)
def _clock_ns(clock: str) -> int | None:
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    if hours not in _HOURS or minutes not in _MINUTES or seconds not in _SECONDS:
        return None
    return (hours * 3600 + minutes * 60 + seconds) * _SECOND


@lru_cache(maxsize=64)
def _zone_ns(zone: str) -> int | None:
    """Nanoseconds east of UTC."""
    name = zone.strip()
    if name in ("Z", "UTC", "GMT"):
        return 0
    hours, minutes = int(name[1:3]), int(name[-2:])
    if hours not in _HOURS or minutes not in _MINUTES:
        return None
    return (-1 if name[0] == "-" else 1) * (hours * 3600 + minutes * 60) * _SECOND


def _fraction(digits: str | None) -> tuple[int, int]:
    """Nanoseconds of a decimal fraction of a second, and its resolution."""
    if not digits:
        return 0, _SECOND
    resolution: int = 10 ** (9 - len(digits))
    return int(digits) * resolution, resolution


def _wall(groups: Groups, year: str | None, fraction: tuple[int, int], clock: Clock) -> Instant | None:
    month, day, time = groups.get("month"), groups.get("day"), groups.get("clock")
    if year is None or month is None or day is None or time is None:
        return None
    midnight, since = _day_ns(year, month, day), _clock_ns(time)
    if midnight is None or since is None:
        return None
    return Instant(midnight + since + fraction[0], clock, fraction[1])


def _zoned(local: Instant | None, zone: str | None) -> Instant | None:
    if local is None or zone is None:
        return local
    east = _zone_ns(zone)
    return None if east is None else Instant(local.ns - east, Clock.UTC, local.uncertainty_ns)


def calendar(groups: Groups) -> Instant | None:
    """A full date: UTC where a zone is printed, else the host's own wall clock."""
    local = _wall(groups, groups.get("year"), _fraction(groups.get("fraction")), Clock.HOST_LOCAL)
    return _zoned(local, groups.get("zone"))


def american(groups: Groups) -> Instant | None:
    """`09/22/2021 03:01:34 AM`: a full date, with twelve hours where `half` is AM or PM."""
    local, half = calendar(groups), groups.get("half")
    if local is None or half is None:
        return local
    noon = 12 * 3600 * _SECOND
    of_day = local.ns % (2 * noon)
    return replace(local, ns=local.ns - of_day + of_day % noon + (noon if half == "PM" else 0))


def _padded_milliseconds(digits: str) -> tuple[int, int]:
    """A fraction written as zero-padded milliseconds, so `000203` is 203 ms; a value that cannot be milliseconds is
    read as the fraction that it looks like."""
    return _fraction(digits[-3:] if int(digits) in _MILLISECONDS else digits)


def runtime(groups: Groups) -> Instant | None:
    """A stamp of libnrt or libnccom. Four digits are padded milliseconds: values above 0999 were never seen."""
    digits = groups.get("fraction") or ""
    fraction = _padded_milliseconds(digits) if len(digits) == _OLD_RUNTIME_DIGITS else _fraction(digits)
    return _wall(groups, groups.get("year"), fraction, Clock.HOST_LOCAL)


def compiler(groups: Groups) -> Instant | None:
    """A stamp of the compiler wrapper, whose six digits are padded milliseconds (`%(msecs)06d` of Python's logging;
    every published line has three zeros there)."""
    return _wall(groups, groups.get("year"), _padded_milliseconds(groups.get("fraction") or "0"), Clock.HOST_LOCAL)


def yearless(groups: Groups) -> Instant | None:
    """A date without a year (syslog, glog, vLLM), stored as in 1972."""
    return _wall(groups, _YEARLESS_YEAR, _fraction(groups.get("fraction")), Clock.YEARLESS)


def _counted(groups: Groups, clock: Clock) -> Instant | None:
    seconds = groups.get("seconds")
    if seconds is None:
        return None
    nanoseconds, resolution = _fraction(groups.get("fraction"))
    return Instant(int(seconds) * _SECOND + nanoseconds, clock, resolution)


def boot(groups: Groups) -> Instant | None:
    """Seconds since the host booted (dmesg)."""
    return _counted(groups, Clock.BOOT)


def unix(groups: Groups) -> Instant | None:
    """Seconds since 1970 (libfabric: whole seconds; absl before its log is set up: with a fraction)."""
    return _counted(groups, Clock.UTC)


_ISO = regex(ISO, re.ASCII)
_UNIX = regex(r"(?P<seconds>[12]\d{9})", re.ASCII)
_MILLISECONDS_SINCE = regex(r"(?P<seconds>[12]\d{9})(?P<fraction>\d{3})", re.ASCII)
_MICROSECONDS = regex(r"(?P<seconds>[0-8]?\d{1,9}?)(?P<fraction>\d{6})", re.ASCII)


def time_of_day(text: str, above: Instant) -> Instant | None:
    """The time of a line that tells no date (`[w3] 10:46:03 step 1007`), by a line `above` it that is dated in local time; None
    where it tells none, or one that is not of the next hours."""
    found = _TIME_OF_DAY.search(text, 0, _BEFORE_MESSAGE) if above.clock is Clock.HOST_LOCAL else None
    since = _clock_ns(found["clock"]) if found else None
    if since is None:
        return None
    later = (since - above.ns // _SECOND * _SECOND) % _DAY
    return replace(above, ns=above.ns // _SECOND * _SECOND + later, uncertainty_ns=_SECOND) if later < _NEXT else None


def read_iso(text: str) -> Instant | None:
    """The instant of a whole RFC 3339 string (Docker's `time`)."""
    match = _ISO.fullmatch(text)
    return None if match is None else calendar(match.groupdict())


def read_day(text: str) -> Instant | None:
    """The end of a day that is written `20261030`, as logrotate adds it to names (`dateext`)."""
    midnight = _day_ns(text[:4], text[4:6], text[6:])
    return None if midnight is None else Instant(midnight + _DAY, Clock.HOST_LOCAL, _DAY)


def read_microseconds(text: str) -> Instant | None:
    """The instant of a decimal number of microseconds since 1970 (journald's `__REALTIME_TIMESTAMP`)."""
    match = _MICROSECONDS.fullmatch(text)
    return None if match is None else unix(match.groupdict())


def read_unix(text: str) -> Instant | None:
    """The instant of a decimal number of whole seconds since 1970 (torchrun's error files)."""
    match = _UNIX.fullmatch(text)
    return None if match is None else unix(match.groupdict())


def read_milliseconds(text: str) -> Instant | None:
    """The instant of a decimal number of milliseconds since 1970 (CloudWatch)."""
    match = _MILLISECONDS_SINCE.fullmatch(text)
    return None if match is None else unix(match.groupdict())
