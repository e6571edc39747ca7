"""How far apart clocks are. Nothing is fitted: the true difference lies in every interval that is given, as long as
every stated order is true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct, field

from neuron_doctor.engine.moments import Track
from neuron_doctor.engine.orders import DRIFT, Component, Hub, Order, anchors_of, limit_of, solved

#: No host has this name; one that is not known is None.
_NO_HOST = ""


class Bounds(NamedTuple):
    """The smallest and largest difference, in nanoseconds; None where nothing bounds it."""

    low: int | None
    high: int | None


_UNKNOWN = Bounds(None, None)


class Offsets(Struct, frozen=True):
    """What orders say of the differences of clocks. `direct`: the shift of the first is at most so much more than that of
    the second, by a single order. `contradictions`: clocks of which not all orders can be true. `anchors`: the readings
    at which the differences hold; away from them clocks drift."""

    components: tuple[Component, ...] = ()
    contradictions: tuple[Component, ...] = ()
    component_of: Mapping[Track, Component] = field(default_factory=dict)
    direct: Mapping[tuple[Track, Track], int] = field(default_factory=dict)
    anchors: Mapping[Track, int] = field(default_factory=dict)
    witnesses: Mapping[Track, frozenset[str]] = field(default_factory=dict)

    def reference(self, track: Track) -> Track:
        """The same clock for all that can be compared with each other; the clock itself where it is alone."""
        one = self.component_of.get(track)
        return track if one is None else one.reference

    def between(self, a: Track, b: Track) -> Bounds:
        """The shift of `b` minus that of `a`."""
        one = self.component_of.get(a)
        if one is None or one is not self.component_of.get(b):
            return _UNKNOWN
        return Bounds(None if (most := self._most(one, a, b)) is None else -most, self._most(one, b, a))

    def _most(self, one: Component, upper: Track, lower: Track) -> int | None:
        """The largest that the shift of `upper` can be more than that of `lower`."""
        above, below, direct = one.above.get(upper), one.below.get(lower), self.direct.get((upper, lower))
        chained = None if above is None or below is None else above + below
        return min((most for most in (chained, direct) if most is not None), default=None)

    def drift(self, track: Track, ns: int) -> int:
        """How far the clock may have drifted between its anchor and this reading."""
        return abs(ns - self.anchors.get(track, ns)) // DRIFT


def estimate(orders: Iterable[Order]) -> Offsets:
    """The bounds that follow from these orders, whatever their order. Where those of one host contradict each other,
    none that touches the host is used; where those between hosts do, none between the hosts that they join. Takes time
    linear in the number of orders, times the length of the chains."""
    stated = tuple(orders)
    anchors = anchors_of(stated)
    homes = solved([order for order in stated if _is_local(order)], anchors)
    wrong = {track.host for one in homes if one.contradictory for track in one.tracks}
    sound = [order for order in stated if not {_host(order.first), _host(order.then)} & wrong]
    whole = solved(sound, anchors)
    torn = {track for one in whole if one.contradictory for track in one.tracks}
    kept = [one for one in whole if not one.contradictory]
    kept += [one for one in homes if not one.contradictory and torn.issuperset(one.tracks)]
    return Offsets(
        components=tuple(kept),
        contradictions=tuple(one for one in (*homes, *whole) if one.contradictory),
        component_of={track: one for one in kept for track in one.tracks},
        direct=_direct(sound, anchors),
        anchors=anchors,
        witnesses=_witnesses(sound),
    )


def _host(node: Track | Hub) -> str | None:
    return node.host if isinstance(node, Track) else _NO_HOST


def _is_local(order: Order) -> bool:
    return isinstance(order.first, Track) and isinstance(order.then, Track) and order.first.host == order.then.host


def _witnesses(orders: Iterable[Order]) -> dict[Track, frozenset[str]]:
    found: dict[Track, set[str]] = defaultdict(set)
    for order in orders:
        for node in (order.first, order.then):
            if isinstance(node, Track):
                found[node].add(order.why)
    return {track: frozenset(names) for track, names in found.items()}


def _direct(orders: Iterable[Order], anchors: Mapping[Track, int]) -> dict[tuple[Track, Track], int]:
    best: dict[tuple[Track, Track], int] = {}
    for order in orders:
        if isinstance(order.first, Track) and isinstance(order.then, Track):
            limit = limit_of(order, anchors)
            best[order.first, order.then] = min(limit, best.get((order.first, order.then), limit))
    return best
