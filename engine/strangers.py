"""Transfers with a rank that their own never had to do with before: who waits behind one of them is no reason of a hang."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.hang import Hang, is_first_contact
from neuron_doctor.engine.recorder import named_ranks

#: What is told of ranks of a circle by the order of what they issued, which one transfer that went elsewhere changes for all.
_BY_ORDER = frozenset({"p2p-missing", "p2p-order", "order-mismatch"})


def is_out_of_habit(hang: Hang, gathering: Gathering, rank: int) -> bool:
    """Whether a rank waits for a peer that it never exchanged anything with, though it did with others."""
    member = gathering.group.members.get(rank)
    past = member.record.transfers if member and member.record else ()
    return bool(past) and is_first_contact(hang, gathering, rank)


def without_victims_of_strangers(hang: Hang, blames: Iterable[Blame], ranks: Iterable[int]) -> list[Blame]:
    """The blames of a circle of waits of these ranks. Where some exchange something with a stranger, who has no end for it, they
    are what is odd about it, as are those who did with one peer what another has an end of: of those whom their order convicts
    only they stay, and where none of them is, nobody does."""
    ranks = set(ranks)
    return [_without_victims(hang, one, ranks) if one.culprits and one.verdict in _BY_ORDER else one for one in blames]


def _without_victims(hang: Hang, one: Blame, ranks: set[int]) -> Blame:
    # whom its order convicts has not finished its round: what it has no end for may come yet
    strange = {rank for rank in ranks if _strangers_of(hang, rank).difference(one.culprits)}
    strange |= hang.may_be_misdirected & ranks
    if not strange or strange.issuperset(one.culprits):
        return one
    odd = tuple(rank for rank in one.culprits if rank in strange)
    if odd:
        return replace(one, verdict="p2p-mismatch", culprits=odd)
    told = f"{one.told}; and {named_ranks(sorted(strange))} exchanged something with a rank that has no end for it"
    return replace(one, told=told, culprits=(), members=tuple(sorted({*one.members, *one.culprits, *strange})))


def _strangers_of(hang: Hang, rank: int) -> set[int]:
    """The strangers for which a rank waits and who never came, or to which it sent something of which they know nothing."""
    waits_for = {
        peer
        for gathering in hang.waits.by_rank.get(rank, ())
        if gathering.is_transfer and gathering.absent and rank in gathering.waiting
        if is_out_of_habit(hang, gathering, rank)
        for peer in set(gathering.ends or ()) - {rank}
    }
    return waits_for | hang.sent_to_strangers.get(rank, set())
