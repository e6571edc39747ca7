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
    kept: dict[tuple[object, ...], dict[str | None, Fact]] = defaultdict(dict)
    for fact in sorted(facts, key=canonical):
        _add(kept[_identity(fact)], fact)
    return [fact for alike in kept.values() for fact in alike.values()]


def _add(alike: dict[str | None, Fact], fact: Fact) -> None:
    """Put one more capture to those of a record, by host: containers on two hosts have the same process ids and may log the
    same in the same microsecond. A capture without a host is of the first that has one."""
    host = fact.place.host
    is_elsewhere = host is not None and None not in alike
    at = host if host in alike or is_elsewhere else next(iter(alike), host)
    known = alike.get(at)
    one = fact if known is None else _merged(known, fact)
    if at != one.place.host:
        del alike[at]  # it had no host, so it was the only one
    alike[one.place.host] = one


def _merged(a: Fact, b: Fact) -> Fact:
    """One record captured twice: the capture that knows more of its place is shown."""
    more, less = (b, a) if len(b.place.known()) > len(a.place.known()) else (a, b)
    return replace(more, place=more.place.over(less.place))


def _identity(fact: Fact) -> tuple[object, ...]:
    what = (fact.name, tuple(sorted((k, v) for k, v in fact.data.items())))
    if fact.instant and fact.place.pid is not None and fact.span.line is not None:
        return (*what, fact.instant, fact.place.pid, fact.span.text[(fact.span.column or 1) - 1 :])
    return (*what, fact.source, fact.span.offset, fact.span.sha256, fact.place)
