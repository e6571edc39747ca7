"""Logs of which each attempt of a job has one of its own, beside each other: `worker-0.attempt0.log`, `worker-0.attempt1.log`.

A number in the name of one file may be that of one container alone, which came back while the others went on. It is that of the
whole job where whoever has such logs has one of the last attempt, and where all logs of its ranks are called so: beside a log of
the job, `download-try1.log` is that of a helper. Of two logs that differ in nothing but a number that only one of them has
(`worker-0.restart1.log`, `worker-0.log`), the other is of the attempt before or after, as their times tell.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.collectors.hints import plain
from neuron_doctor.engine.facts import Collection, Fact, Source
from neuron_doctor.engine.regexes import regex

_NUMBERED = regex(
    r"(?P<of>.{0,200}?)[._-]?(?<![A-Za-z])(?:attempt|restart|retry|try)[._=-]?(?P<number>\d{1,4})", re.IGNORECASE
)


def placed_by_attempts(collection: Collection) -> Collection:
    """The collection with the attempts that the names of sources state, for them and their facts: of those without one."""
    found = _attempts(collection.sources)
    if not found or _of_ranks(collection) - found.keys():
        return collection
    sources = tuple(
        replace(s, place=replace(s.place, attempt=found[s.path])) if s.path in found else s for s in collection.sources
    )
    facts = tuple(
        replace(f, place=replace(f.place, attempt=found[f.span.path]))
        if f.span.path in found and f.place.attempt is None
        else f
        for f in collection.facts
    )
    return Collection(sources, facts)


def _of_ranks(collection: Collection) -> set[str]:
    """The logs, of no known attempt, that show steps or ranks of the job. Stacks are of one moment, whatever the attempt."""
    logs = {s.path: s for s in collection.sources if s.kind == "log" and s.place.attempt is None}
    shown = {fact.span.path for fact in collection.facts if _shows_work(fact)}
    ranks = {path for path, source in logs.items() if source.place.rank is not None}
    return (ranks | (shown & logs.keys())) - {fact.span.path for fact in collection.facts if fact.kind == "stack"}


def _shows_work(fact: Fact) -> bool:
    return fact.place.attempt is None and (fact.kind == "progress" or fact.place.rank is not None)


def _attempts(sources: Sequence[Source]) -> Mapping[str, int]:
    """The attempts by path, where they are those of the job."""
    logs: dict[str, dict[str, int]] = defaultdict(dict)
    for source in sources:
        folder, _, name = source.path.replace("!", "/").rpartition("/")
        if source.place.attempt is None and (numbered := _NUMBERED.fullmatch(plain(name))):
            logs[f"{folder}/{numbered['of']}"][source.path] = int(numbered["number"])
    _add_unnumbered(logs, sources)
    last = max((number for told in logs.values() for number in told.values()), default=0)
    several = any(len(set(told.values())) > 1 for told in logs.values())
    if not several or not all(last in told.values() for told in logs.values()):
        return {}
    return {path: number for told in logs.values() for path, number in told.items()}


def _add_unnumbered(logs: Mapping[str, dict[str, int]], sources: Iterable[Source]) -> None:
    """Adds to the logs of attempts the one without a number that was written before all of them, or after."""
    known = {source.path: source for source in sources}
    for source in known.values():
        folder, _, name = source.path.replace("!", "/").rpartition("/")
        told = logs.get(f"{folder}/{plain(name)}")
        if told is None or source.place.attempt is not None or source.path in told:
            continue
        first, last = min(told.values()), max(told.values())
        if all(_is_before(known[path], source) for path in told):
            told[source.path] = last + 1
        elif first and all(_is_before(source, known[path]) for path in told):
            told[source.path] = first - 1


def _is_before(one: Source, other: Source) -> bool:
    """Whether one log ends before another begins, by the same clock."""
    last, first = one.last, other.first
    return last is not None and first is not None and last.clock is first.clock and last.ns < first.ns
