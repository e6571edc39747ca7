"""When instants can be compared, and what the years of year-less clocks are. An order that the clocks do not support
is None, never a guess."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import DATED, Clock, Fact, Instant
from neuron_doctor.engine.wallclock import date_of, ns_of


class Track(NamedTuple):
    """One clock: whose it is and which of its host's; `part` is the source of a counter that is the source's own, and
    `kernel` for the kernel log's idea of the wall clock, whose zone may be another than that of the programs."""

    host: str | None
    clock: Clock
    part: str = ""


class Moment(Struct, frozen=True):
    """An instant and the clock that gave it: that of a host (None where unknown)."""

    instant: Instant
    host: str | None
    part: str = ""

    @property
    def track(self) -> Track:
        """The clock."""
        return Track(self.host, self.instant.clock, self.part)


def difference_ns(a: Moment, b: Moment) -> int | None:
    """`b` minus `a` in nanoseconds, where one clock on one host gave both; else None."""
    if a.instant.clock is not b.instant.clock or a.host != b.host:
        return None
    return b.instant.ns - a.instant.ns


def moment_of(fact: Fact) -> Moment | None:
    """When a fact was, by its host's clock."""
    return Moment(fact.instant, fact.place.host) if fact.instant else None


def with_years(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Gives year-less instants the year in which they fall nearest to the dated facts of the whole collection."""
    facts = tuple(facts)
    dated = [f.instant.ns for f in facts if f.instant and f.instant.clock in DATED]
    if not dated:
        return facts
    middle = sorted(dated)[len(dated) // 2]
    return tuple(
        replace(f, instant=dated_near(f.instant, middle)) if f.instant and f.instant.clock is Clock.YEARLESS else f
        for f in facts
    )


def dated_near(instant: Instant, near_ns: int) -> Instant:
    """A year-less instant in the year in which it falls nearest to a dated one."""
    stamp, year = date_of(instant.ns), date_of(near_ns).year
    candidates = [_in_year(stamp, y) for y in (year - 1, year, year + 1)]
    best = min(candidates, key=lambda ns: abs(ns - near_ns))
    return Instant(best + instant.ns % 1000, Clock.HOST_LOCAL, instant.uncertainty_ns)


def last_before(instant: Instant, end: Instant | None) -> Instant:
    """A year-less instant in the last year in which it is before a dated one; as it is where that is not known."""
    if end is None:
        return instant
    stamp, year = date_of(instant.ns), date_of(end.ns).year
    best = max(ns for ns in (_in_year(stamp, year - 1), _in_year(stamp, year)) if ns <= end.ns)
    return Instant(best + instant.ns % 1000, Clock.HOST_LOCAL, instant.uncertainty_ns)


def _in_year(stamp: datetime, year: int) -> int:
    day = 28 if (stamp.month, stamp.day) == (2, 29) and not _leap(year) else stamp.day
    return ns_of(stamp.replace(year=year, day=day))


def _leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
