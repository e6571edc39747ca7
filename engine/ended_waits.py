"""Waits for peers that were over: who waits says so again and again (every two minutes, in the words of the transport), so that a
process that lives on and no longer does has stopped waiting. It does not tell how: the peer came, or the process gave up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from neuron_doctor.engine.facts import Clock, Fact

#: A process that says nothing of it for so many times as long as it waits before it does has stopped waiting.
_PERIODS = 3
#: How long it waits before it says so, if it does not tell (s).
_USUAL_S = 120
_SECOND_NS = 10**9
#: A process in a log, by its number, or its rank where that is not known; its host and container, and the clock of its records.
_Process = tuple[str, str | None, str | None, str, int, Clock]


def ended_waits(facts: Iterable[Fact]) -> frozenset[tuple[str, int]]:
    """Where the records stand of waits that were over, by source and offset."""
    facts = list(facts)
    waits: dict[_Process, list[Fact]] = defaultdict(list)
    for fact in facts:
        if _is_wait(fact) and (process := _process(fact)):
            waits[process].append(fact)
    latest: dict[_Process, int] = {}
    for fact in facts if waits else ():
        process = _process(fact)
        if process in waits and fact.instant and not fact.repeats:
            latest[process] = max(fact.instant.ns, latest.get(process, fact.instant.ns))
    return frozenset(
        (fact.source, fact.span.offset)
        for process, told in waits.items()
        if not any(fact.repeats for fact in told)  # of a storm the last is not known
        for fact in _over(told, latest[process])
    )


def _is_wait(fact: Fact) -> bool:
    return fact.kind == "hang-report" and fact.data.get("what") == "retry"


def _process(fact: Fact) -> _Process | None:
    place = fact.place
    name, number = ("pid", place.pid) if place.pid is not None else ("rank", place.rank)
    if number is None or fact.instant is None:
        return None
    return fact.source, place.host, place.container, name, number, fact.instant.clock


def _over(told: Iterable[Fact], latest: int) -> Iterator[Fact]:
    """Those of one process after which it did not say for long that it waits, and those that lead to them."""
    ordered = sorted(told, key=lambda fact: fact.span.offset)
    times = [*(fact.instant.ns for fact in ordered if fact.instant), latest]
    over = False
    for fact, (at, after) in reversed(list(zip(ordered, pairwise(times), strict=True))):
        waited = int(str(fact.data.get("waited_s") or _USUAL_S))
        over = over or after - at >= _PERIODS * waited * _SECOND_NS
        if over:
            yield fact
