"""Ranks that dumps say stayed away from a collective while their own words say that they gave up waiting: they waited in what the
recorder does not show.

Gloo records no transfers: a rank that waits in `recv` looks in its dump like one that waits in nothing. When its wait fails it
says so. That it came late, and then waited in vain as well, would show in its dump, or in that it gave up after all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.moments import difference_ns, moment_of
from neuron_doctor.engine.recorder import named_ranks, rank_record

_GAVE_UP = frozenset({"collectives", "watchdog"})


def without_those_who_gave_up(collectives: Iterable[Fact], facts: Sequence[Fact]) -> Iterator[Fact]:
    """The `collective` facts; those of ranks that never came do not convict who gave up waiting by its own words, no later than
    its peers, where its recorder shows no transfers."""
    collectives = tuple(collectives)
    if not any(fact.data["verdict"] == "rank-missing" and _culprits(fact) for fact in collectives):
        yield from collectives
        return
    reports = [fact for fact in facts if fact.kind == "hang-report" and fact.data["what"] in _GAVE_UP]
    gave_up = {rank for report in reports for rank in ranks_of(report.place)}
    waited = {rank for rank in gave_up & _without_transfers(facts) if not _is_last(rank, reports)}
    for fact in collectives:
        excused = waited.intersection(_culprits(fact)) if fact.data["verdict"] == "rank-missing" else set()
        yield _excused(fact, excused) if excused else fact


def _culprits(fact: Fact) -> tuple[int, ...]:
    listed = fact.data["culprits"]
    return tuple(rank for rank in listed if isinstance(rank, int)) if isinstance(listed, tuple) else ()


def _without_transfers(facts: Iterable[Fact]) -> set[int]:
    """The ranks whose recorder learns of no completion and describes no transfer."""
    records = [rank_record(f, f.place.rank) for f in facts if f.kind == "fr-rank" and f.place.rank is not None]
    return {
        one.rank
        for one in records
        if not any(
            group.completions or group.transfers or group.pending_transfers for group in one.groups if group.length
        )
    }


def _is_last(rank: int, reports: Iterable[Fact]) -> bool:
    """Whether it gave up after all others that say when, by the clock of one host."""
    reports = list(reports)
    own = [report for report in reports if rank in ranks_of(report.place)]
    others = [moment_of(report) for report in reports if rank not in ranks_of(report.place)]
    for report in own:
        at = moment_of(report)
        gaps = [difference_ns(other, at) if other and at else None for other in others]
        if not gaps or not all(gap is not None and gap > 0 for gap in gaps):
            return False
        known = [gap for gap in gaps if gap is not None]
        if min(known) <= max(known) - min(known):
            return False
    return bool(own)


def _excused(fact: Fact, ranks: set[int]) -> Fact:
    left = tuple(rank for rank in _culprits(fact) if rank not in ranks)
    told = (
        f"{fact.data['description']}; but by its own words {named_ranks(sorted(ranks))} gave up waiting, in what this recorder "
        "does not show"
    )
    verdict = "rank-missing" if left else "undecided"
    data = {**fact.data, "verdict": verdict, "description": told, "culprits": left}
    alone = left[0] if len(left) == 1 else None
    host = fact.place.host if len(left) == len(_culprits(fact)) else None
    return replace(fact, data=data, place=replace(fact.place, rank=alone, host=host, ranks=left))
