"""Who left out transfers that a partner waits for, by its own round before and by what ranks of the same program did in this one.

Rings that hold two rounds tell no habit. But where a rank came to a collective with fewer transfers than in the round before, and
others that had done the same as it did it all again, and a partner waits for just what is lacking, it is the odd one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.order_vote import Part, part_of
from neuron_doctor.engine.process_groups import Member
from neuron_doctor.engine.recorder import RECEIVE, SEND, RankRecord
from neuron_doctor.engine.round_books import all_described_from

#: So many collectives back the round before is looked for: frameworks reduce in several buckets.
_BACK = 16

#: What an end of a transfer is in the program: its part, its kind, and the ends within the group.
_End = tuple[Part, str, int, int]
_Round = Counter[_End]


def short_of_siblings(cycle: Sequence[Gathering]) -> tuple[int, ...]:
    """The ranks of a circle of waits of which this is so; () where it is not so of all that its transfers lack, and that wait in
    no transfer themselves, or of several that exchange with one another: which of those was told of the right length?"""
    held = {rank for gathering in cycle if gathering.is_transfer for rank in gathering.waiting}
    transfers = [gathering for gathering in cycle if gathering.is_transfer and set(gathering.absent) - held]
    short: set[int] = set()
    for group in {id(gathering.group): gathering.group for gathering in transfers}.values():
        left_out = {rank: found for rank in group.members if (found := _left_out(cycle, rank))}
        here = [gathering for gathering in transfers if gathering.group is group]
        if len(left_out) != 1 or not all(
            _lacking(gathering) in left_out.get(gathering.absent[0], ()) for gathering in here
        ):
            return ()
        short.update(left_out)
    return tuple(sorted(short))


def _lacking(gathering: Gathering) -> _End | None:
    """The end of a transfer that others wait for."""
    one, member = gathering.operation, gathering.group.members[gathering.absent[0]]
    if one is None or member.record is None:
        return None
    return part_of(member.record), RECEIVE if one.kind == SEND else SEND, one.source, one.target


def _left_out(cycle: Sequence[Gathering], rank: int) -> set[_End]:
    """What a rank left out of the round that ends with the collective in which it waits; nothing where that is not told."""
    here = [gathering for gathering in cycle if not gathering.is_transfer and rank in gathering.waiting]
    first = min(here, key=lambda gathering: _place(gathering, rank), default=None)
    if first is None:
        return set()
    group, at = first.group, first.ordinal
    own = group.members[rank]
    before = next((n for n in range(at - 1, at - _BACK, -1) if _round(own, n)), at)
    usual, now = _round(own, before), _round(own, at)
    if not usual or now is None or not now < usual:
        return set()
    alike = [member for member in group.members.values() if member is not own and _run_alike(own, member, before)]
    kept = sum(_round(member, at) == usual for member in alike)
    return set(usual - now) if kept and 2 * kept >= len(alike) else set()


def _run_alike(one: Member, other: Member, ordinal: int) -> bool:
    """Whether two ranks came to a collective with as many operations, and the same transfers as far as both describe them."""
    ends = [one.at(ordinal), other.at(ordinal)]
    if not ends[0] or not ends[1] or ends[0].record != ends[1].record:
        return False
    since = max(all_described_from(one.dump), all_described_from(other.dump))
    moved = [{move for move in _moves(member.dump) if since <= move[0] < ends[0].record} for member in (one, other)]
    return moved[0] == moved[1] != set()


def _place(gathering: Gathering, rank: int) -> int:
    return min(front.record for front in gathering.fronts if front.rank == rank)


def _round(member: Member, ordinal: int) -> _Round | None:
    """What a rank transferred between a collective of a group and the one before; None where its dump does not tell all of it."""
    ends = [member.at(ordinal - 1), member.at(ordinal)]
    begin, end = ((one.record if one else -1) for one in ends)
    if begin < all_described_from(member.dump) or begin < 0 or end < 0:
        return None
    return Counter(move for record, move in _moves(member.dump) if begin < record < end)


def _moves(dump: RankRecord) -> Iterator[tuple[int, _End]]:
    """All transfers of a rank that its dump describes, by their places."""
    for record in dump.groups:
        for one in (*record.transfers, *record.pending_transfers):
            yield one.record, (part_of(record), one.kind, one.source, one.target)
