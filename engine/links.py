"""The edges of the causal graph, before they are chosen: what a link is, when its ends began, how strong a cause is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from msgspec import Struct

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.grades import EdgeType
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.moments import Moment, Track
from neuron_doctor.engine.rulebook import Explains
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


class Times(Struct, frozen=True):
    """When each match began, by number: its first moment on each clock."""

    clocks: Timeline
    firsts: Sequence[Mapping[Track, Moment]]

    def in_time(self, effect: int, cause: int, explains: Explains) -> bool | None:
        """Whether the cause began within the lag that its rule allows before the effect; None where clocks do not say, or
        one says no and another cannot. What one clock saw of both counts; several clocks only where none saw both."""
        before, after = self.firsts[cause], self.firsts[effect]
        both = before.keys() & after.keys()
        pairs: Iterable[tuple[Moment, Moment]] = ((before[track], after[track]) for track in both)
        if not both and len(before) * len(after) <= _MOST_PAIRS:
            pairs = product(before.values(), after.values())
        known, unknown = False, False
        for first, then in pairs:
            gap = self.clocks.difference(first, then)
            if gap is None:
                continue
            timely = gap.within(-explains.lead_ns, explains.within_ns)
            if timely:
                return True
            known, unknown = True, unknown or timely is None
        return False if known and not unknown else None


def times_of(matches: Iterable[Match], clocks: Timeline) -> Times:
    """When each of the matches began."""
    return Times(clocks, [_firsts(match.facts, clocks) for match in matches])


def _firsts(facts: Iterable[Fact], clocks: Timeline) -> dict[Track, Moment]:
    firsts: dict[Track, Moment] = {}
    for fact in facts:
        moment = clocks.moment(fact)
        if moment and (moment.track not in firsts or moment.instant.ns < firsts[moment.track].instant.ns):
            firsts[moment.track] = moment
    return firsts


def strength(cause: Match) -> tuple[bool, bool, float]:
    """Strongest first: evidence of its own before fan-out, local faults before those that lie with a peer, the surest."""
    rule = cause.rule
    return rule.role != "root", rule.cause.by in _ELSEWHERE, -rule.confidence
