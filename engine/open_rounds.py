"""Who left out a transfer in the middle of a round that never ended: it did just what it did in the round before, or what a rank
of the same program did in this one, but for a transfer that another one waits for.

What is sent next is taken for what was left out, so that all later transfers between the two meet those before: both ends stop
at the last one, far behind the gap, and each waits for the other as if they had deadlocked by their order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.order_vote import Part, part_of
from neuron_doctor.engine.recorder import RECEIVE, SEND, GroupRecord, RankRecord, ranks_of
from neuron_doctor.engine.round_books import all_described_from

#: So many transfers side by side are left out at most: those of one micro-batch.
_MOST = 2
#: So many that are as ever tell that a rank did as ever.
_TELLING = 3
#: Of a circle of more ranks it is not asked; and so many ranks of the same program are asked what they did.
_MANY, _ASKED = 64, 8
#: Beyond all records of a dump.
_NEVER = 1 << 62

#: What an end of a transfer is in the program: its part, its kind, and the ends within the group.
_End = tuple[Part, str, int, int]
#: The transfers of a rank from a collective on, in their order of issue; None where the dump tells only that there was one.
_Course = Sequence[_End | None]
#: By rank, the dumps of all that run the same program, as far as sorts of transfers tell.
Alike = Mapping[int, Sequence[RankRecord]]
#: A collective in the program: its part, its name, its number.
_Place = tuple[Part, str, int]


def left_out_midway(
    cycle: Sequence[Gathering], ranks: Sequence[int], dumps: Mapping[int, RankRecord], alike: Alike
) -> tuple[int, ...]:
    """The one rank of a circle of waits of which this is so, where it is known of all others that they did as ever; else ().
    `alike` is `of_one_program` of these dumps."""
    if len(ranks) > _MANY or not any(_awaited(cycle, rank) for rank in ranks):
        return ()
    gaps = {rank: _gap(rank, dumps, alike) for rank in ranks}
    short = [rank for rank, gap in gaps.items() if gap]
    if len(short) != 1 or None in gaps.values():
        return ()
    [rank] = short
    return (rank,) if not _awaited(cycle, rank).isdisjoint(gaps[rank] or ()) else ()


def did_more(gathering: Gathering, rank: int, dumps: Mapping[int, RankRecord], alike: Alike) -> bool:
    """Whether a rank that waits for its partner in a transfer issued such an end more often in that round than a rank of the same
    program did, or it in the round before: then its partner may lack nothing. False where neither is known."""
    one, member = gathering.operation, gathering.group.members.get(rank)
    if rank not in dumps or one is None or member is None or member.record is None:
        return False
    end = (part_of(member.record), one.kind, one.source, one.target)
    waits = [o.record for o in member.record.pending_transfers if (o.kind, o.source, o.target) == end[1:]]
    beside = _beside_round(dumps[rank], max(waits), alike.get(rank, ())) if waits else ()
    told = next((pair for pair in (*beside, *_before(dumps[rank])) if None not in pair[1]), None)
    return told is not None and list(told[0]).count(end) > list(told[1]).count(end)


def _awaited(cycle: Sequence[Gathering], rank: int) -> set[_End]:
    """The ends of transfers that others of the circle wait for and a rank never issued."""
    found = set()
    for gathering in cycle:
        one, member = gathering.operation, gathering.group.members.get(rank)
        if gathering.is_transfer and one and member and member.record and rank in gathering.absent:
            found.add((part_of(member.record), RECEIVE if one.kind == SEND else SEND, one.source, one.target))
    return found


def _gap(rank: int, dumps: Mapping[int, RankRecord], alike: Alike) -> tuple[_End, ...] | None:
    """What a rank left out; () where it did all as ever; None where that is not known, or more is different. Who did all as ranks
    beside it did it needs no past, and one of them that differs otherwise runs another program."""
    if rank not in dumps:
        return None
    beside = (_compared(now, usual) for now, usual in _beside(dumps[rank], alike.get(rank, ())))
    told = [gap for gap in beside if gap is not None]
    if not told:
        told = [gap for now, usual in _before(dumps[rank]) if (gap := _compared(now, usual)) is not None]
    return told[0] if len(set(told)) == 1 else None


def _compared(now: _Course, usual: _Course) -> tuple[_End, ...] | None:
    """What is left out of a course, beside the usual one: () for nothing."""
    at = next((at for at, (one, other) in enumerate(zip(now, usual, strict=False)) if _differ(one, other)), None)
    if at is None:
        told = [one for one in zip(now, usual, strict=False) if None not in one]
        return () if len(told) >= _TELLING and len(now) <= len(usual) else None
    for width in range(1, _MOST + 1):
        behind, rest = now[at:], usual[at + width :]
        if min(len(behind), len(rest)) > width and _is_same(behind, rest):
            otherwise = _is_put_in(now, usual, at) or _is_moved(behind, usual[at:], width)
            return None if otherwise else tuple(one for one in usual[at : at + width] if one)
    return None


def _is_put_in(now: _Course, usual: _Course, at: int) -> bool:
    """Whether what differs may be something more."""
    widths = range(1, min(_MOST + 1, len(now) - at))
    return any(_is_same(now[at + width :], usual[at:]) for width in widths)


def _is_moved(now: _Course, usual: _Course, width: int) -> bool:
    """Whether the first ones of the usual course may have been issued later than usual, as seen in what was issued."""
    first, rest = usual[:width], usual[width:]
    return any(_is_same(now, [*rest[:at], *first, *rest[at:]]) for at in range(1, len(now)))


def _is_same(now: _Course, usual: _Course) -> bool:
    """As far as both go."""
    return not any(_differ(one, other) for one, other in zip(now, usual, strict=False))


def _differ(one: _End | None, other: _End | None) -> bool:
    return one is not None and other is not None and one != other


def of_one_program(dumps: Mapping[int, RankRecord]) -> Alike:
    """By rank: the dumps of those that issued the same sorts of transfers, its own among them."""
    found: dict[frozenset[_End], list[RankRecord]] = defaultdict(list)
    ends = {rank: frozenset(_ends(dump)) for rank, dump in dumps.items()}
    for rank, dump in dumps.items():
        found[ends[rank]].append(dump)
    return {rank: found[own] for rank, own in ends.items()}


def _beside(own: RankRecord, alike: Iterable[RankRecord]) -> Iterator[tuple[_Course, _Course]]:
    """What a rank did since the first collective from which that is known, beside what others of the same program did."""
    places = _places(own)
    for dump in islice((dump for dump in alike if dump is not own), _ASKED):
        theirs = _places(dump)
        for place in sorted(places.keys() & theirs.keys(), key=lambda place: places[place]):
            now, usual = _course(own, places[place]), _course(dump, theirs[place])
            if now and usual:
                yield now, usual
                break


def _beside_round(own: RankRecord, at: int, alike: Iterable[RankRecord]) -> Iterator[tuple[_Course, _Course]]:
    """What a rank did in the round of a place, between two collectives of its largest group, beside what others of the same
    program did between these."""
    mine = _rounds(own)
    first = max((place for place in mine if mine[place] < at), key=lambda place: mine[place], default=None)
    if first is None:
        return
    now = _course(own, mine[first], min((record for record in mine.values() if record > at), default=_NEVER))
    for dump in islice((dump for dump in alike if dump is not own), _ASKED):
        theirs = _rounds(dump)
        ended = min((record for record in theirs.values() if record > theirs.get(first, _NEVER)), default=None)
        usual = _course(dump, theirs[first], ended) if ended is not None else None
        if now and usual:
            yield now, usual


def _rounds(dump: RankRecord) -> dict[_Place, int]:
    """The collectives of the largest group of a rank that it used: between them it does the same again and again."""
    group = _largest(dump)
    ends = group.recent + group.pending if group else ()
    return {(part_of(group), one.name, one.sequence): one.record for one in ends} if group else {}


def _largest(dump: RankRecord) -> GroupRecord | None:
    used = [group for group in dump.groups if group.recent or group.pending]
    return max(used, key=lambda group: len(ranks_of(group.members)), default=None)


def _ends(dump: RankRecord) -> set[_End]:
    """All sorts of transfers that a rank issued."""
    return {(part_of(group), pair.kind, pair.source, pair.target) for group in dump.groups for pair in group.pairs}


def _before(own: RankRecord) -> Iterator[tuple[_Course, _Course]]:
    """What a rank did since the last collective of its largest group, beside what it did in the round before."""
    largest = _largest(own)
    ends = largest.recent + largest.pending if largest else ()
    rounds = [_course(own, one.record, then.record) for one, then in pairwise(ends)]
    usual = next((found for found in reversed(rounds) if found is None or found), None)
    now = _course(own, ends[-1].record) if ends else None
    if now and usual:
        yield now, usual


def _places(dump: RankRecord) -> dict[_Place, int]:
    """The collectives that a dump describes."""
    return {
        (part_of(group), one.name, one.sequence): one.record
        for group in dump.groups
        for one in group.recent + group.pending
    }


def _course(dump: RankRecord, begin: int, end: int = _NEVER) -> _Course | None:
    """The transfers between two places; None where the dump does not tell how many there were."""
    since = all_described_from(dump)
    unknown = _untold(dump, begin, min(since, end)) if since > begin + 1 else 0
    if unknown is None:
        return None
    moved = sorted(
        (one.record, (part_of(group), one.kind, one.source, one.target))
        for group in dump.groups
        for one in (*group.transfers, *group.pending_transfers)
    )
    return [*[None] * unknown, *(one for record, one in moved if max(begin + 1, since) <= record < end)]


def _untold(dump: RankRecord, begin: int, since: int) -> int | None:
    """How many transfers were between two places of which none is described: all that is not a collective, where batches add no
    records of their own."""
    inside = 0
    for group in dump.groups:
        window = group.recent + group.pending
        if group.length > len(window) and (not window or window[0].record > begin):
            return None
        if any(one.batch >= 0 for one in (*group.transfers, *group.pending_transfers)):
            return None
        inside += sum(begin < one.record < since for one in window)
    return since - begin - 1 - inside
