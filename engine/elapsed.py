"""How long after its last step a job still held its devices, by the kernel log of a host: whatever zone its clock is in.

The kernel notes when a process opens its device and when it lets go, and its log goes on until everything is collected. The
program's own log tells how long the program ran up to its last step. What the first span is longer than the second one, the
job stood still.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from neuron_doctor.engine.facts import Clock, Fact, Instant, Source
from neuron_doctor.engine.moments import dated_near


def unmoved_ns(facts: Sequence[Fact], sources: Iterable[Source]) -> int:
    """The longest such time of any host, in nanoseconds; 0 where a process let go, or where nothing tells."""
    sources = tuple(sources)
    held = _held(facts, {source.id: source for source in sources if source.kind == "kernel"})
    ran = _ran(facts, {source.id: source for source in sources if source.kind == "log"})
    return max((held[host] - ran[host] for host in held.keys() & ran.keys()), default=0)


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


def _ran(facts: Iterable[Fact], logs: dict[str, Source]) -> dict[str, int]:
    """By host: the longest time from the beginning of a log of its programs to the last step or other record in it."""
    hosts = {f.source: f.place.host for f in facts if f.kind == "progress" and f.source in logs and f.place.host}
    found: dict[str, int] = {}
    for source, host in hosts.items():
        first, last = logs[source].first, logs[source].last
        if first is not None and last is not None and first.clock is last.clock:
            found[host] = max(last.ns - first.ns, found.get(host, 0))
    return found
