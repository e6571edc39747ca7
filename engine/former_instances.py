"""Instances on which a job has not run: they had the name of one of its nodes before it began, and are gone. ParallelCluster
gives the name of a node to the next instance when one fails, and exports of CloudWatch Logs hold the streams of both.

Such an instance is known by its id. It is gone where the daemon of the cluster says that it terminates it, or gives its node to
another one, or where the log of another one, of a host of that name, begins when its own has ended; and all of that so long
before the first log of the job that no time zone can be behind it. That its log is only silent since says nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import DATED, Clock, Fact, Instant, Problem, Source
from neuron_doctor.engine.last_words import OF_RUNS
from neuron_doctor.engine.moments import dated_near

_HOUR = 3600 * 1_000_000_000
#: What two clocks in UTC show of one moment differs by less; what two in unknown zones show, by no more than this.
_APART, _ZONES = _HOUR, 26 * _HOUR
_SEVERAL = 2
LEFT_OUT = "it is of an instance that was gone before the job began, and its records were left out"


class _Log(Struct, frozen=True):
    """What a source has of one instance: the names of its host, and the time that it covers; `whole`: it has nothing else."""

    id: str
    instance: str
    whole: bool
    hosts: frozenset[str]
    first: Instant
    last: Instant


class _Changes(Struct, frozen=True):
    """What the daemon of a cluster says: when it terminated instances, and when it gave nodes to which."""

    ended: Mapping[str, Sequence[Instant]]
    given: Sequence[tuple[str, str, Instant]]


def without_former_instances(
    sources: Sequence[Source], facts: Sequence[Fact]
) -> tuple[tuple[Source, ...], Sequence[Fact]]:
    """The sources, those of former instances with a problem that says so, and these facts without what is of them."""
    changes = _changes(facts)
    if not changes.ended and not changes.given and len({s.place.instance_id for s in sources} - {None}) < _SEVERAL:
        return tuple(sources), facts
    begun = _begun(sources, facts)
    logs = [log for log in _logs(sources, facts) if begun and log.id not in begun]
    heirs: dict[str, list[_Log]] = defaultdict(list)
    for log in logs:
        for host in log.hosts:
            heirs[host].append(log)
    former = [log for log in logs if _is_former(log, heirs, changes, begun.values())]
    if not former:
        return tuple(sources), facts
    whole, parts = ({log.id for log in former if log.whole}, {(log.id, log.instance) for log in former})
    marked = (replace(s, problems=(*s.problems, Problem(LEFT_OUT))) if s.id in whole else s for s in sources)
    left = (f for f in facts if f.source not in whole and (f.source, f.place.instance_id) not in parts)
    return tuple(marked), tuple(left)


def _begun(sources: Iterable[Source], facts: Sequence[Fact]) -> dict[str, Instant]:
    """When the logs begin that tell of the run."""
    running = {fact.source for fact in facts if fact.kind in OF_RUNS or fact.place.rank is not None}
    logs = [source for source in sources if source.kind == "log" and source.id in running]
    spans = _spans(logs, facts)
    return {log.id: spans[log.id][0] for log in logs if log.id in spans}


def _spans(sources: Iterable[Source], facts: Iterable[Fact]) -> dict[str, tuple[Instant, Instant]]:
    """The times that sources cover, on wall clocks; what they say of these without a year is of that of their facts."""
    dated: dict[str, list[Instant]] = defaultdict(list)
    for fact in facts:
        if fact.instant and fact.instant.clock in DATED:
            dated[fact.source].append(fact.instant)
    found = {}
    for source in sources:
        times, told = dated[source.id], [time for time in (source.first, source.last) if time]
        ends = [dated_near(time, times[0].ns) for time in told if times and time.clock is Clock.YEARLESS]
        if known := [*times, *ends, *(time for time in told if time.clock in DATED)]:
            found[source.id] = min(known, key=lambda time: time.ns), max(known, key=lambda time: time.ns)
    return found


def _logs(sources: Sequence[Source], facts: Sequence[Fact]) -> Iterator[_Log]:
    """Sources of one instance, and what those of several say of each."""
    told: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        told[fact.source].append(fact)
    spans = _spans(sources, facts)
    for source in sources:
        own = {source.place.instance_id, *(name for fact in told[source.id] for name in _instances(fact))} - {None}
        if len(own) == 1 and source.id in spans:
            hosts = frozenset(_hosts(told[source.id])) | ({source.place.host} if source.place.host else set())
            yield _Log(
                source.id, str(own.pop()), whole=True, hosts=hosts, first=spans[source.id][0], last=spans[source.id][1]
            )
        for instance in sorted(map(str, own)) if len(own) > 1 else ():
            part = [fact for fact in told[source.id] if fact.place.instance_id == instance]
            times = [fact.instant for fact in part if fact.instant and fact.instant.clock in DATED]
            if times:
                ends = min(times, key=lambda time: time.ns), max(times, key=lambda time: time.ns)
                yield _Log(source.id, instance, whole=False, hosts=frozenset(_hosts(part)), first=ends[0], last=ends[1])


def _instances(fact: Fact) -> Iterator[str]:
    said = fact.data.get("instance_id") if fact.kind == "identity" else None
    yield from (str(name) for name in (fact.place.instance_id, said) if name)


def _hosts(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        said = fact.data.get("hostname") if fact.kind == "identity" else None
        yield from (str(name) for name in (fact.place.host, said) if name)


def _changes(facts: Iterable[Fact]) -> _Changes:
    ended = defaultdict[str, list[Instant]](list)
    given: list[tuple[str, str, Instant]] = []
    for fact in facts:
        if fact.kind != "instance-change" or fact.instant is None or fact.instant.clock not in DATED:
            continue
        for one in str(fact.data["instances"]).split(","):
            node, given_to, instance = one.rpartition("=")
            if fact.data["what"] == "terminated":
                ended[instance].append(fact.instant)
            elif given_to:
                given.append((node, instance, fact.instant))
    return _Changes(ended, given)


def _is_former(
    log: _Log, of_hosts: Mapping[str, Sequence[_Log]], changes: _Changes, begun: Collection[Instant]
) -> bool:
    """Whether the instance of a log was gone before these logs began."""
    others = (o.first for host in log.hosts for o in of_hosts[host] if o.instance != log.instance)
    heirs = (when for node, instance, when in changes.given if node in log.hosts and instance != log.instance)
    after = [*others, *heirs]
    gone = [*changes.ended.get(log.instance, ()), *(when for when in after if _is_before(log.first, when))]
    return any(
        not _is_before(when, log.last) and all(_is_before(one, first) for one in (when, log.last) for first in begun)
        for when in gone
    )


def _is_before(one: Instant, other: Instant) -> bool:
    """Whether one moment is surely before another, whatever the zones of their clocks."""
    margin = _APART if one.clock is other.clock is Clock.UTC else _ZONES
    return one.ns + margin <= other.ns
