"""Several flight recorders of one process: the one of its devices' backend, and the one of gloo, by which it saves checkpoints.

Their dumps bear the same rank, and often the same name. What one of them shows to be over says nothing of the other, and in what
order a rank issued what both hold is not comparable between ranks: it does so in threads. So each is matched by itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.recorder import RankRecord, named_ranks

_LATE = frozenset({"rank-missing", "p2p-missing"})


def by_recorder(records: Sequence[RankRecord]) -> list[list[RankRecord]]:
    """The dumps of one run, apart by the backend that they are of, where a rank left some of two that recorded at one time. One
    that names no backend, as it has no entries, is of the one of which its rank left none, else of the one that most are of."""
    backends: dict[int, dict[str, RankRecord]] = defaultdict(dict)
    for record in records:
        if record.backend:
            backends[record.rank][record.backend] = record
    if not any(map(_recorded_at_one_time, backends.values())):
        return [list(records)]
    most = [backend for backend, _ in Counter(sorted(record.backend for record in records)).most_common() if backend]
    apart: dict[str, list[RankRecord]] = {backend: [] for backend in most}
    for record in records:
        lacking = [backend for backend in most if backend not in backends.get(record.rank, ())]
        apart[record.backend or (lacking or most)[0]].append(record)
    return list(apart.values())


def _recorded_at_one_time(dumps: Mapping[str, RankRecord]) -> bool:
    timed = sorted((one for one in dumps.values() if one.first_ns), key=lambda one: one.first_ns)
    return any(then.first_ns <= one.last_ns for one, then in pairwise(timed))


def without_those_who_wait(found: Iterable[Sequence[Fact]]) -> list[Fact]:
    """The `collective` facts, by recorder, but that who waits in what one of them shows is not at fault for what it lacks in
    another."""
    recorders = list(found)
    waiting = [
        {rank for fact in facts if fact.data["verdict"] != "straggler" for rank in _ranks(fact, "waiting")}
        for facts in recorders
    ]
    kept: list[Fact] = []
    for number, facts in enumerate(recorders):
        elsewhere = set().union(*waiting[:number], *waiting[number + 1 :])
        kept += [_excused(fact, elsewhere.intersection(_ranks(fact, "culprits"))) for fact in facts]
    return kept


def _ranks(fact: Fact, field: str) -> tuple[int, ...]:
    value = fact.data[field]
    return tuple(rank for rank in value if isinstance(rank, int)) if isinstance(value, tuple) else ()


def _excused(fact: Fact, ranks: set[int]) -> Fact:
    if not ranks or fact.data["verdict"] not in _LATE:
        return fact
    left = tuple(rank for rank in _ranks(fact, "culprits") if rank not in ranks)
    told = f"{fact.data['description']}; but {named_ranks(sorted(ranks))} waits by another recorder"
    verdict = fact.data["verdict"] if left else "undecided"
    place = replace(fact.place, rank=None, host=None, ranks=left)
    return replace(fact, data={**fact.data, "verdict": verdict, "description": told, "culprits": left}, place=place)
