"""At how many moments the dumps of a run were written, by what happened between them, and whether the job still moved then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from neuron_doctor.engine.recorder import ROOTED, GroupRecord, RankRecord

#: Who takes the dumps of all hosts one after the other has them within so long, as far as their clocks agree.
_ONE_TIME_NS = 60 * 10**9
#: At least one in so many dumps shows completions that were just seen, where a job moves.
_FRESH = 2


class Stand(NamedTuple):
    """Where a rank stands in a group by its dump: the last collective that it issued, and one that no member can have lacked when
    the dump was written (not the last of these, as ranks may count apart by one)."""

    group: tuple[str, str]
    rank: int
    issued: int
    over: int


def progress(group: GroupRecord) -> tuple[int, int]:
    """The last number done and the last issued, (-1, -1) where the dump holds no collective of the group."""
    window = group.recent + group.pending
    if not window:
        return -1, -1
    return (group.pending[0].sequence - 1 if group.pending else window[-1].sequence), window[-1].sequence


def stands(dumps: Mapping[int, RankRecord]) -> list[Stand]:
    """Where each rank stands in those of its groups of which its dump tells that."""
    return [_stand(group, rank) for rank, group in _plain(dumps) if group.completions]


def retirements(dumps: Mapping[int, RankRecord]) -> list[Stand]:
    """The same of recorders that tell only what is retired, which failed operations are, too: `over` is then what was retired
    before another that was. What fails leaves all of a group at one place, and those who lack it at another."""
    # without members, only the first group is the same on all ranks
    alike = ((rank, group) for rank, group in _plain(dumps) if group.members or group.name == "0")
    return [_stand(group, rank) for rank, group in alike if not group.completions]


def _plain(dumps: Mapping[int, RankRecord]) -> Iterator[tuple[int, GroupRecord]]:
    """The groups of each rank whose collectives are counted alike by all, and of which some are over."""
    for rank, record in dumps.items():
        for group in record.groups:
            if group.contiguous and not group.point_to_point and group.recent:
                yield rank, group


def _stand(group: GroupRecord, rank: int) -> Stand:
    joint = [op.sequence for op in group.recent if op.name not in ROOTED]
    over = joint[-2] if len(joint) > 1 else -1
    return Stand((group.name, group.members), rank, progress(group)[1], over)


def moments(standing: Iterable[Stand]) -> int:
    """At how many moments at least: what is over in the dumps of each had not been issued in those of the one before."""
    groups: dict[tuple[str, str], list[Stand]] = defaultdict(list)
    for one in standing:
        if any(one.group):
            groups[one.group].append(one)
    return max(map(_moments_of, groups.values()), default=0)


def _moments_of(standing: Iterable[Stand]) -> int:
    """The most places of a group of which each is over before the next: those that end first."""
    times, last = 0, -1
    for one in sorted(standing, key=lambda one: one.issued):
        if not times or one.over > last:
            times, last = times + 1, one.issued
    return times


def are_of_one_time(records: Iterable[RankRecord]) -> bool:
    """Whether the last operations of all that tell of a time were issued while one host after the other can be asked."""
    ends = [record.last_ns for record in records if record.last_ns]
    return bool(ends) and max(ends) - min(ends) <= _ONE_TIME_NS


def moved_to_the_end(dumps: Mapping[int, RankRecord], behind: Collection[int]) -> bool:
    """Whether most dumps, and most of those that were written last, show that something had completed in the moment before."""
    return all(
        ranks and _FRESH * sum(dumps[rank].fresh > 0 for rank in ranks) >= len(ranks)
        for ranks in (list(dumps), [rank for rank in dumps if rank not in behind])
    )
