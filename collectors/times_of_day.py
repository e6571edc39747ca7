"""When lines without a date were written (`n7 [13:09:42] step 1/200`): by the last record above them in their log that is dated.

A line close by is looked at when the log is read (`matches`). In a log that goes on for hours with times alone the dated line is
far above, and only all that was found tells it, each time from the one before.
"""

from __future__ import annotations

from collections import defaultdict

from msgspec.structs import replace

from neuron_doctor.collectors.prefixes import cleaned
from neuron_doctor.collectors.timestamps import time_of_day
from neuron_doctor.engine.facts import Collection, Fact, Instant

_LOG = "log"


def timed_by_the_lines_above(collection: Collection) -> Collection:
    """The collection in which such records of logs have their time."""
    logs = {source.path for source in collection.sources if source.kind == _LOG}
    undated = {fact.span.path for fact in collection.facts if fact.instant is None} & logs
    of_log: dict[str, list[int]] = defaultdict(list)
    for number, fact in enumerate(collection.facts):
        if fact.span.path in undated:
            of_log[fact.span.path].append(number)
    facts = list(collection.facts)
    for numbers in of_log.values():
        above: Instant | None = None
        for number in sorted(numbers, key=lambda number: facts[number].span.offset):
            facts[number] = fact = _timed(facts[number], above)
            above = fact.instant or above
    return replace(collection, facts=tuple(facts)) if of_log else collection


def _timed(fact: Fact, above: Instant | None) -> Fact:
    if fact.instant is not None or above is None:
        return fact
    instant = time_of_day(cleaned(fact.span.text), above)
    return replace(fact, instant=instant) if instant else fact
