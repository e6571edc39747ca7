"""Which findings of a kernel log are older than the run that the other logs tell of. A kernel log reaches back to the
boot, through the runs of other people; what it says of last week is a risk for this run and not its cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neuron_doctor.engine.facts import Clock, Fact, Source
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.moments import Moment, difference_ns, moment_of

_HOUR = 3600 * 1_000_000_000
#: How much older a record must be. Wall clocks of one host may be in two time zones; the boot clock is one.
_MARGIN = {Clock.BOOT: _HOUR}
_MARGIN_OF_WALL_CLOCKS = 26 * _HOUR


@dataclass(frozen=True, slots=True)
class Beforehand:
    """The kernel logs, and when on each host's clocks the run began: with the first record of its logs, and with the
    first time that a process of it opened a device."""

    kernel: frozenset[str]
    starts: tuple[Moment, ...]

    def holds(self, match: Match) -> bool:
        """Whether all of the match is in kernel logs, and older than the run on a clock that both have."""
        return bool(match.facts) and all(fact.source in self.kernel and self._older(fact) for fact in match.facts)

    def _older(self, fact: Fact) -> bool:
        moment = moment_of(fact)
        if moment is None:
            return False
        gaps = [gap for start in self.starts if (gap := difference_ns(moment, start)) is not None]
        return bool(gaps) and min(gaps) > _MARGIN.get(moment.instant.clock, _MARGIN_OF_WALL_CLOCKS)


def beforehand(facts: Iterable[Fact], sources: Sequence[Source]) -> Beforehand:
    """What these facts and sources tell of the beginning of the run."""
    facts = tuple(facts)
    kernel = frozenset(source.id for source in sources if source.kind == "kernel")
    logs = {source.id for source in sources if source.kind == "log"}
    processes = {
        (fact.place.host, fact.place.pid) for fact in facts if fact.source in logs and fact.place.pid is not None
    }
    opened = [
        moment
        for fact in facts
        if fact.kind == "attach" and (fact.place.host, fact.place.pid) in processes and (moment := moment_of(fact))
    ]
    begun = [Moment(s.first, s.place.host) for s in sources if s.id in logs and s.first]
    return Beforehand(kernel, _earliest([*opened, *begun]))


def _earliest(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """The first moment on each clock of each host."""
    first: dict[tuple[str | None, Clock], Moment] = {}
    for moment in moments:
        key = (moment.host, moment.instant.clock)
        if key not in first or moment.instant.ns < first[key].instant.ns:
            first[key] = moment
    return tuple(first.values())
