"""What is known of the end of a worker beside what its launcher says: whether its own log was collected, in which it would
have said why it ended, and whether it was the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Source, Value, ranks_of

_SIGTERM = 15
#: What is told of a worker by others.
_OF_OTHERS = frozenset({"launcher-failure", "oom-kill", "attach", "detach", "core-dump", "stand"})


def with_logs(facts: Sequence[Fact], sources: Iterable[Source]) -> Iterator[Fact]:
    """The facts; those about the end of a worker of known rank also say whether the worker was heard: in a log of its own,
    or in one of many in which every line has its rank or process. And which one srun reports before those that it ends."""
    logs = {source.id: source for source in sources if source.kind == "log" and source.records}
    heard = {source.place.rank for source in logs.values() if source.place.rank is not None}
    spoken = [fact for fact in facts if fact.source in logs and fact.kind not in _OF_OTHERS]
    anonymous = {fact.source for fact in spoken if not ranks_of(fact.place) and fact.place.pid is None}
    heard |= {f.place.rank for f in spoken if f.place.rank is not None and f.source not in anonymous}
    first = {id(fact) for fact in _first_of_srun(facts)}
    for fact in facts:
        if fact.kind == "launcher-failure" and fact.place.rank is not None:
            more: dict[str, Value] = {"first": True} if id(fact) in first else {}
            yield replace(fact, data={**fact.data, **more, "logged": fact.place.rank in heard})
        else:
            yield fact


def _first_of_srun(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The first end in each output of srun where all others follow as those that were told to end."""
    reports: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "launcher-failure" and fact.data.get("launcher") == "srun":
            reports[fact.source].append(fact)
    for ends in reports.values():
        first, *others = sorted(ends, key=lambda end: end.span.offset)
        alone = all(end.data.get("signal") == _SIGTERM for end in others)
        if others and alone and first.data.get("signal") != _SIGTERM:
            yield first
