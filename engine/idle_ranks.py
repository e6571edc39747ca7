"""Ranks with nothing outstanding, by recorders that learn of no completion: whether they may wait in what they issued.

Of such recorders, some mark as retired whatever is over, be it complete or failed (gloo); others mark everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import islice

from neuron_doctor.engine.gatherings import lost_entries
from neuron_doctor.engine.hang import Hang
from neuron_doctor.engine.process_groups import Member, ProcessGroup
from neuron_doctor.engine.recorder import (
    COLLECTIVE,
    RECEIVE,
    SEND,
    GroupRecord,
    Operation,
    Pair,
    RankRecord,
    named_ranks,
    ranks_text,
)

#: So many ranks that stand alike are named.
_NAMED = 64


def show_ends(dumps: Mapping[int, RankRecord]) -> bool:
    """Whether recorders that learn of no completion show what is not over. Those that do (gloo) record no transfers."""
    return any(group.pending for dump in dumps.values() for group in dump.groups if not group.completions)


def silent_peers(hang: Hang, rank: int) -> tuple[int, ...]:
    """The ranks without a dump that take part in what a rank has issued of late, as far as its dump describes it."""
    used = (
        group
        for group in hang.groups
        if group.proven and (member := group.members.get(rank)) and member.record and member.record.last_record() >= 0
    )
    return tuple(sorted({peer for group in used for peer in group.ranks if peer not in hang.dumps}))


def is_through(hang: Hang, rank: int) -> bool:
    """Whether all that a rank issued is over, and its last operation on its peers too, by recorders that show what is
    not over: here, of others. A rank whose wait failed looks like that as well, but then its peers still stand in it."""
    if not show_ends(hang.dumps) or any(group.pending or group.pending_transfers for group in hang.dumps[rank].groups):
        return False
    last = hang.dumps[rank].last_issued()
    group = _group_of(hang, rank, last[0]) if last else None
    if last is None or group is None or last[1].kind != COLLECTIVE:
        return False
    ordinal = group.members[rank].base + last[1].number
    return all(
        not member.record or not member.record.pending or member.base + member.record.pending[0].number > ordinal
        for member in group.members.values()
    )


def may_wait(hang: Hang, rank: int) -> str:
    """What the rank may wait in, of what all have come to or no dump shows; empty where nothing says so."""
    if not is_through(hang, rank) and _stands_with_peers(hang, rank):
        return "what all its peers issued"
    others = _in_unseen_transfers(hang)
    if others:
        return f"a transfer, which this recorder does not show: one of ranks {ranks_text(others)} does not"
    if is_through(hang, rank):
        return ""
    others = _uncounted(hang, rank)
    if others:
        return f"a transfer with {named_ranks(others)}: the recorders have lost entries, so these cannot be counted"
    others = with_the_same_end(hang, rank)
    return f"what it issued last, as {named_ranks(others)} did, and what completed on the others only" if others else ""


def with_the_same_end(hang: Hang, rank: int, most: int = _NAMED) -> tuple[int, ...]:
    """Other idle ranks that issued nothing after the same collective: so many at most."""
    last = hang.dumps[rank].last_issued()
    if last is None or last[1].kind != COLLECTIVE:
        return ()
    group = _group_of(hang, rank, last[0])
    others = (peer for peer in group.members if peer != rank and hang.is_idle(peer)) if group else ()
    return tuple(islice((peer for peer in others if _stands_at(hang.dumps[peer], *last)), most))


def _stands_with_peers(hang: Hang, rank: int) -> bool:
    """Whether all its peers stand where it does.

    So it is where all members of a group have issued as much in it and equally much since, as hosts do that run ahead of
    a device; and where the last operation that a rank issued is also the last of all who take part in it, or one of them
    left no dump.
    """
    if any(rank in group.members and _equally_far(group) for group in hang.groups):
        return True
    last = hang.dumps[rank].last_issued()
    if last is None:
        return False
    record, operation = last
    group = _group_of(hang, rank, record)
    if group is None:  # its dump contradicts itself: it is in a group that lists others as members
        return True
    ends = (group.global_rank(operation.source), group.global_rank(operation.target))
    peers = [peer for peer in (group.ranks if operation.kind == COLLECTIVE else ends) if peer not in {rank, None}]
    return bool(peers) and all(
        peer not in hang.dumps or _stands_at(hang.dumps[peer], record, operation) for peer in peers
    )


def _in_unseen_transfers(hang: Hang) -> tuple[int, ...]:
    """The idle ranks, where some of them may wait in a transfer that no dump shows: a pipeline leaves ranks unconnected
    by the groups that are seen, beside the world."""
    idle = tuple(sorted(rank for rank in hang.dumps if hang.is_idle(rank)))
    return idle if len(idle) > 1 and show_ends(hang.dumps) and not _are_connected(hang) else ()


def _uncounted(hang: Hang, rank: int) -> tuple[int, ...]:
    """The peers that may not have issued their half of a transfer of this rank, by what rings may have lost; but for those
    that wait for this rank themselves, in the end."""
    behind = hang.waiting_for(rank)
    own = lost_entries(hang.dumps[rank])
    found = set()
    for group in hang.groups:
        member = group.members.get(rank)
        for pair in member.record.pairs if member and member.record else ():
            peer = group.global_rank(pair.target if pair.kind == SEND else pair.source)
            other = group.members.get(-1 if peer is None else peer)
            half = _half(other, pair) if other else 0
            if other and other.rank not in behind and (own is None or pair.times + own > half):
                found.add(other.rank)
    return tuple(sorted(found))


def _half(other: Member, pair: Pair) -> int:
    """How many transfers that match those of a pair the other end is seen to have issued."""
    kind = RECEIVE if pair.kind == SEND else SEND
    pairs = other.record.pairs if other.record else ()
    return sum(one.times for one in pairs if one[:3] == (kind, pair.source, pair.target))


def _are_connected(hang: Hang) -> bool:
    """Whether groups smaller than the world lead from any rank to any other, or there are none."""
    smaller = [group for group in hang.groups if 1 < len(group.members) < len(hang.dumps)]
    of_rank: dict[int, list[int]] = defaultdict(list)
    for number, group in enumerate(smaller):
        for rank in group.members:
            of_rank[rank].append(number)
    reached = {min(hang.dumps)}
    ahead, passed = list(reached), set[int]()
    while ahead:
        entered = set(of_rank[ahead.pop()]) - passed
        passed |= entered
        beyond = {rank for number in entered for rank in smaller[number].members} - reached
        reached |= beyond
        ahead += beyond
    return not smaller or len(reached) == len(hang.dumps)


def _group_of(hang: Hang, rank: int, record: GroupRecord) -> ProcessGroup | None:
    return next((g for g in hang.groups if (m := g.members.get(rank)) and m.record is record), None)


def _equally_far(group: ProcessGroup) -> bool:
    windows = [(member, member.window) for member in group.members.values()]
    if len(group.ranks) <= 1 or len(windows) < len(group.ranks) or not all(window for _, window in windows):
        return False
    places = {(member.issued, member.dump.last_record() - window[-1].record) for member, window in windows}
    return len(places) == 1


def _stands_at(dump: RankRecord, record: GroupRecord, operation: Operation) -> bool:
    last = dump.last_issued()
    return (
        last is not None
        and (last[0].name, last[0].members) == (record.name, record.members)
        and (operation.kind != COLLECTIVE or last[1].sequence == operation.sequence)
    )
