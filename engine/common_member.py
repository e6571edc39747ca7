"""The one rank without a dump that several groups wait for, where nothing else can hold up all of them.

That a dump is missing proves nothing: it may be lost, and one of those that left theirs may be stuck in a way that no dump shows.
Then that one holds up one group, and the others only through the rank without a dump, which waits in that group. So two groups
must stand that have no other member in common, and neither may be what the other waits for: ranks beside them went through
both collectives in the same order, and those who stand in the first of them went on to complete the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from neuron_doctor.engine.gatherings import Gathering, Waits
from neuron_doctor.engine.order_vote import part_of
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import Operation, RankRecord

#: Those who stand with it in one operation are at most one in so many ranks.
_HARDLY = 10
#: So many groups that stand are looked at: a rank is member of a handful.
_MOST = 16


def waits_for_alone(found: Waits, rank: int, dumps: Mapping[int, RankRecord]) -> bool:
    """Whether all that waits, waits in the end for this rank without a dump, and two groups do so by themselves."""
    if any(
        one.is_transfer or not one.group.proven or one.absent or not {rank}.issuperset(one.unknown)
        for one in found.gatherings
    ):
        return False
    standing = [one for one in found.gatherings if one.unknown and one.group.completions and one.operation is not None]
    return any(_are_apart(first, then, rank, dumps) for first, then in permutations(standing[:_MOST], 2))


def is_lost_by_no_chance(
    found: Waits, rank: int, groups: Iterable[ProcessGroup], dumps: Mapping[int, RankRecord]
) -> bool:
    """Whether all others of many ranks left dumps, and what may stand of itself instead, an operation to which all but this one
    have come, has few members: so that a dump which is lost by chance is hardly of one of them. What comes behind such an
    operation does not stand of itself: this one would have gone through that to come to it."""
    ranks = {one for group in groups if group.proven for one in group.ranks}
    if ranks - set(dumps) != {rank} or not all(one.group.completions for one in found.gatherings):
        return False
    free = [one for one in found.gatherings if one.unknown and not one.held and not one.absent]
    if len(free) > _MOST:
        return False
    alone = [one for one in free if not any(_is_behind(one, other, dumps) for other in free if other is not one)]
    return _HARDLY * max((len(one.waiting) + 1 for one in alone), default=len(ranks)) <= len(ranks)


def _is_behind(then: Gathering, first: Gathering, dumps: Mapping[int, RankRecord]) -> bool:
    """Whether all who stand in the one have been through the other, and all who stand in the other issued the one after it,
    each in its own groups of the same parts: so this is the order of the program, which the rank without a dump runs, too."""
    passed = ((_like(first, dumps[front.rank]), front) for front in then.fronts)
    ahead = ((_like(then, dumps[front.rank]), front) for front in first.fronts)
    return all(one is not None and _is_done(one) and one.record < front.record for one, front in passed) and all(
        one is not None and one.record > front.record >= 0 for one, front in ahead
    )


def _are_apart(first: Gathering, then: Gathering, rank: int, dumps: Mapping[int, RankRecord]) -> bool:
    """Whether the two have this member in common and no other, and the first, which ranks issue before, holds up nobody who
    stands in it, nor does the other come before it."""
    if set(first.group.ranks) & set(then.group.ranks) != {rank}:
        return False
    passed = [_like(then, dumps[front.rank]) for front in first.fronts]
    before = [_like(first, dumps[front.rank]) for front in then.fronts]
    return all(
        [
            one is not None and _is_done(one) and one.record > front.record
            for one, front in zip(passed, first.fronts, strict=True)
        ]
        + [
            one is not None and _is_done(one) and one.record < front.record
            for one, front in zip(before, then.fronts, strict=True)
        ]
    )


def _like(gathering: Gathering, dump: RankRecord) -> Operation | None:
    """The collective that plays the same part in a group of another rank: it has the same number."""
    operation = gathering.operation
    parts = {part_of(member.record) for member in gathering.group.members.values() if member.record}
    same: Sequence[Operation] = [
        one
        for record in dump.groups
        if part_of(record) in parts
        for one in (*record.recent, *record.pending)
        if operation is not None and (one.name, one.sequence) == (operation.name, operation.sequence)
    ]
    return same[0] if len(same) == 1 else None


def _is_done(operation: Operation) -> bool:
    return operation.state == "completed"
