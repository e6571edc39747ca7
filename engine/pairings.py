"""Which transfers of two ranks belong together where their rings have lost the first ones.

The n-th that is open on one end is not the n-th that is open on the other: those of a batch complete together, so an end that has
its data may still be open. Both ends agree on what stands between two collectives that both have issued: so they are counted from
the last such collective before the open ones, else back from the first one after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from neuron_doctor.engine.process_groups import Member, ProcessGroup
from neuron_doctor.engine.recorder import PENDING, RECENT, GroupRecord, Operation, RankRecord


class Anchor(NamedTuple):
    """A collective that two ranks have issued: by rank, its record there. `ahead`: it stands after what is open."""

    records: Mapping[int, int]
    ahead: bool


def anchor_of(
    groups: Iterable[ProcessGroup], group: ProcessGroup, ends: tuple[int, int], open_: Mapping[int, Sequence[Operation]]
) -> Anchor | None:
    """What the transfers of `group` between two ranks can be counted from; None where nothing serves. `open_`: by rank, the open
    transfers of the group."""
    members = [group.members[rank] for rank in ends]
    records = [member.record for member in members if member.record]
    if len(records) < len(ends) or not all(open_.get(rank) for rank in ends):
        return None
    first = {rank: min(one.place for one in open_[rank]) for rank in ends}
    last = {rank: max(one.place for one in open_[rank]) for rank in ends}
    shared = list(_shared(groups, ends))
    before = [one for one in shared if all(one[rank] < first[rank] for rank in ends)]
    if before:
        nearest = max(before, key=lambda one: one[ends[0]])
        if all(_reaches(m.record, m.dump, nearest[m.rank]) for m in members if m.record):
            return Anchor(nearest, ahead=False)
    after = [one for one in shared if all(one[rank] > last[rank] for rank in ends)]
    if after and all(len(record.pending_transfers) < PENDING for record in records):
        return Anchor(min(after, key=lambda one: one[ends[0]]), ahead=True)
    return None


def settled(member: Member, anchor: Anchor, kind: str, operation: Operation, open_: Sequence[Operation]) -> int:
    """How many transfers like this one, of that kind, a rank has behind it, counted from the anchor; below 0 where that stands
    ahead of them. `open_`: those of them that are open."""
    record = anchor.records[member.rank]
    if anchor.ahead:
        return -sum(1 for one in open_ if one.place < record)
    like = (kind, operation.source, operation.target)
    done = member.record.transfers if member.record else ()
    return sum(1 for one in done if (one.kind, one.source, one.target) == like and one.place > record)


def _shared(groups: Iterable[ProcessGroup], ends: tuple[int, int]) -> Iterator[dict[int, int]]:
    """The collectives that both have issued, by the record on each."""
    for group in groups:
        one, other = (group.members.get(rank) for rank in ends)
        if one is None or other is None:
            continue
        for operation in one.window:
            if (same := other.at(one.base + operation.number)) is not None:
                yield {ends[0]: operation.record, ends[1]: same.record}


def _reaches(record: GroupRecord, dump: RankRecord, back_to: int) -> bool:
    """Whether the listed transfers of a group are all since then."""
    if dump.whole or len(record.transfers) < RECENT:
        return True
    return record.transfers[0].place < back_to
