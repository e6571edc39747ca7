"""Acquits ranks that the recorders convict of never having joined, but that say themselves that they wait, or that a peer
went away, where another rank left no dump: gloo notes what failed as retired and no transfer at all, so such a rank only
looks idle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.recorder import named_ranks

_BY_ABSENCE = frozenset({"rank-missing", "rank-died"})


def acquitted(collectives: Iterable[Fact], facts: Sequence[Fact], ranks: Iterable[int]) -> Iterator[Fact]:
    """The `collective` facts, of a job of which these `ranks` are known; those that convict a rank that lost a peer
    itself, or gave up waiting in an operation that it names, undecided."""
    gave_up = {rank for fact in facts if _says_waited(fact.kind, fact.data) for rank in ranks_of(fact.place)}
    lost = {rank for fact in facts if _says_lost(fact.kind, fact.data) for rank in ranks_of(fact.place)}
    recorded = {fact.place.rank for fact in facts if fact.kind == "fr-rank"}
    gone = bool(recorded) and not recorded.issuperset(ranks)
    for fact in collectives:
        culprits = frozenset(ranks_of(fact.place))
        absent = fact.data.get("verdict") in _BY_ABSENCE and bool(culprits) and culprits <= lost
        convicted = fact.data.get("verdict") == "rank-missing" and fact.data.get("witness") == "recorder"
        if convicted and culprits and culprits <= gave_up:
            yield _undecided(fact, f"{named_ranks(sorted(culprits))} gave up waiting too, in what no dump shows")
        elif absent and gone:
            told = f"by the word of {named_ranks(sorted(culprits))} a peer went away, and other ranks left no dump"
            yield _undecided(fact, told)
        else:
            yield fact


def _says_lost(kind: str, data: Mapping[str, object]) -> bool:
    return kind == "hang-report" and data.get("what") == "lost"


def _says_waited(kind: str, data: Mapping[str, object]) -> bool:
    return kind == "hang-report" and data.get("what") == "watchdog" and bool(data.get("operation"))


def _undecided(fact: Fact, told: str) -> Fact:
    data = {**fact.data, "verdict": "undecided", "culprits": (), "culprit_frame": ""}
    data["description"] = f"{fact.data['description']}; but {told}"
    return replace(fact, data=data, place=replace(fact.place, rank=None, host=None, ranks=()))
