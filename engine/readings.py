"""What single sources say, put together: each source once, in one order, whatever the order and grouping in which they come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Fact, Source

#: So much of the id of a source tells it from another one of the same path.
_SHOWN = 8


class Reading(Struct, frozen=True):
    """A source, and the facts that a rulebook's collectors found in it."""

    source: Source
    facts: tuple[Fact, ...] = ()


def readings_of(collection: Collection) -> list[Reading]:
    """The collection source by source; facts of no source of it are left out."""
    facts: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in collection.facts:
        facts[fact.source, fact.span.path].append(fact)
    return [Reading(source, tuple(facts.get((source.id, source.path), ()))) for source in collection.sources]


def gathered(readings: Iterable[Reading]) -> Collection:
    """The collection that these make."""
    readings = tuple(readings)
    return Collection(
        tuple(reading.source for reading in readings), tuple(fact for reading in readings for fact in reading.facts)
    )


def merged(readings: Iterable[Reading]) -> list[Reading]:
    """Each once, in the order of their paths. Associative and commutative."""
    return [_fullest(list(same)) for _, same in groupby(sorted(readings, key=_key), key=_key)]


def _key(reading: Reading) -> tuple[str, str, str]:
    source = reading.source
    return source.path, source.id, source.searched.digest if source.searched else ""


def _fullest(same: list[Reading]) -> Reading:
    """Of several readings of one source by one rulebook, which are alike unless one of them met a damaged copy."""
    if all(reading == same[0] for reading in same):
        return same[0]
    return max(same, key=lambda reading: (len(reading.facts), repr(reading.source), repr(reading.facts)))


def apart(readings: Iterable[Reading]) -> Iterator[Reading]:
    """Sources that share a path though they are not the same (`var/log/messages` of two hosts) under paths that tell them
    apart by what is in them. The readings are in the order of their paths."""
    for _, group in groupby(readings, key=lambda reading: reading.source.path):
        same = list(group)
        yield from same if len(same) == 1 else map(_told_apart, same)


def _told_apart(reading: Reading) -> Reading:
    path = f"{reading.source.path}~{reading.source.id[:_SHOWN]}"
    facts = tuple(replace(fact, span=replace(fact.span, path=path)) for fact in reading.facts)
    return Reading(replace(reading.source, path=path), facts)
