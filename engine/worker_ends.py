"""What is known of the end of a worker beside what its launcher says: whether its own log was collected, in which it would
have said why it ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Source, ranks_of

#: What is told of a worker by others.
_OF_OTHERS = frozenset({"launcher-failure", "oom-kill", "attach", "detach", "core-dump", "stand"})


def with_logs(facts: Sequence[Fact], sources: Iterable[Source]) -> Iterator[Fact]:
    """The facts; those about the end of a worker of known rank also say whether the worker was heard: in a log of its own,
    or in one of many in which every line has its rank."""
    logs = {source.id: source for source in sources if source.kind == "log" and source.records}
    heard = {source.place.rank for source in logs.values() if source.place.rank is not None}
    spoken = [fact for fact in facts if fact.source in logs and fact.kind not in _OF_OTHERS]
    anonymous = {fact.source for fact in spoken if not ranks_of(fact.place)}
    heard |= {f.place.rank for f in spoken if f.place.rank is not None and f.source not in anonymous}
    for fact in facts:
        if fact.kind == "launcher-failure" and fact.place.rank is not None:
            yield replace(fact, data={**fact.data, "logged": fact.place.rank in heard})
        else:
            yield fact
