"""Transfers that a recorder counts and does not describe (gloo's): who may wait in one, and who left one out, by how many were
counted between one collective and the next.

A rank with nothing outstanding that never came to a collective may wait for such a transfer. Who went on to the collective has
counted in this round what it counted in each one before, unless it is the one that left some out.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.hang import Hang
from neuron_doctor.engine.process_groups import Member, ProcessGroup
from neuron_doctor.engine.recorder import GroupRecord, Operation, RankRecord, named_ranks

#: So many earlier rounds that are alike tell what belongs to one; and so many, that one which lacks some is odd.
_ALIKE, _ODD = 2, 3


def takes_part(dump: RankRecord) -> bool:
    """Whether a rank issued transfers that its dump counts only."""
    return any(map(_counts_some, dump.groups))


def _counts_some(group: GroupRecord) -> bool:
    return any(one.skipped > 0 for one in (*group.recent, *group.pending))


def of_unseen_transfers(hang: Hang, rank: int, here: Gathering) -> Blame | None:
    """What is said instead of convicting a rank that never came to `here` and may wait in such a transfer: the one that left
    some out, by all counts; else nobody. None where it can wait in none."""
    groups = [g for g in hang.groups if (m := g.members.get(rank)) and m.record and _counts_some(m.record)]
    if not groups:
        return None
    lacks = {peer: lacking for group in groups for peer, lacking in _of_those_ahead(group, rank)}
    short = tuple(one for one, lacking in lacks.items() if lacking)
    if len(short) == 1 < len(lacks) and None not in lacks.values():
        told = "counted fewer transfers in its last round than in each one before, and its peers as many as ever"
        return Blame("p2p-missing", told, short, gathering=here, about_ranks=True)
    near = {peer for group in groups for peer in group.members} - {rank}
    others = sorted(peer for peer in near if hang.is_idle(peer))
    if not others and not any(lacking is not False for lacking in lacks.values()):
        return None  # all that others owe it in this round they have issued
    told = f"never issued {here.title}, and may wait in a transfer, which this recorder counts and does not show"
    told += f"; so may {named_ranks(others)}" if others else ""
    return Blame("undecided", told, members=(rank,), suspects=(rank,), gathering=here, about_ranks=True)


def _of_those_ahead(group: ProcessGroup, rank: int) -> Iterator[tuple[int, bool | None]]:
    """The members of a group that take part in its transfers and went on to a collective to which a rank never came; each with
    whether it lacks some."""
    ordinal = group.members[rank].issued + 1
    for member in group.members.values():
        if member.issued >= ordinal and member.record and _counts_some(member.record):
            yield member.rank, _lacks(member, ordinal)


def _lacks(member: Member, ordinal: int) -> bool | None:
    """Whether a rank issued fewer transfers before this collective than before each earlier one of its sort; None where those
    differ, or are few, or it issued more."""
    operation = member.at(ordinal)
    if operation is None or operation.skipped < 0:
        return None
    before = [one.skipped for one in _like(member, operation)]
    fewest = _ODD if before and operation.skipped < before[0] else _ALIKE
    if len(before) < fewest or len(set(before)) > 1 or operation.skipped > before[0]:
        return None
    return operation.skipped < before[0]


def _like(member: Member, operation: Operation) -> Iterator[Operation]:
    for one in member.window:
        same = (one.name, one.inputs, one.dtype) == (operation.name, operation.inputs, operation.dtype)
        if same and one.number < operation.number and one.skipped >= 0:
            yield one
