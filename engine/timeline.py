"""When things happened, over all clocks: the gap between two moments, as far as the evidence bounds it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from neuron_doctor.engine.clock_ties import clock_ties
from neuron_doctor.engine.clocks import Clocks, clocks_of
from neuron_doctor.engine.facts import Fact, Instant, Source
from neuron_doctor.engine.meetings import orders_of_meetings
from neuron_doctor.engine.moments import Moment, Track
from neuron_doctor.engine.offsets import Bounds, Offsets, estimate
from neuron_doctor.engine.orders import Order
from neuron_doctor.engine.process_lives import orders_of_processes
from neuron_doctor.engine.zones import are_one_clock, assumed_zones, proven_zones, wall_clocks, zone_limits

#: Larger than any difference of instants.
_FOREVER = 1 << 70
_SAME = Bounds(0, 0)


class Gap(NamedTuple):
    """The smallest and the largest time, in nanoseconds, that can lie between two moments."""

    low: int
    high: int

    def within(self, low: int, high: int) -> bool | None:
        """Whether it is from `low` to `high`; None where it may be and may not be."""
        if self.high < low or self.low > high:
            return False
        return True if low <= self.low and self.high <= high else None


class Timeline(Struct, frozen=True):
    """The clocks of a collection and what is known of their differences. `assumed`: wall clocks of kernel logs that are
    taken for those of their host's programs, though nothing proves that both show one zone."""

    clocks: Clocks = field(default_factory=Clocks)
    offsets: Offsets = field(default_factory=Offsets)
    assumed: frozenset[Track] = frozenset()

    def moment(self, fact: Fact) -> Moment | None:
        """When a fact was, by the clock that gave it."""
        return self.clocks.moment(fact)

    def difference(self, a: Moment, b: Moment) -> Gap | None:
        """How much later `b` was than `a`; None where nothing bounds it."""
        bounds = self.bounds(a.track, b.track)
        return self.gap(a.track, a.instant, b.track, b.instant, bounds) if bounds else None

    def bounds(self, one: Track, other: Track) -> Bounds | None:
        """How far apart two clocks are, as far as anything is known of it."""
        if one == other:
            return _SAME
        bounds = self.offsets.between(one, other)
        return None if bounds.low is None and bounds.high is None else bounds

    def gap(self, one: Track, a: Instant, other: Track, b: Instant, bounds: Bounds) -> Gap:
        """How much later `b` was, by a clock `other`, than `a` by a clock `one`, which are so far apart."""
        gap = b.ns - a.ns
        error = a.uncertainty_ns + b.uncertainty_ns
        if one != other and not are_one_clock(one, other):
            error += self.offsets.drift(one, a.ns) + self.offsets.drift(other, b.ns)
        low, high = bounds
        return Gap(
            -_FOREVER if low is None else gap + low - error,
            _FOREVER if high is None else gap + high + error,
        )

    def one_zone(self, a: Moment, b: Moment) -> bool:
        """Whether the difference does not rest on an assumed zone."""
        return a.track == b.track or not {a.track, b.track} & self.assumed


def uncontradicted(ties: Sequence[Order], orders: Sequence[Order]) -> Sequence[Order]:
    """The ties of the hosts of which nothing speaks against them."""
    torn = {track.host for one in estimate([*orders, *ties]).contradictions for track in one.tracks} if ties else set()
    return [tie for tie in ties if isinstance(tie.first, Track) and tie.first.host not in torn]


def timeline(facts: Sequence[Fact], sources: Iterable[Source]) -> Timeline:
    """The clocks of these facts and sources, and how far apart they are."""
    sources = tuple(sources)
    clocks = clocks_of(sources, facts)
    moments = [clocks.moment(fact) for fact in facts] + [clocks.beginning(source) for source in sources]
    tracks = {moment.track for moment in moments if moment}
    ties = clock_ties(facts, clocks, tracks)
    walls = wall_clocks(tracks | {tie.then for tie in ties if isinstance(tie.then, Track)})
    logs = {source.id for source in sources if source.kind == "log"}
    orders = [*orders_of_meetings(facts), *orders_of_processes(facts, clocks, logs), *zone_limits(walls)]
    orders += uncontradicted(ties, orders)
    offsets = estimate(orders)
    orders += (proven := list(proven_zones(offsets, walls)))
    offsets = estimate(orders) if proven else offsets
    equal, assumed = assumed_zones(offsets, walls)
    return Timeline(clocks, estimate([*orders, *equal]) if equal else offsets, assumed)
