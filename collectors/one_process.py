"""Logs of one process each, of which each names its rank in some lines and its process in others: `task-042.out` beside
`task-043.out`, where `[rank 42] it 60 dt 4.31s` and `2025-Oct-17 15:20:44 71923:75944 ERROR ...` are all that tells who speaks.

A log that states one rank may be that of a host whose first rank alone logs its steps. So it is a rank's only if it states
one rank and one process, or no process and is called after this rank alone (not as the first of every eight), and so do its
siblings, whose names differ from its own in nothing but numbers: three logs at least, no two of which state the same rank.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from math import gcd

from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Fact, Place
from neuron_doctor.engine.regexes import regex

_NUMBER = regex(r"\d+")
_FEWEST = 3
#: Where all numbers are multiples of so many, they may be those of the first ranks of hosts.
_ON_A_HOST = 4
#: Facts that a source tells of others.
OF_OTHERS = frozenset({"launcher-failure", "slurm-job", "pod", "k8s-event", "process-groups", "stand", "device-user"})


def placed_by_one_process(collection: Collection) -> Collection:
    """The collection with the ranks of logs of one process each, and of their facts: of those without one."""
    ranks = _ranks(collection)
    if not ranks:
        return collection
    sources = tuple(
        replace(s, place=s.place.over(Place(rank=ranks[s.path]))) if s.path in ranks else s for s in collection.sources
    )
    facts = tuple(
        replace(f, place=f.place.over(Place(rank=ranks[f.span.path]))) if f.span.path in ranks else f
        for f in collection.facts
    )
    return Collection(sources, facts)


def _ranks(collection: Collection) -> dict[str, int]:
    """The rank of each such log, by path."""
    logs = {s.path for s in collection.sources if s.kind == "log" and s.place.rank is None and not s.place.container}
    at_hosts = {s.path for s in collection.sources if s.place.host}
    stated: dict[str, set[int]] = defaultdict(set)
    processes: dict[str, set[int]] = defaultdict(set)
    for fact in collection.facts:
        if fact.span.path in logs and fact.kind not in OF_OTHERS:
            stated[fact.span.path].update(_stated(fact))
            processes[fact.span.path].update([fact.place.pid] if fact.place.pid is not None else [])
    families: dict[str, dict[str, int]] = defaultdict(dict)
    torn = set[str]()
    for path, ranks in stated.items():
        shape = _NUMBER.sub("#", path)
        called = not processes[path] and path not in at_hosts and _number_of(path) in ranks
        if len(ranks) == 1 and (len(processes[path]) == 1 or called):
            families[shape][path] = min(ranks)
        elif len(ranks) > 1 or len(processes[path]) > 1:
            torn.add(shape)
    found: dict[str, int] = {}
    for shape, members in families.items():
        times = Counter(members.values())
        strided = gcd(*members.values()) >= _ON_A_HOST and not any(processes[path] for path in members)
        if shape not in torn and len(members) >= _FEWEST and max(times.values()) == 1 and not strided:
            found |= members
    return found


def _number_of(path: str) -> int:
    """The last number in the name of a file, -1 where it has none."""
    numbers = _NUMBER.findall(path.replace("!", "/").rpartition("/")[2])
    return int(numbers[-1]) if numbers else -1


def _stated(fact: Fact) -> list[int]:
    return [*fact.place.ranks, *([fact.place.rank] if fact.place.rank is not None else [])]
