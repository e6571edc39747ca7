"""Where a host says itself how two of its clocks stand to each other: its kernel prints the wall clock, in UTC, beside the
seconds since boot (the Neuron driver when it is loaded, the clock chip at boot, the audit), or its shell shows the time in UTC.

Such words are believed as long as nothing contradicts them. The counter of seconds begins anew with each boot: where
several logs of one host count, each of them must say the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from neuron_doctor.engine.clocks import Clocks
from neuron_doctor.engine.facts import Clock, Fact
from neuron_doctor.engine.moments import Moment, Track
from neuron_doctor.engine.orders import Order
from neuron_doctor.engine.wallclock import ns_of
from neuron_doctor.engine.zones import ZONE

#: The clock may be set right by so much while the host runs, and a line may reach the log so much later.
_SLACK_NS = 60 * 1_000_000_000
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_FRACTION = 6


def clock_ties(facts: Sequence[Fact], clocks: Clocks, tracks: Collection[Track]) -> list[Order]:
    """The orders that follow, between the clocks of one host each; `tracks` are all clocks that show anything."""
    return [*_of_kernels(facts, clocks), *_of_shells(facts, tracks)]


def _of_kernels(facts: Iterable[Fact], clocks: Clocks) -> Iterator[Order]:
    told: dict[Track, dict[str, list[tuple[Moment, int]]]] = defaultdict(lambda: defaultdict(list))
    counting: dict[Track, set[str]] = defaultdict(set)
    for fact in facts:
        moment = clocks.moment(fact)
        if moment and moment.host and moment.instant.clock is Clock.BOOT:
            counting[moment.track].add(fact.source)
            if fact.kind == "clock-tie" and (utc := _utc_ns(fact)) is not None:
                told[moment.track][fact.source].append((moment, utc))
    for track, by_source in told.items():
        found = [tie for ties in by_source.values() for tie in ties]
        shifts = [utc - moment.instant.ns for moment, utc in found]
        if by_source.keys() == counting[track] and max(shifts) - min(shifts) <= 2 * _SLACK_NS:
            for moment, utc in found:
                yield from _equal(track, moment.instant.ns, Track(track.host, Clock.UTC), utc)


def _equal(one: Track, ns: int, other: Track, then_ns: int) -> Iterator[Order]:
    yield Order(one, ns, other, then_ns, _SLACK_NS, "wall clock in the kernel log")
    yield Order(other, then_ns, one, ns, _SLACK_NS, "wall clock in the kernel log")


def _of_shells(facts: Iterable[Fact], tracks: Collection[Track]) -> Iterator[Order]:
    hosts = {fact.place.host for fact in facts if fact.kind == "utc-host"} - {None}
    for track in sorted(tracks, key=str):
        if track.host in hosts and track.clock is Clock.HOST_LOCAL:
            utc = Track(track.host, Clock.UTC)
            yield Order(track, 0, utc, 0, 0, ZONE, rigid=True)
            yield Order(utc, 0, track, 0, 0, ZONE, rigid=True)


def _utc_ns(fact: Fact) -> int | None:
    """The wall clock that the record shows: seconds since 1970, or `2026-aug-30 04:36:58.220114`."""
    epoch, wall = fact.data.get("epoch"), fact.data.get("wall")
    if isinstance(epoch, float):
        return round(epoch * 1e9)
    date, _, time = str(wall).partition(" ")
    year, month, day = date.split("-")
    whole, _, fraction = time.partition(".")
    try:
        hours, minutes, seconds = (int(part) for part in whole.split(":"))
        number = _MONTHS.index(month) + 1
        micro = int(fraction[:_FRACTION].ljust(_FRACTION, "0"))
        return ns_of(datetime(int(year), number, int(day), hours, minutes, seconds, micro, UTC))
    except ValueError:
        return None
