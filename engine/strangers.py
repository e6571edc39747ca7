"""Transfers with a rank that their own never had to do with before: who waits behind one of them is no reason of a hang."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.hang import Hang, is_first_contact
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import SEND, named_ranks
from neuron_doctor.engine.transfer_books import may_be_misdirected

#: What is told of ranks of a circle by the order of what they issued, which one transfer that went elsewhere changes for all.
_BY_ORDER = frozenset({"p2p-missing", "p2p-order", "order-mismatch"})


def is_out_of_habit(hang: Hang, gathering: Gathering, rank: int) -> bool:
    """Whether a rank waits for a peer that it never exchanged anything with, though it did with others."""
    member = gathering.group.members.get(rank)
    past = member.record.transfers if member and member.record else ()
    return bool(past) and is_first_contact(hang, gathering, rank)


def without_victims_of_strangers(hang: Hang, blames: Iterable[Blame]) -> list[Blame]:
    """The blames of a circle of waits. Where ranks of it exchange something with a stranger, who has no end for it, they are what
    is odd about it, as are those who did with one peer what another has an end of: of those whom their order convicts only they
    stay, and where none of them is, nobody does."""
    return [_without_victims(hang, one) if one.culprits and one.verdict in _BY_ORDER else one for one in blames]


def _without_victims(hang: Hang, one: Blame) -> Blame:
    strange = _strangers(hang) | may_be_misdirected(hang.groups, hang.gaps)
    if not strange or strange.issuperset(one.culprits):
        return one
    odd = tuple(rank for rank in one.culprits if rank in strange)
    if odd:
        return replace(one, verdict="p2p-mismatch", culprits=odd)
    told = f"{one.told}; and {named_ranks(sorted(strange))} exchanged something with a rank that has no end for it"
    return replace(one, told=told, culprits=(), members=tuple(sorted({*one.members, *one.culprits, *strange})))


def _strangers(hang: Hang) -> set[int]:
    """The ranks that wait for a stranger who never came, or sent to one something of which it knows nothing."""
    waiting = {
        rank
        for gathering in hang.waits.gatherings
        if gathering.is_transfer and gathering.absent
        for rank in gathering.waiting
        if is_out_of_habit(hang, gathering, rank)
    }
    return waiting.union(*map(_senders_to_strangers, hang.groups))


def _senders_to_strangers(group: ProcessGroup) -> set[int]:
    """The ranks that sent once to one that has no end of any transfer between the two, and more often to others: where a message
    is small, it is gone before anybody receives it."""
    found = set()
    for rank, member in group.members.items():
        sent = [pair for pair in (member.record.pairs if member.record else ()) if pair.kind == SEND]
        alone = [pair for pair in sent if pair.times == 1 and any(other.times > 1 for other in sent)]
        found |= {rank for pair in alone if _knows_nothing(group, rank, pair.target)}
    return found


def _knows_nothing(group: ProcessGroup, rank: int, target: int) -> bool:
    """Whether a rank whose dump tells all that it exchanged has no end of a transfer with another."""
    peer = group.global_rank(target)
    other = group.members.get(-1 if peer is None else peer)
    if other is None or not other.dump.whole:
        return False
    ends = {group.global_rank(end) for pair in (other.record.pairs if other.record else ()) for end in pair[1:3]}
    return rank not in ends
