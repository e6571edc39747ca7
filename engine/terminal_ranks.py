"""The terminal of one worker: all that it shows is of the rank that was given to the command in it
(`$ RANK=5 LOCAL_RANK=1 python train.py`), but for what says another rank itself."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.proven import unique


def in_the_rank_of_their_terminal(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts, with the ranks of the terminals in which they stand. The log of an environment is no terminal: what it says
    of a rank stands at that rank already."""
    given = unique((f.source, f.place) for f in facts if f.kind == "env" and f.data.get("name") == "RANK")
    ranks = {source: place for source, place in given.items() if place.rank is not None}
    if not ranks:
        return facts
    return [_given(fact, ranks[fact.source]) if fact.source in ranks else fact for fact in facts]


def _given(fact: Fact, place: Place) -> Fact:
    if fact.place.rank is not None or fact.place.ranks or fact.place.container != place.container:
        return fact
    return replace(fact, place=fact.place.over(Place(rank=place.rank, local_rank=place.local_rank)))
