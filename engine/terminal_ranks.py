"""The terminal of one worker: what it shows of the command in it to which a rank was given (`$ RANK=5 LOCAL_RANK=1 python
train.py`) is of that rank, but for what says another rank itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.proven import unique

#: Beyond all offsets.
_NEVER = 1 << 62


def in_the_rank_of_their_terminal(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts, with the ranks of the terminals in which they stand. The log of an environment is no terminal: what it says
    of a rank stands at that rank already."""
    told = [f for f in facts if f.kind == "env" and f.data.get("name") == "RANK"]
    given = unique((f.source, f.place) for f in told)
    ranks = {source: place for source, place in given.items() if place.rank is not None}
    if not ranks:
        return facts
    shown: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for fact in told:
        shown[fact.source].append(_shown(fact))
    return [_given(f, ranks[f.source]) if f.source in ranks and _is_in(f, shown[f.source]) else f for f in facts]


def _shown(fact: Fact) -> tuple[int, int]:
    """Where a terminal shows what its command did; a whole log, where something else tells of its rank."""
    until = fact.data.get("until")
    return (fact.span.offset, until if until >= 0 else _NEVER) if isinstance(until, int) else (0, _NEVER)


def _is_in(fact: Fact, shown: Iterable[tuple[int, int]]) -> bool:
    return any(begin <= fact.span.offset < end for begin, end in shown)


def _given(fact: Fact, place: Place) -> Fact:
    if fact.place.rank is not None or fact.place.ranks or fact.place.container != place.container:
        return fact
    return replace(fact, place=fact.place.over(Place(rank=place.rank, local_rank=place.local_rank)))
