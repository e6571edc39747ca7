"""Who is the odd one where the debug mode of torch.distributed (TORCH_DISTRIBUTED_DEBUG=DETAIL) finds ranks that are about to
run different collectives. Each message names two ranks and accuses neither; those of several ranks together tell what most run.

A rank compares with the others in their order and names the first that differs, so that all may accuse rank 0, or all the odd
one, which itself accuses an innocent (ProcessGroupWrapper.cpp of torch 1.9 to 2.15).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.match import canonical
from neuron_doctor.engine.recorder import named_ranks, told_of_collective
from neuron_doctor.engine.topology import Topology

#: In this order: what differs is another operation, or one at another number of its group, before it is an argument.
_ASPECTS = (("operation", "op"), ("sequence", "op"), ("shape", "size"), ("type", "dtype"))
#: So many ranks must be named.
_FEWEST = 3


def fingerprint_votes(facts: Iterable[Fact], topology: Topology) -> Iterator[Fact]:
    """A `collective` fact for each attempt in which more than half of all ranks are about to run the same and few are not."""
    attempts: dict[tuple[str | None, int | None], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "fingerprint":
            attempts[fact.place.job, fact.place.attempt].append(fact)
    for _, told in sorted(attempts.items(), key=str):
        said = _said(told)
        for aspect, verdict in _ASPECTS:
            by_value: dict[object, list[int]] = defaultdict(list)
            for rank, running in said.items():
                by_value[running.get(aspect)].append(rank)
            if len(by_value) > 1:
                yield from _vote(verdict, by_value, told, topology)
                break


def _said(told: Sequence[Fact]) -> dict[int, dict[str, object]]:
    """What each rank is about to run; nothing where ranks of several groups, or at several places, speak: those are named by
    their numbers in the group."""
    said: dict[int, dict[str, object]] = {}
    for fact in told:
        if fact.place.rank not in (None, fact.data["one"]):
            return {}
        for end in ("one", "other"):
            rank = fact.data[end]
            running: dict[str, object] = {aspect: fact.data.get(f"{end}_{aspect}") for aspect, _ in _ASPECTS}
            if not isinstance(rank, int) or said.setdefault(rank, running) != running:
                return {}
    return said


def _vote(verdict: str, by_value: dict[object, list[int]], told: Sequence[Fact], topology: Topology) -> Iterator[Fact]:
    usual = max(by_value, key=lambda value: len(by_value[value]))
    known = sum(map(len, by_value.values()))
    odd = tuple(sorted(rank for value, ranks in by_value.items() if value != usual for rank in ranks))
    if None in by_value or known < _FEWEST or 2 * len(by_value[usual]) <= max(known, topology.world_size or 0):
        return
    parts = [f"{value} on {named_ranks(sorted(by_value[value]))}" for value in sorted(by_value, key=str)]
    first = min(told, key=lambda fact: (not {fact.data["one"]} <= {*odd}, canonical(fact)))
    alone, be = (odd[0], "is") if len(odd) == 1 else (None, "are")
    data = told_of_collective(
        f"{verdict}-mismatch",
        f"{named_ranks(odd)} {be} about to run something else than most ranks: {'; '.join(parts)}",
        operation=str(first.data.get("one_operation", "")).lower(),
        culprits=odd,
        waiting=tuple(sorted(by_value[usual])),
        difference="; ".join(parts),
        witness="fingerprint",
    )
    place = Place(
        job=first.place.job,
        attempt=first.place.attempt,
        host=topology.host_of_rank.get(odd[0]) if alone is not None else None,
        rank=alone,
        ranks=odd,
    )
    yield replace(first, kind="collective", data=data, place=place, repeats=0)
