"""The one rank without a dump that several groups wait for, where nothing else can hold up all of them.

That a dump is missing proves nothing: it may be lost, and one of those that left theirs may be stuck in a way that no dump shows.
Then that one holds up one group, and the others only through the rank without a dump, which waits in that group. So two groups
must stand that have no other member in common, and neither may be what the other waits for: ranks beside them went through
both collectives in the same order, and those who stand in the first of them went on to complete the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

from neuron_doctor.engine.gatherings import Gathering, Waits
from neuron_doctor.engine.order_vote import part_of
from neuron_doctor.engine.recorder import Operation, RankRecord

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
