"""One fact for each record, however often it was captured: a rank's file, a tee of the launcher, a copy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.match import canonical


def deduplicated(facts: Iterable[Fact]) -> list[Fact]:
    """One fact for each record, however often it was captured: records with an inner time and a process are the same
    where these and the text agree; others where they stand at the same offset of the same source."""
    kept: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=canonical):
        alike = kept[_identity(fact)]
        number = next((n for n, known in enumerate(alike) if _may_be_one(known, fact)), None)
        if number is None:
            alike.append(fact)
        else:
            alike[number] = _merged(alike[number], fact)
    return [fact for alike in kept.values() for fact in alike]


def _may_be_one(a: Fact, b: Fact) -> bool:
    """Containers on two hosts have the same process ids and may log the same in the same microsecond."""
    return a.place.host is None or b.place.host is None or a.place.host == b.place.host


def _merged(a: Fact, b: Fact) -> Fact:
    """One record captured twice: the capture that knows more of its place is shown."""
    more, less = (b, a) if len(b.place.known()) > len(a.place.known()) else (a, b)
    return replace(more, place=more.place.over(less.place))


def _identity(fact: Fact) -> tuple[object, ...]:
    what = (fact.name, tuple(sorted((k, v) for k, v in fact.data.items())))
    if fact.instant and fact.place.pid is not None and fact.span.line is not None:
        return (*what, fact.instant, fact.place.pid, fact.span.text[(fact.span.column or 1) - 1 :])
    return (*what, fact.source, fact.span.offset, fact.span.sha256, fact.place)
