"""Instances on which a job has not run: they had the name of one of its nodes before it began, and are gone. ParallelCluster
gives the name of a node to the next instance when one fails, and exports of CloudWatch Logs hold the streams of both.

Such an instance is known by its id. It is gone where the daemon of the cluster says that it terminates it, or gives its node to
another one, or where the log of another one, of a host of that name, begins when its own has ended, or where the host itself
says that it is another one now (cloud-init); and all of that so long before the first log of the job that no time zone can be
behind it. That its log is only silent since says nothing.

What one source tells of one host is by one clock, and needs no such margin. Nor does a log of the job that shows the zone of the
source: processes of its numbers were seen by the kernel of that host in the minutes in which they spoke, and zones differ by
quarters of an hour at least.
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
#: Clocks of one zone differ by less; and so long before a process speaks, or after that, the kernel sees it. So many processes
#: show a zone.
_MINUTES, _PROCESSES = 5 * 60 * 1_000_000_000, 2
#: What is told of a host just after the last record that names its instance is of this instance, too.
_WITH_IT = 60 * 1_000_000_000
_SEVERAL = 2
_BY_KERNEL = frozenset({"attach", "detach"})
LEFT_OUT = "it is of an instance that was gone before the job began, and its records were left out"


class _When(Struct, frozen=True):
    """A moment by the clock of a source, as far as that is known of one host."""

    instant: Instant
    source: str
    host: str | None = None


class _Log(Struct, frozen=True):
    """What a source has of one instance: the names of its host, and the time that it covers; `whole`: it has nothing else."""

    id: str
    instance: str
    whole: bool
    hosts: frozenset[str]
    first: Instant
    last: Instant


class _Changes(Struct, frozen=True):
    """When instances were terminated, and when nodes were given to which, as the daemon of a cluster or the node itself says."""

    ended: Mapping[str, Sequence[_When]]
    given: Sequence[tuple[str, str, _When]]


#: The sources that have the zone of a log of the job at a host: (source, host, log).
_Alike = frozenset[tuple[str, str | None, str]]


def without_former_instances(
    sources: Sequence[Source], facts: Sequence[Fact]
) -> tuple[tuple[Source, ...], Sequence[Fact]]:
    """The sources, those of former instances with a problem that says so, and these facts without what is of them."""
    changes = _changes(facts)
    if not changes.ended and not changes.given and not _are_several(sources, facts):
        return tuple(sources), facts
    begun = _begun(sources, facts)
    logs = [log for log in _logs(sources, facts) if begun and log.id not in begun]
    heirs: dict[str, list[_Log]] = defaultdict(list)
    for log in logs:
        for host in log.hosts:
            heirs[host].append(log)
    alike = _alike(facts, logs, begun)
    starts = [_When(instant, source) for source, instant in begun.items()]
    former = [log for log in logs if _is_former(log, heirs, changes, starts, alike)]
    if not former:
        return tuple(sources), facts
    whole = {log.id for log in former if log.whole}
    parts: dict[str, list[_Log]] = defaultdict(list)
    for log in former:
        parts[log.id].append(log)
    marked = (replace(s, problems=(*s.problems, Problem(LEFT_OUT))) if s.id in whole else s for s in sources)
    left = (f for f in facts if f.source not in whole and not any(_is_of(f, log) for log in parts.get(f.source, ())))
    return tuple(marked), tuple(left)


def _are_several(sources: Iterable[Source], facts: Iterable[Fact]) -> bool:
    """Whether several sources are of instances, or a host has had several."""
    if len({source.place.instance_id for source in sources} - {None}) >= _SEVERAL:
        return True
    of: dict[tuple[str, str], str] = {}
    named = (fact for fact in facts if fact.place.instance_id and fact.place.host)
    return any(
        of.setdefault((fact.source, str(fact.place.host)), str(fact.place.instance_id)) != fact.place.instance_id
        for fact in named
    )


def _is_of(fact: Fact, log: _Log) -> bool:
    """Whether a fact of the source of a log is of its instance: one that names it, or of its host while that was it."""
    if fact.place.instance_id is not None:
        return fact.place.instance_id == log.instance
    known = fact.place.host in log.hosts and fact.instant is not None and fact.instant.clock is log.last.clock
    return known and fact.instant is not None and fact.instant.ns <= log.last.ns + _WITH_IT


def _begun(sources: Iterable[Source], facts: Sequence[Fact]) -> dict[str, Instant]:
    """When the logs begin that tell of the run."""
    running = {fact.source for fact in facts if fact.kind in OF_RUNS or fact.place.rank is not None}
    logs = [source for source in sources if source.kind == "log" and source.id in running]
    covered = spans(logs, facts)
    return {log.id: covered[log.id][0] for log in logs if log.id in covered}


def spans(sources: Iterable[Source], facts: Iterable[Fact]) -> dict[str, tuple[Instant, Instant]]:
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
    covered = spans(sources, facts)
    for source in sources:
        own = {source.place.instance_id, *(name for fact in told[source.id] for name in _instances(fact))} - {None}
        hosts = frozenset(_hosts(told[source.id])) | ({source.place.host} if source.place.host else set())
        whole = len(own) == 1 and (source.place.instance_id is not None or len(hosts) == 1)
        if whole and source.id in covered:
            yield _Log(
                source.id,
                str(own.pop()),
                whole=True,
                hosts=hosts,
                first=covered[source.id][0],
                last=covered[source.id][1],
            )
        for instance in sorted(map(str, own)) if not whole else ():
            part = [fact for fact in told[source.id] if fact.place.instance_id == instance]
            times = [fact.instant for fact in part if fact.instant and fact.instant.clock in DATED]
            if times:
                ends = min(times, key=lambda time: time.ns), max(times, key=lambda time: time.ns)
                yield _Log(source.id, instance, whole=False, hosts=frozenset(_hosts(part)), first=ends[0], last=ends[1])


def _instances(fact: Fact) -> Iterator[str]:
    if _is_own_change(fact):
        yield from str(fact.data["instances"]).split(",")
    said = fact.data.get("instance_id") if fact.kind == "identity" else None
    yield from (str(name) for name in (fact.place.instance_id, said) if name)


def _hosts(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        said = fact.data.get("hostname") if fact.kind == "identity" else None
        yield from (str(name) for name in (fact.place.host, said) if name)


def _is_own_change(fact: Fact) -> bool:
    """Whether a host says that it is another instance now."""
    return fact.kind == "instance-change" and fact.data["what"] == "replaced" and fact.place.host is not None


def _changes(facts: Iterable[Fact]) -> _Changes:
    ended = defaultdict[str, list[_When]](list)
    given: list[tuple[str, str, _When]] = []
    for fact in facts:
        if fact.kind != "instance-change" or fact.instant is None or fact.instant.clock not in DATED:
            continue
        when = _When(fact.instant, fact.source, fact.place.host)
        *old, last = str(fact.data["instances"]).split(",")
        if fact.data["what"] == "replaced":
            for instance in old:
                ended[instance].append(when)
            given += [(fact.place.host, last, when)] if fact.place.host else []
            continue
        for one in (*old, last):
            node, given_to, instance = one.rpartition("=")
            if fact.data["what"] == "terminated":
                ended[instance].append(when)
            elif given_to:
                given.append((node, instance, when))
    return _Changes(ended, given)


def _alike(facts: Iterable[Fact], logs: Iterable[_Log], begun: Mapping[str, Instant]) -> _Alike:
    """Where the kernel of a host of these logs saw processes of the job in the minutes in which they spoke."""
    hosts = {(log.id, host) for log in logs for host in log.hosts}
    spoke: dict[tuple[str, int], list[int]] = defaultdict(list)
    seen: dict[tuple[str, str | None], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        pid, instant = fact.place.pid, fact.instant
        if pid is None or instant is None or instant.clock not in DATED:
            continue
        if fact.source in begun:
            spoke[fact.source, pid].append(instant.ns)
        elif fact.kind in _BY_KERNEL and (fact.source, fact.place.host) in hosts:
            seen[fact.source, fact.place.host][pid].append(instant.ns)
    return frozenset(
        (source, host, log)
        for (source, host), processes in seen.items()
        for log in begun
        if sum(_are_near(times, spoke.get((log, pid), ())) for pid, times in processes.items()) >= _PROCESSES
    )


def _are_near(some: Iterable[int], others: Sequence[int]) -> bool:
    return any(abs(one - other) <= _MINUTES for one in some for other in others)


def _is_former(
    log: _Log, of_hosts: Mapping[str, Sequence[_Log]], changes: _Changes, begun: Collection[_When], alike: _Alike
) -> bool:
    """Whether the instance of a log was gone before these logs began."""
    first, last = ([_When(at, log.id, host) for host in log.hosts] for at in (log.first, log.last))
    others = (_When(o.first, o.id, host) for host in log.hosts for o in of_hosts[host] if o.instance != log.instance)
    heirs = (when for node, instance, when in changes.given if node in log.hosts and instance != log.instance)
    after = (when for when in (*others, *heirs) if any(_is_before(one, when, alike) for one in first))
    gone = [*changes.ended.get(log.instance, ()), *after]
    return any(
        not any(_is_before(when, one, alike) for one in last)
        and all(_is_before(one, start, alike) for one in (when, *last) for start in begun)
        for when in gone
    )


def _is_before(one: _When, other: _When, alike: _Alike) -> bool:
    """Whether one moment is surely before another, whatever the zones of their clocks."""
    return one.instant.ns + _margin(one, other, alike) <= other.instant.ns


def _margin(one: _When, other: _When, alike: _Alike) -> int:
    if one.instant.clock is other.instant.clock:
        if (one.source, one.host) == (other.source, other.host) and one.host is not None:
            return 0
        if one.instant.clock is Clock.UTC:
            return _APART
    return _MINUTES if (one.source, one.host, other.source) in alike else _ZONES
