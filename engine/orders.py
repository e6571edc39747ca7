"""Orders of events on several clocks, and what follows from them for the shifts of the clocks: difference constraints,
solved by shortest paths from one clock of each component.

A clock that shows `r` means the true time `r + x`, `x` being its shift. That one event came no later than another bounds
the difference of two shifts; a chain of such bounds bounds that of any two clocks that it joins.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from neuron_doctor.engine.facts import Clock
from neuron_doctor.engine.moments import Track

#: What two clocks may drift apart, relative to the time that passes: one part in so many (200 ppm).
DRIFT = 5000
#: Chains that do not settle in so many rounds hold a contradiction (or are longer than any job's).
_ROUNDS = 256


class Hub(NamedTuple):
    """An event that no clock dates and that orders others: the moment when the last member had joined a collective."""

    name: tuple[object, ...]


class Order(NamedTuple):
    """The event at `first_ns` of one clock came at most `slack_ns` later than that at `then_ns` of another; `why` names
    the witness. `rigid`: the two show one and the same clock, which does not drift against itself, in two zones; then
    the readings are no events."""

    first: Track | Hub
    first_ns: int
    then: Track | Hub
    then_ns: int
    slack_ns: int
    why: str
    rigid: bool = False


Node = Track | Hub
_Edge = tuple[Node, Node, int]


class Component(Struct, frozen=True):
    """Clocks that orders join, directly or not. The shift of a clock is at most `above` more, and at most `below` less,
    than that of the reference."""

    tracks: tuple[Track, ...]
    reference: Track
    contradictory: bool = False
    above: Mapping[Track, int] = field(default_factory=dict)
    below: Mapping[Track, int] = field(default_factory=dict)


def anchors_of(orders: Iterable[Order]) -> dict[Track, int]:
    """The last reading of each clock that any order is about: of interest is how a run ends."""
    anchors: dict[Track, int] = {}
    for order in orders:
        for node, ns in ((order.first, order.first_ns), (order.then, order.then_ns)):
            if isinstance(node, Track) and not order.rigid and ns > anchors.get(node, ns - 1):
                anchors[node] = ns
    return anchors


def limit_of(order: Order, anchors: Mapping[Track, int]) -> int:
    """The most that the shift of the first clock can be more than that of the other, at their anchors."""
    drift = sum(
        abs(ns - anchors[node]) // DRIFT
        for node, ns in ((order.first, order.first_ns), (order.then, order.then_ns))
        if isinstance(node, Track) and not order.rigid
    )
    return order.then_ns - order.first_ns + order.slack_ns + drift


def solved(orders: Sequence[Order], anchors: Mapping[Track, int]) -> list[Component]:
    """The components that these orders join, in a canonical order."""
    limits: dict[tuple[Node, Node], int] = {}
    for order in orders:
        limit = limit_of(order, anchors)
        limits[order.first, order.then] = min(limit, limits.get((order.first, order.then), limit))
    neighbours: dict[Node, list[Node]] = defaultdict(list)
    for first, then in limits:
        neighbours[first].append(then)
        neighbours[then].append(first)
    of_node: dict[Node, int] = {}
    for node in neighbours:
        _spread(node, neighbours, of_node)
    edges: dict[int, list[_Edge]] = defaultdict(list)
    for (first, then), limit in limits.items():
        edges[of_node[first]].append((first, then, limit))
    dated = [
        joined for joined in edges.values() if any(isinstance(node, Track) for edge in joined for node in edge[:2])
    ]
    return sorted(map(_component, dated), key=lambda one: _sortable(one.reference))


def _spread(start: Node, neighbours: Mapping[Node, Sequence[Node]], of_node: dict[Node, int]) -> None:
    """Number the component of `start`, unless it is numbered."""
    number, stack = len(of_node), [start]
    while stack:
        node = stack.pop()
        if node not in of_node:
            of_node[node] = number
            stack.extend(neighbours[node])


def _component(edges: Sequence[_Edge]) -> Component:
    degree = Counter(node for first, then, _ in edges for node in (first, then) if isinstance(node, Track))
    tracks = tuple(sorted(degree, key=_sortable))
    reference = min(tracks, key=lambda track: (-degree[track], _sortable(track)))
    if not _relaxed({node: 0 for first, then, _ in edges for node in (first, then)}, edges):
        return Component(tracks, reference, contradictory=True)
    above: dict[Node, int] = {reference: 0}
    below: dict[Node, int] = {reference: 0}
    _relaxed(above, edges)
    _relaxed(below, [(then, first, limit) for first, then, limit in edges])
    return Component(
        tracks,
        reference,
        above={track: above[track] for track in tracks if track in above},
        below={track: below[track] for track in tracks if track in below},
    )


def _relaxed(most: dict[Node, int], edges: Sequence[_Edge]) -> bool:
    """Lower the values to what the edges allow (Bellman and Ford); False where they go round in a circle. Each value is
    the length of a chain at all times, hence a bound."""
    behind: dict[Node, Node] = {}
    for _ in range(_ROUNDS):
        settled = True
        for upper, lower, limit in edges:
            base = most.get(lower)
            if base is not None and base + limit < most.get(upper, base + limit + 1):
                most[upper] = base + limit
                behind[upper] = lower
                settled = False
        if settled:
            return True
        if _circular(behind):
            return False
    return False


def _circular(behind: Mapping[Node, Node]) -> bool:
    """Whether a node stands behind itself."""
    seen: dict[Node, Node] = {}
    for start in behind:
        node: Node | None = start
        while node is not None and node not in seen:
            seen[node] = start
            node = behind.get(node)
        if node is not None and seen[node] == start:
            return True
    return False


def _sortable(track: Track) -> tuple[int, bool, str, str]:
    return list(Clock).index(track.clock), track.host is None, track.host or "", track.part
