"""Directories that torchrun makes for the workers of one host (`<run>/attempt_0/3/stderr.log`): their numbers are local ranks.

They are the ranks of the job where one agent has all of it. So it is if

- all such directories are of one run, of no known host or of one, and numbered from 0 without a gap;
- nothing names a rank beyond them, though most of them are named elsewhere too (in the launcher's report, by dumps): of a job on
  several hosts some would be of others;
- nothing names a local rank together with another rank, two hosts, or more ranks than these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.rank_directories import has_hosts_of
from neuron_doctor.engine.facts import Collection, Fact, Source, ranks_of
from neuron_doctor.engine.recorder import rank_record
from neuron_doctor.engine.recorder import ranks_of as ranks_in

_ONE = 1


def placed_by_worker_directories(collection: Collection) -> Collection:
    """The collection in which the numbers of such directories are ranks too, where one host has the whole job."""
    number_of = _numbers(collection.sources)
    numbers = set(number_of.values())
    if len(numbers) <= _ONE or numbers != set(range(len(numbers))) or not _is_all_here(collection, number_of):
        return collection
    sources = (
        replace(s, place=replace(s.place, rank=number_of[s.path])) if s.path in number_of else s
        for s in collection.sources
    )
    return Collection(tuple(sources), tuple(_ranked(fact, number_of) for fact in collection.facts))


def _numbers(sources: Iterable[Source]) -> dict[str, int]:
    """The number of each such file; none where they are of several runs or hosts."""
    found: dict[str, int] = {}
    runs, hosts = set(), set()
    for source in sources:
        parts = source.path.replace("!", "/").split("/")
        local, place = source.place.local_rank, source.place
        at = next((n for n in range(len(parts) - 2, 0, -1) if parts[n] == str(local)), 0)
        if place.rank is None and local is not None and at and _is_attempt(parts[at - 1]):
            found[source.path] = local
            runs.add(tuple(parts[: at - 1]))
            hosts.add(place.host)
    return found if len(runs) == _ONE == len(hosts) else {}


def _is_attempt(name: str) -> bool:
    return place_of_path(f"{name}/x").attempt is not None


def _is_all_here(collection: Collection, number_of: Mapping[str, int]) -> bool:
    numbers = set(number_of.values())
    known: set[int] = set()
    hosts = set()
    for fact in collection.facts:
        place = fact.place
        if place.rank is not None and place.local_rank not in (None, place.rank):
            return False
        if fact.span.path in number_of and place.rank not in (None, number_of[fact.span.path]):
            return False
        known.update(ranks_of(place), _listed(fact))
        hosts |= {place.host} if place.host else set()
    most_are_named = 2 * len(known) >= len(numbers)
    return (
        known <= numbers and most_are_named and len(hosts) <= _ONE and not has_hosts_of(len(numbers), collection.facts)
    )


def _listed(fact: Fact) -> Iterable[int]:
    """The ranks that a dump lists."""
    if fact.kind != "fr-rank" or fact.place.rank is None:
        return ()
    record = rank_record(fact, fact.place.rank)
    return (rank for text in (record.peers, *(group.members for group in record.groups)) for rank in ranks_in(text))


def _ranked(fact: Fact, number_of: Mapping[str, int]) -> Fact:
    place = fact.place
    own = number_of.get(fact.span.path)
    return replace(fact, place=replace(place, rank=own)) if own is not None and place.local_rank == own else fact
