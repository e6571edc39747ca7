"""Acquits ranks that the recorders convict of never having joined: those that say themselves that they wait, or that a peer
went away, where another rank left no dump (gloo notes what failed as retired and no transfer at all, so such a rank only
looks idle); and those that their launcher ended because another worker of the same host had, and not for waiting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.recorder import named_ranks
from neuron_doctor.engine.worker_ends import is_told_to_end

_BY_ABSENCE = frozenset({"rank-missing", "rank-died"})


def acquitted(
    collectives: Iterable[Fact], facts: Sequence[Fact], ranks: Iterable[int], heard: frozenset[int] | None = None
) -> Iterator[Fact]:
    """The `collective` facts, of a job of which these `ranks` are known; those that convict a rank that lost a peer itself,
    gave up waiting in an operation that it names, or had to end, undecided. `heard`: the ranks whose words were collected,
    None: everybody's."""
    gave_up = {rank for fact in facts if _says_waited(fact.kind, fact.data) for rank in ranks_of(fact.place)}
    lost = {rank for fact in facts if _says_lost(fact.kind, fact.data) for rank in ranks_of(fact.place)}
    recorded = {fact.place.rank for fact in facts if fact.kind == "fr-rank"}
    gone = bool(recorded) and not recorded.issuperset(ranks)
    told_to_end = dict(_ended_beside(facts, heard))
    for fact in collectives:
        culprits = frozenset(ranks_of(fact.place))
        absent = fact.data.get("verdict") in _BY_ABSENCE and bool(culprits) and culprits <= lost
        convicted = fact.data.get("verdict") == "rank-missing" and fact.data.get("witness") == "recorder"
        if convicted and culprits & told_to_end.keys():
            yield _without_the_ended(fact, culprits, told_to_end)
        elif convicted and culprits and culprits <= gave_up:
            yield _undecided(fact, f"{named_ranks(sorted(culprits))} gave up waiting too, in what no dump shows")
        elif absent and gone:
            told = f"by the word of {named_ranks(sorted(culprits))} a peer went away, and other ranks left no dump"
            yield _undecided(fact, told)
        else:
            yield fact


def _ended_beside(facts: Sequence[Fact], heard: frozenset[int] | None) -> Iterator[tuple[int, int]]:
    """The ranks that were told to end on a host where one other ended of itself and its words, which were collected, say
    nothing of waiting; each with that one."""
    waited = {rank for fact in facts if fact.kind == "hang-report" for rank in ranks_of(fact.place)}
    told: dict[str, set[int]] = defaultdict(set)
    own: dict[str, set[int]] = defaultdict(set)
    for end in facts:
        if end.kind == "launcher-failure" and end.place.host:
            (told if is_told_to_end(end) else own)[end.place.host].update(ranks_of(end.place))
    for host, first in own.items():
        if len(first) == 1 and not first & waited and (heard is None or first <= heard):
            [beside] = first
            yield from ((rank, beside) for rank in told[host] - first)


def _without_the_ended(fact: Fact, culprits: frozenset[int], told_to_end: Mapping[int, int]) -> Fact:
    """The fact about who is left of the culprits: if that is the one that ended, it has come to no collective because of that."""
    ended = culprits & told_to_end.keys()
    beside = sorted({told_to_end[rank] for rank in ended})
    told = f"{named_ranks(sorted(ended))} had to end when {named_ranks(beside)} beside them had ended"
    left = tuple(sorted(culprits - ended))
    if not left:
        return _undecided(fact, told)
    data = {**fact.data, "culprits": left, "description": f"{fact.data['description']}; but {told}"}
    data["verdict"] = "rank-died" if list(left) == beside else fact.data["verdict"]
    return replace(fact, data=data, place=replace(fact.place, rank=left[0] if len(left) == 1 else None, ranks=left))


def _says_lost(kind: str, data: Mapping[str, object]) -> bool:
    return kind == "hang-report" and data.get("what") == "lost"


def _says_waited(kind: str, data: Mapping[str, object]) -> bool:
    return kind == "hang-report" and data.get("what") == "watchdog" and bool(data.get("operation"))


def _undecided(fact: Fact, told: str) -> Fact:
    data = {**fact.data, "verdict": "undecided", "culprits": (), "culprit_frame": ""}
    data["description"] = f"{fact.data['description']}; but {told}"
    return replace(fact, data=data, place=replace(fact.place, rank=None, host=None, ranks=()))
