"""Directories `ranks/0`, `ranks/1`, of which a launcher makes one for each worker of a host (local ranks), and a person, or what
gathers logs, one for each of the job.

By its path alone such a file has a local rank (`hints`). It has that number as its rank where nothing shows another one:

- no file of any of them states a rank which is not its number, and
- no number is in two such trees that may be those of two hosts; where directories above are known for hosts, each has a block of
  numbers to itself (`n1/ranks/0` to `3`, `n2/ranks/4` to `7`);
- they are not `0` to `n` without a gap, as those of one host are, where the job is told to have some times as many ranks, or to
  run on several hosts;
- nobody says that one of these numbers is that of another rank on its host, and no log of another place is of such a rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from neuron_doctor.collectors.hints import bare
from neuron_doctor.collectors.no_host_words import may_name_a_host
from neuron_doctor.collectors.one_process import OF_OTHERS
from neuron_doctor.engine.facts import Collection, Fact, Place, Source
from neuron_doctor.engine.topology import told_width

_PARENT = "ranks"
_Above = tuple[str, ...]


def placed_by_rank_directories(collection: Collection) -> Collection:
    """The collection in which the numbers of such directories are ranks, where they are those of the job."""
    trees: dict[_Above, dict[str, int]] = defaultdict(dict)
    for source in collection.sources:
        if source.place.rank is None and source.place.local_rank is not None and (above := _above(source)) is not None:
            trees[above][source.path] = source.place.local_rank
    number_of = {path: number for numbers in trees.values() for path, number in numbers.items()}
    if not number_of or _state_others(collection.facts, number_of) or not _are_of_the_job(trees, collection):
        return collection
    sources = tuple(replace(s, place=_global(s.place)) if s.path in number_of else s for s in collection.sources)
    facts = (
        replace(f, place=_global(f.place)) if f.place.local_rank == number_of.get(f.span.path, -1) else f
        for f in collection.facts
    )
    return Collection(sources, tuple(facts))


def _above(source: Source) -> _Above | None:
    """What stands above the directory `ranks`, if one in which this source is gave it its number."""
    parts = source.path.replace("!", "/").split("/")
    at = next((n for n, part in reversed(list(enumerate(parts[:-1]))) if part.casefold() == _PARENT), None)
    return tuple(parts[:at]) if at is not None and parts[at + 1] == str(source.place.local_rank) else None


def _state_others(facts: Iterable[Fact], number_of: Mapping[str, int]) -> bool:
    """Whether a file says of itself that it is of another rank."""
    stated: dict[str, set[int]] = defaultdict(set)
    for fact in facts:
        if fact.span.path in number_of and fact.kind not in OF_OTHERS and fact.place.rank is not None:
            stated[fact.span.path].add(fact.place.rank)
    return any(number_of[path] not in ranks for path, ranks in stated.items())


def _are_of_the_job(trees: Mapping[_Above, Mapping[str, int]], collection: Collection) -> bool:
    placed = {source.path for source in collection.sources if source.place.host}
    at_hosts = any(path in placed for numbers in trees.values() for path in numbers)
    if not _may_be_global(trees, collection):
        return False
    numbers = {above: set(of.values()) for above, of in trees.items()}
    if at_hosts:
        blocks = sorted((min(of), max(of)) for of in numbers.values())
        return len(blocks) > 1 and all(one[1] < other[0] for one, other in pairwise(blocks))
    every = set().union(*numbers.values())
    again = len(every) < sum(map(len, numbers.values()))
    if again and any(_may_be_hosts(one, other) for one, other in pairwise(sorted(numbers))):
        return False
    return not (every == set(range(len(every))) and has_hosts_of(len(every), collection.facts))


def _may_be_global(trees: Mapping[_Above, Mapping[str, int]], collection: Collection) -> bool:
    """Whether no log of another place is of such a rank, and no such number that of another rank on its host."""
    paths, numbers = set().union(*trees.values()), set().union(*(of.values() for of in trees.values()))
    others = {s.place.rank for s in collection.sources if s.kind == "log" and s.path not in paths}
    return numbers.isdisjoint(others) and not any(_is_local(fact.place, numbers) for fact in collection.facts)


def has_hosts_of(ranks: int, facts: Sequence[Fact]) -> bool:
    """Whether a job may have so many ranks on each of several hosts, by what its launchers and ranks are told."""
    worlds = {size for fact in facts if fact.kind == "world" and isinstance(size := fact.data["size"], int)}
    if worlds:
        return any(size > ranks and size % ranks == 0 for size in worlds)
    several = any(_is_of_several(fact) for fact in facts)
    width = told_width(facts)
    return several and (width is None or width >= ranks)


def _is_of_several(fact: Fact) -> bool:
    """Whether a launcher is told of more nodes than one."""
    told = fact.data.get({"launch": "nodes", "node-rank": "number"}.get(fact.kind, ""))
    return isinstance(told, int) and told > (fact.kind == "launch")


def _is_local(place: Place, numbers: Container[int]) -> bool:
    """Whether a rank without such a directory has one of their numbers on its host."""
    return place.rank is not None and place.rank not in numbers and place.local_rank in numbers


def _may_be_hosts(one: _Above, other: _Above) -> bool:
    """Whether two trees may be those of two hosts: what tells them apart is no attempt, run or the like."""
    differ = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) != len(other) or any(all(may_name_a_host(bare(name)) for name in pair) for pair in differ)


def _global(place: Place) -> Place:
    return replace(place, local_rank=None, rank=place.local_rank if place.rank is None else place.rank)
