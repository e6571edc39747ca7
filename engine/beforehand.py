"""Which findings of a kernel log are older than the run that the other logs tell of. A kernel log reaches back to the
boot, through the runs of other people; what it says of last week is a risk for this run and not its cause. So are events of
Kubernetes, whose clock is UTC: of what was days before any log of the run began."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import DATED, Clock, Fact, Instant, Source
from neuron_doctor.engine.job_logs import job_logs, system_logs
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.moments import Moment, Track, dated_near
from neuron_doctor.engine.timeline import Timeline

_HOUR = 3600 * 1_000_000_000
#: How much older a record must be; much more where two wall clocks of one host may be in two time zones.
_MARGIN = _HOUR
_MARGIN_OF_WALL_CLOCKS = 26 * _HOUR
#: UTC lies between all zones, of which some are 12 hours behind it and some 14 before.
_MARGIN_OF_UTC = _MARGIN + 14 * _HOUR
#: No two hosts of a job show dates that lie so far apart. (One whose clock was never set shows years.)
_MARGIN_OF_DATES, _UNSET = 14 * 24 * _HOUR, 400 * 24 * _HOUR
#: Dates without a year are of one where nothing tells any; what is farther apart than this may be the other way round.
_YEARLESS, _HALF_A_YEAR = frozenset({Clock.YEARLESS}), 180 * 24 * _HOUR
_EVENT = "k8s-event"
#: So many processes of one log have opened devices of a host where the numbers of that many are the same.
_PROCESSES = 2
_EVER = 1 << 80


class _Starts(Struct, frozen=True):
    """When the run began: on each host (on those that are `opened` the kernel saw it), on the clocks that can be compared with
    one another (by the one that stands for them), and by the dates of all clocks that have some, in their order. Where none tells
    a year, these are `yearless`."""

    on_host: Mapping[str | None, Sequence[Moment]]
    opened: frozenset[str | None]
    comparable: Mapping[Track, Sequence[Moment]]
    dated: Sequence[Moment]
    yearless: bool = False


class Beforehand(Struct, frozen=True):
    """The kernel logs and those of the system that hold what it said, and when on each clock the run began: with the first record
    of its logs, and with the first time that a process of it opened a device. The sources in `set_right` are dated like it at
    some place: their clocks were set."""

    kernel: frozenset[str]
    starts: _Starts
    clocks: Timeline
    set_right: frozenset[str] = frozenset()

    def holds(self, match: Match) -> bool:
        """Whether all of the match is in kernel logs or events, and surely older than the run."""
        if match.facts and all(fact.kind == _EVENT for fact in match.facts):
            return all(map(self._was_days_before, match.facts))
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
        """Whether it is older than the beginnings on its own host; where these do not tell, than those on other hosts, as far
        as their clocks do. A host may have come later than others, of which its kernel knows when it saw the first process; the
        beginning of its log may be that of a tail."""
        moment = self.clocks.moment(fact)
        if moment is None:
            return None
        own = self._told(moment, self.starts.on_host.get(moment.host, ()))
        if False in own:
            return False
        if own == {True} and moment.host is not None and moment.host in self.starts.opened:
            return True
        others = self.starts.comparable.get(self.clocks.offsets.reference(moment.track), ())
        told = self._told(moment, others)
        if False in told:
            return None if own == {True} and moment.host is not None else False
        if None in own:
            return None
        return True if True in told or self._is_dated_before(moment, fact.source) else None

    def _was_days_before(self, fact: Fact) -> bool:
        """Whether something dated was before all logs of the run, in whatever zones these are."""
        instant, starts = fact.instant, self.starts.dated
        if instant is None or instant.clock not in DATED or not starts:
            return False
        return instant.ns + _MARGIN_OF_WALL_CLOCKS < starts[0].instant.ns

    def _told(self, moment: Moment, starts: Iterable[Moment]) -> set[bool | None]:
        """What these beginnings tell that can be compared with the moment: None where it may be older and may not."""
        found = set[bool | None]()
        for start in starts:
            if gap := self.clocks.difference(moment, start):
                margin = _MARGIN if self.clocks.one_zone(moment, start) else _MARGIN_OF_WALL_CLOCKS
                found.add(gap.within(margin + 1, _EVER))
        return found

    def _is_dated_before(self, moment: Moment, source: str) -> bool:
        """Whether it is so by the dates alone of a beginning with which it cannot be compared."""
        if moment.instant.clock not in (_YEARLESS if self.starts.yearless else DATED):
            return False
        apart = _MARGIN_OF_WALL_CLOCKS if source in self.set_right else _MARGIN_OF_DATES
        dated, ns = self.starts.dated, moment.instant.ns
        in_utc = source in self.set_right and moment.instant.clock is Clock.UTC  # as agents of health write it
        if in_utc and dated and ns + _MARGIN_OF_UTC < dated[0].instant.ns:
            return True
        since = range(
            bisect_right(dated, ns + apart, key=_ns),
            bisect_left(dated, ns + (_HALF_A_YEAR if self.starts.yearless else _UNSET), key=_ns),
        )  # most are of another host, and the first one tells
        return any(self.clocks.difference(moment, dated[at]) is None for at in since)


def beforehand(facts: Iterable[Fact], sources: Sequence[Source], clocks: Timeline) -> Beforehand:
    """What these facts and sources tell of the beginning of the run."""
    facts = tuple(facts)
    system = system_logs(sources, facts)
    logs = {source.id for source in job_logs(sources, facts)} - system
    attached = tuple(_opened(facts, logs))
    opened = [moment for fact in attached if (moment := clocks.moment(fact))]
    begun = [moment for s in sources if s.id in logs and (moment := clocks.clocks.beginning(s))]
    starts = _earliest(_in_a_year([*opened, *begun], facts))
    on_host, comparable = defaultdict[str | None, list[Moment]](list), defaultdict[Track, list[Moment]](list)
    for start in starts:
        on_host[start.host].append(start)
        comparable[clocks.offsets.reference(start.track)].append(start)
    told = DATED if any(start.instant.clock in DATED for start in starts) else _YEARLESS
    dated = sorted((start for start in starts if start.instant.clock in told), key=_ns)
    ran = [start.instant for start in starts] + [s.last for s in sources if s.id in logs and s.last]
    seen = frozenset(fact.place.host for fact in attached)
    begun_on = _Starts(on_host, seen, comparable, dated, yearless=told is _YEARLESS)
    return Beforehand(system, begun_on, clocks, _set_right(facts, sources, ran))


def _in_a_year(moments: Iterable[Moment], facts: Iterable[Fact]) -> Iterator[Moment]:
    """The same; those without a year in the one that is nearest to what is dated, as their facts are."""
    dates = sorted(f.instant.ns for f in facts if f.instant and f.instant.clock in DATED)
    for moment in moments:
        yearless = moment.instant.clock is Clock.YEARLESS and dates
        yield replace(moment, instant=dated_near(moment.instant, dates[len(dates) // 2])) if yearless else moment


def _ns(moment: Moment) -> int:
    return moment.instant.ns


def _set_right(facts: Sequence[Fact], sources: Iterable[Source], ran: Iterable[Instant]) -> frozenset[str]:
    """The sources in which something is dated like the run, as far as time zones allow; of several instances each had a clock of
    its own."""
    ran = list(ran)
    told = DATED if any(instant.clock in DATED for instant in ran) else _YEARLESS
    dates = [instant.ns for instant in ran if instant.clock in told]
    if not dates:
        return frozenset()
    first, last = min(dates), max(dates)
    instances: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        instances[fact.source] |= {fact.place.instance_id} if fact.place.instance_id else set()
    shown = [(fact.source, fact.instant) for fact in facts]
    shown += [(source.id, instant) for source in sources for instant in (source.first, source.last)]
    return frozenset(
        source
        for source, instant in shown
        if instant and len(instances[source]) <= 1 and _is_within(instant, first, last, told)
    )


def _is_within(instant: Instant, first: int, last: int, told: Collection[Clock]) -> bool:
    if instant.clock is Clock.YEARLESS and Clock.YEARLESS not in told:
        instant = dated_near(instant, first)
    return instant.clock in told and first - _MARGIN_OF_WALL_CLOCKS <= instant.ns <= last + _MARGIN_OF_WALL_CLOCKS


def _opened(facts: Sequence[Fact], logs: Collection[str]) -> Iterator[Fact]:
    """When processes of these logs opened devices. Those of a log that names no host are known by several numbers that are the
    same: one alone may be that of anybody, or of a process in a container."""
    processes = {
        (fact.place.host, fact.place.pid) for fact in facts if fact.source in logs and fact.place.pid is not None
    }
    attached = [fact for fact in facts if fact.kind == "attach"]
    anywhere: dict[str | None, set[int]] = defaultdict(set)
    for fact in attached:
        if (None, fact.place.pid) in processes and fact.place.pid is not None:
            anywhere[fact.place.host].add(fact.place.pid)
    for fact in attached:
        at, pid = fact.place.host, fact.place.pid
        if (at, pid) in processes or (len(anywhere[at]) >= _PROCESSES and pid in anywhere[at]):
            yield fact


def _earliest(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    """The first moment on each clock of each host."""
    first: dict[Track, Moment] = {}
    for moment in moments:
        if moment.track not in first or moment.instant.ns < first[moment.track].instant.ns:
            first[moment.track] = moment
    return tuple(first.values())
