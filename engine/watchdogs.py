"""Convicts ranks that dumps without completions leave in doubt, where the watchdogs of all others gave up and theirs did not.

A recorder that knows only what was issued cannot tell a rank that never came from one whose device still works on what it
issued last. The watchdog of a process group can: it looks after each operation of its own rank, and gives up on it after the
same time everywhere. A rank of which no watchdog says so, in a log in which those of its neighbours do, waits in nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.recorder import named_ranks

#: So many ranks at least gave up, and so many at most, or one in so many, are named: of more it may be any.
_WITNESSES, _FEW, _MANY = 3, 2, 8


def convicted_by_watchdogs(
    collectives: Iterable[Fact], facts: Sequence[Fact], sources: Iterable[Source]
) -> Iterator[Fact]:
    """The `collective` facts; those that suspect ranks that way name them as missing."""
    collectives = tuple(collectives)
    if not any(_suspects(fact) for fact in collectives):
        yield from collectives
        return
    reports = [fact for fact in facts if fact.kind == "hang-report" and fact.data.get("what") == "watchdog"]
    dumped = {fact.place.rank: fact.place.host for fact in facts if fact.kind == "fr-rank"}
    told_of = {fact.place.host for fact in reports if fact.place.host and fact.place.rank is not None}
    own_logs = {source.place.rank for source in sources if source.kind == "log" and source.records}
    heard = {rank for rank, host in dumped.items() if host in told_of or rank in own_logs}
    gave_up = {fact.place.rank for fact in reports} - {None}
    for fact in collectives:
        suspects = _suspects(fact)
        few = suspects and len(suspects) <= max(_FEW, len(dumped) // _MANY)
        proven = few and suspects <= heard and len(gave_up) >= _WITNESSES and gave_up == set(dumped) - suspects
        yield _missing(fact, suspects) if proven else fact


def _suspects(fact: Fact) -> frozenset[int]:
    """The ranks that may have come to an operation or not, with a dump of each: others wait in it."""
    told, members, waiting = fact.data, fact.data.get("members"), fact.data.get("waiting")
    in_doubt = told.get("verdict") == "undecided" and told.get("witness") == "recorder" and told.get("operation")
    if not in_doubt or told.get("missing_dumps") or not isinstance(members, tuple) or not isinstance(waiting, tuple):
        return frozenset()
    return (
        frozenset(rank for rank in members if isinstance(rank, int))
        if set(members).isdisjoint(waiting)
        else frozenset()
    )


def _missing(fact: Fact, ranks: Collection[int]) -> Fact:
    culprits = tuple(sorted(ranks))
    why = f"the watchdogs of all others gave up, and {named_ranks(culprits)} waited in nothing"
    what, _, rest = str(fact.data["description"]).partition("; no completion is recorded")
    described = f"{what}; {why}" if rest else why
    data = {**fact.data, "verdict": "rank-missing", "culprits": culprits, "members": (), "description": described}
    rank = culprits[0] if len(culprits) == 1 else None
    return replace(fact, data=data, place=replace(fact.place, rank=rank, ranks=culprits))
