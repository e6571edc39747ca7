"""The edges of the causal graph, before they are chosen: what a link is, when its ends began, how strong a cause is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from msgspec import Struct

from neuron_doctor.engine.facts import SETTINGS, Fact, Instant
from neuron_doctor.engine.grades import EdgeType
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.moments import Track
from neuron_doctor.engine.offsets import Bounds
from neuron_doctor.engine.rulebook import Tie
from neuron_doctor.engine.timeline import Timeline

#: The effect's own rule says that it follows others; both are of one process; they are of one device, host, group or job.
OWN, NEAR, WIDE = 0, 1, 2
#: Matches with more pairs of clocks than this are not compared across clocks.
_MOST_PAIRS = 4096
#: Whose faults are seen from afar: the waiting of others tells of them.
_ELSEWHERE = frozenset({"peer", "network", "none"})


class Link(Struct, frozen=True):
    """Match number `effect` is a consequence of match number `cause`; not `sure` where the places are not precise. Of links
    that contradict each other, one that is OWN stays, and rather one that is NEAR than one that is WIDE (`distance`)."""

    effect: int
    cause: int
    type: EdgeType
    why: str
    sure: bool
    distance: int


class Times:
    """When each match began, by number."""

    def __init__(self, matches: Iterable[Match], clocks: Timeline) -> None:
        self._clocks = clocks
        self._firsts = [_firsts(match.facts, clocks) for match in matches]
        #: The clocks for all that can be compared with those of a match.
        self._references = [frozenset(map(clocks.offsets.reference, firsts)) for firsts in self._firsts]
        self._bounds: dict[tuple[Track, Track], Bounds | None] = {}

    def in_time(self, effect: int, cause: int, tie: Tie) -> bool | None:
        """Whether the cause began within the lag that its rule allows before the effect; None where clocks do not say, or
        one says no and another cannot. What one clock saw of both counts; several clocks only where none saw both."""
        if self._references[effect].isdisjoint(self._references[cause]):
            return None
        known, unknown = False, False
        for (one, first), (other, then) in _pairs(self._firsts[cause], self._firsts[effect]):
            bounds = self._between(one, other)
            if bounds is None:
                continue
            gap = self._clocks.gap(one, first, other, then, bounds)
            timely = gap.within(-tie.lead_ns, tie.within_ns)
            if timely:
                return True
            known, unknown = True, unknown or timely is None
        return False if known and not unknown else None

    def _between(self, one: Track, other: Track) -> Bounds | None:
        pair = one, other
        if pair not in self._bounds:
            self._bounds[pair] = self._clocks.bounds(one, other)
        return self._bounds[pair]


#: The first instant of a match on one clock.
_First = tuple[Track, Instant]


def _pairs(before: Mapping[Track, Instant], after: Mapping[Track, Instant]) -> Iterable[tuple[_First, _First]]:
    """The pairs that are of one clock; all pairs, if they are not too many, where there is none."""
    of_one_clock = [((track, first), (track, after[track])) for track, first in before.items() if track in after]
    return of_one_clock or (product(before.items(), after.items()) if len(before) * len(after) <= _MOST_PAIRS else ())


def _firsts(facts: Iterable[Fact], clocks: Timeline) -> dict[Track, Instant]:
    """The first instant on each clock of what happened; of how things are, which may have been said long before or in an earlier
    run, only where that is all."""
    facts = tuple(facts)
    events = [fact for fact in facts if fact.kind not in SETTINGS and fact.instant]
    firsts: dict[Track, Instant] = {}
    for fact in events or facts:
        if moment := clocks.moment(fact):
            track = moment.track
            if track not in firsts or moment.instant.ns < firsts[track].ns:
                firsts[track] = moment.instant
    return firsts


def strength(cause: Match) -> tuple[bool, bool, float]:
    """Strongest first: evidence of its own before fan-out, local faults before those that lie with a peer, the surest."""
    rule = cause.rule
    return rule.role != "root", rule.cause.by in _ELSEWHERE, -rule.confidence
