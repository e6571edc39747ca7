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
#: What was given up so long before all others gave up is another wait.
_LONG_BEFORE_NS = 600_000_000_000


def without_those_who_gave_up(collectives: Iterable[Fact], facts: Sequence[Fact]) -> Iterator[Fact]:
    """The `collective` facts; those of ranks that never came do not convict who gave up waiting by its own words, no later than
    its peers and not long before them, where its recorder shows no transfers."""
    collectives = tuple(collectives)
    absent = {rank for fact in collectives if fact.data["verdict"] == "rank-missing" for rank in _culprits(fact)}
    waited = _waited(absent, facts) if absent else set()
    for fact in collectives:
        excused = waited.intersection(_culprits(fact)) if fact.data["verdict"] == "rank-missing" else set()
        yield _excused(fact, excused) if excused else fact


def _waited(absent: set[int], facts: Sequence[Fact]) -> set[int]:
    """Those of these ranks that gave up waiting for what their recorders do not show."""
    reports = [fact for fact in facts if _is_of_own_wait(fact)]
    absent = absent.intersection(rank for report in reports for rank in ranks_of(report.place))
    own: dict[int, list[Fact]] = {rank: [] for rank in _without_transfers(absent, facts)}
    steps: dict[int, list[Fact]] = {rank: [] for rank in own}
    for report in reports:
        for rank in own.keys() & set(ranks_of(report.place)):
            own[rank].append(report)
    for fact in facts if own else ():
        if fact.kind == "progress":
            for rank in own.keys() & set(ranks_of(fact.place)):
                steps[rank].append(fact)
    return {
        rank
        for rank, told in own.items()
        if not _is_last(rank, told, reports) and not _is_of_before(rank, told[-1], reports, steps[rank])
    }


def _is_of_own_wait(fact: Fact) -> bool:
    """Whether a process says that a wait of its own failed; not that another one asked it for its dump."""
    return fact.kind == "hang-report" and fact.data["what"] in _GAVE_UP and fact.data.get("own") is not False


def _culprits(fact: Fact) -> tuple[int, ...]:
    listed = fact.data["culprits"]
    return tuple(rank for rank in listed if isinstance(rank, int)) if isinstance(listed, tuple) else ()


def _without_transfers(ranks: set[int], facts: Iterable[Fact]) -> set[int]:
    """Those of these ranks whose recorder learns of no completion and describes no transfer."""
    records = [rank_record(f, f.place.rank) for f in facts if f.kind == "fr-rank" and f.place.rank in ranks]
    return {
        one.rank
        for one in records
        if not any(
            group.completions or group.transfers or group.pending_transfers for group in one.groups if group.length
        )
    }


def _is_last(rank: int, own: Iterable[Fact], reports: Iterable[Fact]) -> bool:
    """Whether it gave up after all others that say when, by the clock of one host."""
    for report in own:
        known = _gaps(rank, report, reports)
        if not known or min(known) <= 0 or min(known) <= max(known) - min(known):
            return False
    return True


def _is_of_before(rank: int, own: Fact, reports: Iterable[Fact], steps: Iterable[Fact]) -> bool:
    """Whether its last wait that failed is none of this hang: it went on since, or all others gave up long after."""
    known = _gaps(rank, own, reports)
    return bool(known and max(known) < -_LONG_BEFORE_NS) or any(_is_after(step, own) for step in steps)


def _gaps(rank: int, own: Fact, reports: Iterable[Fact]) -> list[int] | None:
    """By how much each other report is before one of this rank's; None where one clock did not give all of them."""
    at, found = moment_of(own), []
    for report in reports:
        if rank not in ranks_of(report.place):
            other = moment_of(report)
            gap = difference_ns(other, at) if other and at else None
            if gap is None:
                return None
            found.append(gap)
    return found


def _is_after(step: Fact, own: Fact) -> bool:
    """Whether a rank made progress after a report of it, by its log or the clock of its host."""
    if step.source == own.source:
        return step.span.offset > own.span.offset
    at, then = moment_of(own), moment_of(step)
    gap = difference_ns(at, then) if at and then else None
    return gap is not None and gap > 0


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
