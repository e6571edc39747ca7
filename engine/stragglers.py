"""Which rank its peers keep waiting for, in a job that does move: the one that waits least, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import comb

from msgspec import Struct

from neuron_doctor.engine.late_issues import FLOOR_US, OF_ALL_TIME, Row, typical_wait, waits_by_issue
from neuron_doctor.engine.median import median
from neuron_doctor.engine.process_groups import ProcessGroup

#: So many collectives must show that somebody waited, and in this share of them the others must have waited for the same
#: rank, and so much longer than it did (which is how long the collective takes) where they waited most. Of the collectives
#: of a step often only the first waits.
_TELLING = 5
_SHARE = 0.9
_TIMES = 1.5
#: Where they waited most is where they did at least half as long as anywhere.
_MOST = 0.5
#: A collective tells if this share of its members, and so many, describe it, or all.
_SEEN = 0.75
_FEWEST = 4
#: Where somebody is slow, who waits for whoever is next waits less than the so-many-th part of it.
_JITTER = 10
#: What so many groups show by chance more often than this proves nothing.
_MOST_BY_CHANCE = 0.05
#: The least that counts as waiting: where the device is timed, and where only the host's clock is (which sees a
#: completion only when its watchdog looks, every 100 ms or less often).
_TIMED_US, _SEEN_US = 5_000, 500_000
#: Shorter waits on a timed device count where so many collectives of a group show them, which are so large a share of the time:
#: tensor-parallel groups meet many times a step.
_SHORT_US, _FREQUENT, _OF_ALL_TIME = 500, 16, 10


class Straggler(Struct, frozen=True):
    """A rank that was last in `times` of the `of` collectives of a group in which anybody waited; the others waited
    `wait_us` for it (median)."""

    rank: int
    group: ProcessGroup
    times: int
    of: int
    wait_us: int


def stragglers(groups: list[ProcessGroup]) -> list[Straggler]:
    """The ranks that are last in a group and wait for nobody in another, as far as these still tell of a step.

    Each rank's wait is on its own clock; no clocks of two hosts are compared. Of several that are last each in one group
    and share another, none is where in that one nobody waits nearly so long: they come to it together, so what holds
    them up is elsewhere (the stage of the pipeline before theirs), or cannot be told. Nor is one that is waited for a small
    part of the time for which another one is. Of many groups some rank of one is last a few times by chance alone.
    """
    last: dict[int, Straggler] = {}
    delayed: set[int] = set()
    longest: list[tuple[set[int], float]] = []
    issued = waits_by_issue(groups)
    shown = [(group, *_telling(group, issued.get(group.key, ()))) for group in _of_one_stage(groups)]
    looked_at = sum(len(telling) >= _TELLING for _, telling, _ in shown)
    for group, telling, floor in shown:
        for found in _last_in(group, telling, floor):
            if looked_at * _chance(found) > _MOST_BY_CHANCE:
                continue
            held = last.get(found.rank)
            last[found.rank] = found if held is None or found.wait_us > held.wait_us else held
        delayed.update(_delayed(telling, floor))
        longest.append((set(group.members), max(map(typical_wait, telling), default=0)))
    sure = last.keys() - delayed
    together: set[int] = set()
    for members, wait_us in longest:
        shared = members & sure
        if len(shared) > 1 and wait_us * _JITTER < min(last[rank].wait_us for rank in shared):
            together |= shared
    slow = [last[rank] for rank in sorted(sure - together)]
    longest_us = max((one.wait_us for one in slow), default=0)
    return [one for one in slow if one.wait_us * _JITTER >= longest_us]


def _chance(found: Straggler) -> float:
    """How likely it is that a member of a group is last so often where all are alike."""
    members = len(found.group.ranks)
    return min(1.0, comb(found.of, found.times) * members / float(members) ** found.times)


def _delayed(telling: list[dict[int, int]], floor: int) -> set[int]:
    """The ranks that waited in nearly all of the collectives of a group in which anybody did."""
    waited = Counter(rank for row in telling for rank, wait in row.items() if wait - min(row.values()) >= floor)
    return {rank for rank, times in waited.items() if times > _SHARE * len(telling)}


def _of_one_stage(groups: list[ProcessGroup]) -> list[ProcessGroup]:
    """The groups whose members all do the same work: the stages of a pipeline come to a common collective in turn."""
    pipelines = [
        set(group.ranks)
        for group in groups
        if any(member.record and member.record.point_to_point for member in group.members.values())
    ]
    stage_of = {rank: pipeline for pipeline in pipelines for rank in pipeline}

    def is_one(members: set[int]) -> bool:
        return all(len(stage_of.get(rank, set()) & members) <= 1 for rank in members)

    return [group for group in groups if is_one(set(group.ranks))]


def _telling(group: ProcessGroup, issued: Sequence[Row]) -> tuple[list[Row], int]:
    """Of the collectives of a group those in which most waited for the last of them, and not only as long as they do for
    this one or that one when nobody is slow; and what counts as waiting in it. `issued`: the waits by when they were issued,
    where nothing else is known."""
    if len(group.members) < len(group.ranks) or len(group.ranks) == 1:
        return [], _SEEN_US
    waits = [(typical_wait(row), row) for row in _waits(group) or issued]
    floor = _floor(group, [wait for wait, _ in waits], issued=bool(issued))
    longest = sorted((wait for wait, _ in waits), reverse=True)[:_TELLING]
    least = max(floor, longest[-1] / _JITTER if longest else 0)
    return [row for wait, row in waits if wait >= least], floor


def _floor(group: ProcessGroup, waits: Sequence[float], *, issued: bool) -> int:
    if issued:
        long = sum(wait for wait in waits if wait >= FLOOR_US)
        return FLOOR_US if OF_ALL_TIME * long >= _time_of(group) else _SEEN_US
    if not all(member.record and member.record.starts for member in group.members.values()):
        return _SEEN_US
    short = [wait for wait in waits if wait >= _SHORT_US]
    add_up = len(short) >= _FREQUENT and _OF_ALL_TIME * sum(short) >= _time_of(group)
    return _SHORT_US if add_up else _TIMED_US


def _time_of(group: ProcessGroup) -> int:
    """How long its members issued what is still described of it and has completed, in microseconds: on the one that did so
    longest."""
    described = [member.record.recent for member in group.members.values() if member.record and member.record.recent]
    return max((recent[-1].created_ns - recent[0].created_ns for recent in described), default=0) // 1000


def _last_in(group: ProcessGroup, telling: list[dict[int, int]], floor: int) -> Iterator[Straggler]:
    if len(telling) < _TELLING:
        return
    rank, times = Counter(min(row, key=lambda rank: (row[rank], rank)) for row in telling).most_common(1)[0]
    longest = sorted(map(typical_wait, telling))[-_TELLING]
    most = [row for row in telling if typical_wait(row) >= _MOST * longest]
    own = median(row[rank] for row in most if rank in row)
    others = median(median(wait for peer, wait in row.items() if peer != rank) for row in most)
    if times >= _SHARE * len(telling) and others - own >= floor and others >= _TIMES * own:
        yield Straggler(rank, group, times, len(telling), int(others - own))


def _waits(group: ProcessGroup) -> list[dict[int, int]]:
    """For each collective that nearly all members completed and still describe: how long each of these waited in it. Dumps that
    were written one after the other have few in common; where the last one to come is not among them, nobody seems to be."""
    waits: dict[int, dict[int, int]] = {}
    for rank, member in group.members.items():
        for operation in member.record.recent if member.record else ():
            if operation.wait_us >= 0:
                waits.setdefault(member.base + operation.number, {})[rank] = operation.wait_us
    fewest = max(_FEWEST, _SEEN * len(group.members))
    enough = min(fewest, len(group.members))
    return [waits[ordinal] for ordinal in sorted(waits) if len(waits[ordinal]) >= enough]
