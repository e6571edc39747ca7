"""Whose end comes after the work of the whole job was done. One rank speaks for all: where it says, in a log that several
share, that the training is complete, the others have made the same last step, and what befalls them below is their teardown.

That is so where steps stand above the word and none below it. A word without steps may be of a part of the work (the data are
prepared) before which the others wait, and one that steps follow was of a part of it for sure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place


def work_done(facts: Iterable[Fact]) -> Iterator[Fact]:
    """A `work-done` fact at each process of which the same log tells something after the word, and beside that of who spoke."""
    by_source: dict[str, list[Fact]] = defaultdict(list)
    speaking = set()
    for fact in facts:
        by_source[fact.source].append(fact)
        if fact.kind == "completion":
            speaking.add(fact.source)
    for source in sorted(speaking):
        yield from _of_log(by_source[source])


def _of_log(facts: Iterable[Fact]) -> Iterator[Fact]:
    ordered = sorted(facts, key=lambda fact: fact.span.offset)
    last_step = max((fact.span.offset for fact in ordered if fact.kind == "progress"), default=None)
    words = [f for f in ordered if f.kind == "completion" and last_step is not None and f.span.offset > last_step]
    if not words:
        return
    word, told = words[0], set[Place]()
    for fact in ordered:
        place = _process(fact.place)
        if fact.span.offset > word.span.offset and place not in told and place != _process(word.place):
            told.add(place)
            instant = word.instant if place.host == word.place.host else None  # else it is by another clock
            yield replace(word, kind="work-done", data={}, place=place, instant=instant)


def _process(place: Place) -> Place:
    return Place(
        job=place.job,
        attempt=place.attempt,
        host=place.host,
        container=place.container,
        pid=place.pid,
        rank=place.rank,
    )
