"""One fact for each record, however often it was captured: a rank's file, a tee of the launcher, a copy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, pod_of
from neuron_doctor.engine.match import canonical
from neuron_doctor.engine.proven import unique

#: A host and a pod, each as far as known.
Where = tuple[str, str]


def deduplicated(facts: Iterable[Fact]) -> list[Fact]:
    """One fact for each record, however often it was captured: records with an inner time and a process are the same
    where these and the text agree; others where they stand at the same offset of the same source."""
    captures: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=canonical):
        captures[_identity(fact)].append(fact)
    return [fact for alike in captures.values() for fact in (_records(alike) if len(alike) > 1 else alike)]


def _records(alike: Sequence[Fact]) -> Iterable[Fact]:
    """The records that captures of one text, time and process show: containers on two hosts, or two on one, have the same
    process ids and may log the same in the same microsecond. A capture that does not say so much is of the first that it
    may be of."""
    host_of = unique((pod_of(f.place.container), f.place.host) for f in alike if f.place.container and f.place.host)
    kept: dict[Where, Fact] = {}
    first: dict[str, Where] = {}
    for fact in sorted(alike, key=lambda fact: (not fact.place.container, not fact.place.host)):
        where = _where(fact, host_of)
        if where not in kept and not where[1]:
            where = first.get(where[0], where)
        kept[where] = _merged(kept[where], fact) if where in kept else fact
        first.setdefault(where[0], where)
        first.setdefault("", where)
    return kept.values()


def _where(fact: Fact, host_of: Mapping[str, str | None]) -> Where:
    pod = pod_of(fact.place.container)
    return fact.place.host or host_of.get(pod) or "", pod


def _merged(a: Fact, b: Fact) -> Fact:
    """One record captured twice: the capture that knows more of its place is shown."""
    more, less = (b, a) if len(b.place.known()) > len(a.place.known()) else (a, b)
    return replace(more, place=more.place.over(less.place))


def _identity(fact: Fact) -> tuple[object, ...]:
    what = (fact.name, tuple(sorted((k, v) for k, v in fact.data.items())))
    if fact.instant and fact.place.pid is not None and fact.span.line is not None:
        return (*what, fact.instant, fact.place.pid, fact.span.text[(fact.span.column or 1) - 1 :])
    return (*what, fact.source, fact.span.offset, fact.span.sha256, fact.place)
