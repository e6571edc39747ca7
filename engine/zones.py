"""The wall clocks of one host: one clock, shown in one zone or several. Zones differ by whole quarters of an hour, so a
rough bound of their difference can prove it exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from neuron_doctor.engine.facts import DATED, Clock
from neuron_doctor.engine.moments import Track
from neuron_doctor.engine.offsets import Offsets
from neuron_doctor.engine.orders import Order

_MINUTE = 60 * 1_000_000_000
#: Zones differ by multiples of this.
STEP_NS = 15 * _MINUTE
#: The zones of the world: twelve hours west to fourteen hours east.
_WEST, _EAST = 12 * 60 * _MINUTE, 14 * 60 * _MINUTE
#: The zones that are no whole hours from UTC, in minutes: Marquesas, Newfoundland; Iran, Afghanistan, India, Nepal, Myanmar,
#: Eucla, the middle of Australia, and the Chatham Islands.
_BROKEN = (-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765, 825)
ZONE = "zone"
_PARTS = frozenset({"", "kernel"})

Pair = tuple[Track, Track]


def wall_clocks(tracks: Iterable[Track]) -> list[Pair]:
    """The pairs of wall clocks that are of one host: UTC first, that of its programs before that of its kernel log."""
    by_host: dict[str | None, set[Track]] = defaultdict(set)
    for track in tracks:
        known = track.clock is Clock.UTC and track.host is not None
        if known or (track.clock is Clock.HOST_LOCAL and track.part in _PARTS):
            by_host[track.host].add(track)
    hosts = sorted(by_host, key=lambda host: (host is None, host or ""))
    return [pair for host in hosts for pair in combinations(sorted(by_host[host], key=_order), 2)]


def are_one_clock(a: Track, b: Track) -> bool:
    """Whether two tracks show the wall clock of one host, which does not drift against itself."""
    return a.host == b.host is not None and {a.clock, b.clock} <= DATED


def _order(track: Track) -> tuple[bool, str]:
    return track.clock is not Clock.UTC, track.part


def zones_between(low: int, high: int) -> list[int]:
    """By how many nanoseconds the zones that are in use are ahead of UTC, of those that are so by `low` to `high`."""
    whole = range(-_WEST, _EAST + 1, 60 * _MINUTE)
    return sorted(ahead for ahead in (*whole, *(minutes * _MINUTE for minutes in _BROKEN)) if low <= ahead <= high)


def zone_limits(pairs: Iterable[Pair]) -> Iterator[Order]:
    """What is sure of any two wall clocks of one host."""
    for a, b in pairs:
        if a.clock is Clock.UTC:
            yield Order(b, 0, a, 0, _WEST, ZONE, rigid=True)  # the shift of a zone in the west is positive
            yield Order(a, 0, b, 0, _EAST, ZONE, rigid=True)
        else:
            yield Order(b, 0, a, 0, _WEST + _EAST, ZONE, rigid=True)
            yield Order(a, 0, b, 0, _WEST + _EAST, ZONE, rigid=True)


def proven_zones(offsets: Offsets, pairs: Iterable[Pair]) -> Iterator[Order]:
    """The exact differences that only one pair of zones allows."""
    for a, b in pairs:
        possible = _differences(offsets, a, b)
        if len(possible) == 1:
            yield from _exactly(a, b, possible[0])


def assumed_zones(offsets: Offsets, pairs: Sequence[Pair]) -> tuple[list[Order], frozenset[Track]]:
    """Where nothing speaks against it, a kernel log has the zone of its host's programs: that it has, as orders, and the
    kernel logs of which it is not proven."""
    unproven = [
        (a, b)
        for a, b in pairs
        if a.clock is b.clock and 0 in (possible := _differences(offsets, a, b)) and len(possible) > 1
    ]
    orders = [order for a, b in unproven for order in _exactly(a, b, 0)]
    return orders, frozenset(b for _, b in unproven)


def _differences(offsets: Offsets, a: Track, b: Track) -> list[int]:
    low, high = offsets.between(a, b)
    if low is None or high is None:
        return []
    return list(range(-(-low // STEP_NS) * STEP_NS, high + 1, STEP_NS))


def _exactly(a: Track, b: Track, shift: int) -> Iterator[Order]:
    yield Order(b, 0, a, 0, shift, ZONE, rigid=True)
    yield Order(a, 0, b, 0, -shift, ZONE, rigid=True)
