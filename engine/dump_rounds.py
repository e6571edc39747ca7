"""Dumps of all ranks that were taken twice within a minute, between which every rank went on: a job that moves.

Whatever waits in the second round waited in another place in the first one, so it shows no more than a moment. That a job
stopped just in that minute is what its logs would tell of.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from neuron_doctor.engine.dumps import selections
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.recorder import RankRecord, rank_record

#: Rounds further apart show two moments, of which the second may be after the end of the job.
_APART_NS = 60 * 10**9


def moved_between_rounds(facts: Iterable[Fact]) -> bool:
    """Whether of each rank that left a dump an earlier one of the same run is here, since which it has issued operations and
    seen them completed. A rank of which two dumps are alike stands."""
    recorded = [fact for fact in facts if fact.kind == "fr-rank"]
    times = Counter(fact.place.rank for fact in recorded if fact.place.rank is not None)
    if not times or min(times.values()) == 1:  # one round, as nearly always: no dump is looked into
        return False
    rounds: dict[int, list[RankRecord]] = defaultdict(list)
    for fact in recorded:
        if fact.place.rank is not None:
            rounds[fact.place.rank].append(rank_record(fact, fact.place.rank))
    latest = (record for selection in selections(recorded) for record in selection.dumps.values())
    return all(_went_on(record, rounds[record.rank]) for record in latest)


def _went_on(record: RankRecord, of_rank: Iterable[RankRecord]) -> bool:
    earlier = [one for one in of_rank if one.fact.source != record.fact.source]
    before = max(earlier, key=lambda one: one.last_ns, default=None)
    if (
        before is None
        or not 0 < record.last_ns - before.last_ns <= _APART_NS
        or not _are_of_one_process(before, record)
    ):
        return False
    done = (one for group in record.groups if group.completions for one in (*group.recent, *group.transfers))
    return any(one.created_ns > before.last_ns for one in done)


def _are_of_one_process(earlier: RankRecord, later: RankRecord) -> bool:
    """Whether what the later dump describes goes on where the earlier one ends, in the order of issue as in time: the same rank
    of another job is elsewhere."""
    groups = [{(group.name, group.members) for group in one.groups} for one in (earlier, later)]
    described = (
        one
        for group in later.groups
        for one in (*group.recent, *group.pending, *group.transfers, *group.pending_transfers)
    )
    last = earlier.last_record()
    return groups[0] <= groups[1] and all(
        (one.record > last) == (one.created_ns > earlier.last_ns) for one in described if one.created_ns
    )
