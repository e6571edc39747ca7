"""Which findings of a kernel log are older than the run that the other logs tell of. A kernel log reaches back to the
boot, through the runs of other people; what it says of last week is a risk for this run and not its cause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.job_logs import job_logs
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.moments import Moment, Track
from neuron_doctor.engine.timeline import Timeline

_HOUR = 3600 * 1_000_000_000
#: How much older a record must be; much more where two wall clocks of one host may be in two time zones.
_MARGIN = _HOUR
_MARGIN_OF_WALL_CLOCKS = 26 * _HOUR
_EVER = 1 << 80


class Beforehand(Struct, frozen=True):
    """The kernel logs, and when on each clock the run began: with the first record of its logs, and with the first time
    that a process of it opened a device."""

    kernel: frozenset[str]
    starts: tuple[Moment, ...]
    clocks: Timeline

    def holds(self, match: Match) -> bool:
        """Whether all of the match is in kernel logs, and surely older than the run."""
        return self._is_of_kernel(match) and all(self._older(fact) is True for fact in match.facts)

    def may_hold(self, match: Match, devices: Collection[tuple[str | None, int]]) -> bool:
        """Whether all of the match is in kernel logs, nothing tells that any of it is of the run, and it is about none of
        these devices of hosts."""
        if not self._is_of_kernel(match) or {(host, match.place.device) for host in match.hosts} & set(devices):
            return False
        return all(self._older(fact) is None for fact in match.facts)

    def _is_of_kernel(self, match: Match) -> bool:
        return bool(match.facts) and all(fact.source in self.kernel for fact in match.facts)

    def _older(self, fact: Fact) -> bool | None:
        """Whether it is older than all beginnings on its host, and on other hosts as far as their clocks tell."""
        moment = self.clocks.moment(fact)
        told = [self._before(moment, start) for start in self.starts] if moment else []
        if False in told:
            return False
        unsure = any(
            older is None and moment and start.host == moment.host and self.clocks.difference(moment, start)
            for older, start in zip(told, self.starts, strict=False)
        )
        return True if True in told and not unsure else None

    def _before(self, moment: Moment, start: Moment) -> bool | None:
        gap = self.clocks.difference(moment, start)
        margin = _MARGIN if self.clocks.one_zone(moment, start) else _MARGIN_OF_WALL_CLOCKS
        return gap.within(margin + 1, _EVER) if gap else None


def beforehand(facts: Iterable[Fact], sources: Sequence[Source], clocks: Timeline) -> Beforehand:
    """What these facts and sources tell of the beginning of the run."""
    facts = tuple(facts)
    logs = {source.id for source in job_logs(sources, facts)}
    processes = {
        (fact.place.host, fact.place.pid) for fact in facts if fact.source in logs and fact.place.pid is not None
    }
    opened = [
        moment
        for fact in facts
        if fact.kind == "attach" and (fact.place.host, fact.place.pid) in processes and (moment := clocks.moment(fact))
    ]
    begun = [moment for s in sources if s.id in logs and (moment := clocks.clocks.beginning(s))]
    return Beforehand(clocks.clocks.kernel, _earliest([*opened, *begun]), clocks)


def _earliest(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """The first moment on each clock of each host."""
    first: dict[Track, Moment] = {}
    for moment in moments:
        if moment.track not in first or moment.instant.ns < first[moment.track].instant.ns:
            first[moment.track] = moment
    return tuple(first.values())
