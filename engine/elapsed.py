"""How long after its last step a job still held its devices or its nodes, whatever zone the clocks are in.

The kernel of a host notes when a process opens its device and when it lets go, Slurm when it starts a job and when that is
done, and their logs go on until everything is collected. The program's own log tells how long the program ran up to its last
step. What the first span is longer than the second one, the job stood still. Where somebody asks a program for a dump of its
flight recorder, its own log says how long after the last step that was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from neuron_doctor.engine.facts import Clock, Fact, Instant, Source
from neuron_doctor.engine.moments import dated_near

#: A program may write its first line so long after Slurm has started its job, and the clocks of a cluster differ by no more
#: than its authentication (munge) allows.
_STARTING_NS, _APART_NS = 900 * 10**9, 300 * 10**9
_RUNNING = "RUNNING"


def unmoved_ns(facts: Sequence[Fact], sources: Iterable[Source]) -> int:
    """The longest such time of any host, in nanoseconds; 0 where a process let go, or where nothing tells."""
    by_id = {source.id: source for source in sources}
    held = _held(facts, {name: source for name, source in by_id.items() if source.kind == "kernel"})
    ran = _ran(facts, {name: source for name, source in by_id.items() if source.kind == "log"})
    spans = [held[host] - _span_ns(ran[host]) for host in held.keys() & ran.keys()]
    for host, begin, end in _scheduled(facts, by_id):
        if host in ran and _is_whole(ran[host], begin):
            spans.append(end.ns - begin.ns - _STARTING_NS - _span_ns(ran[host]))
    return max([*spans, *_until_asked(facts)], default=0)


def _until_asked(facts: Iterable[Fact]) -> Iterator[int]:
    """How long after the last step in its log a program was asked for a dump."""
    steps: dict[tuple[str, Clock], int] = {}
    asked: dict[tuple[str, Clock], int] = {}
    for fact in facts:
        latest = {"progress": steps, "dump-request": asked}.get(fact.kind)
        if latest is not None and fact.instant:
            of = (fact.source, fact.instant.clock)
            latest[of] = max(fact.instant.ns, latest.get(of, fact.instant.ns))
    return (asked[of] - steps[of] for of in asked.keys() & steps.keys())


def _scheduled(facts: Iterable[Fact], logs: Mapping[str, Source]) -> Iterator[tuple[str, Instant, Instant]]:
    """Hosts of jobs that Slurm shows as running, each with when its controller started the job, and how far the log goes in
    which that stands: it would have told of the job's end."""
    hosts: dict[str, set[str]] = defaultdict(set)
    states: dict[str, set[str]] = defaultdict(set)
    events: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        job = str(fact.data.get("job_id", ""))
        if fact.kind == "slurm-job":
            states[job].add(str(fact.data.get("state", "")))
            hosts[job].update([fact.place.host] if fact.place.host else [])
        elif fact.kind == "job-event" and fact.data["what"] != "interrupted":
            held = events.get((fact.source, job))
            events[fact.source, job] = fact if held is None or held.span.offset < fact.span.offset else held
    ended = {job for (_, job), event in events.items() if event.data["what"] != "started"}
    for (log, job), event in events.items():
        began, last = event.instant, logs[log].last if log in logs else None
        runs = job not in ended and states[job] == {_RUNNING}
        if runs and began and last and last.clock is began.clock:
            yield from ((host, began, last) for host in sorted(hosts[job]))


def _is_whole(log: tuple[Instant, Instant], started: Instant) -> bool:
    """Whether a program's log begins with the program, so that no earlier part of it has been rotated away."""
    first, _ = log
    return first.clock is started.clock and -_APART_NS <= first.ns - started.ns <= _STARTING_NS


def _span_ns(log: tuple[Instant, Instant]) -> int:
    return log[1].ns - log[0].ns


def _held(facts: Iterable[Fact], logs: dict[str, Source]) -> dict[str, int]:
    """By host: how long its kernel log goes on after the last process opened a device, if none has let go since."""
    opened: dict[str, dict[str, tuple[int, Instant]]] = defaultdict(dict)
    closed: dict[str, int] = {}
    for fact in facts:
        if fact.source in logs and fact.kind == "detach":
            closed[fact.source] = max(fact.span.offset, closed.get(fact.source, 0))
        elif fact.source in logs and fact.kind == "attach" and fact.place.host and fact.instant:
            of_host = opened[fact.place.host]
            of_host[fact.source] = max((fact.span.offset, fact.instant), of_host.get(fact.source, (-1, fact.instant)))
    found: dict[str, int] = {}
    for host, attached in opened.items():
        for source, (offset, since) in attached.items():
            last = logs[source].last
            if last is not None and last.clock is Clock.YEARLESS:
                last = dated_near(last, since.ns)
            if last is not None and last.clock is since.clock and closed.get(source, -1) < offset:
                found[host] = max(last.ns - since.ns, found.get(host, 0))
    return found


def _ran(facts: Iterable[Fact], logs: Mapping[str, Source]) -> dict[str, tuple[Instant, Instant]]:
    """By host: of the logs of its programs the one that goes on the longest, from its beginning to the last step or other
    record in it."""
    hosts = {f.source: f.place.host for f in facts if f.kind == "progress" and f.source in logs and f.place.host}
    found: dict[str, tuple[Instant, Instant]] = {}
    for source, host in sorted(hosts.items()):
        first, last = logs[source].first, logs[source].last
        if first is not None and last is not None and first.clock is last.clock:
            found[host] = max(found.get(host, (first, last)), (first, last), key=_span_ns)
    return found
