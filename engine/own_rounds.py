"""Ranks whose last round of transfers is not what all their earlier rounds were: it lacks some, or has another order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import COLLECTIVE, RankRecord

#: So many rounds that are alike tell what belongs to one.
_ALIKE = 2
#: A turn of transfers that was taken so often is a habit.
_TURNS = 3
_PAIR = 2
#: So many transfers are several rounds of any program.
_MANY = 16
#: Beyond all records of a dump.
_NEVER = 1 << 62

_Transfer = tuple[str, str, int, int]
_Round = tuple[_Transfer, ...]


class _Course(NamedTuple):
    """The transfers of a rank between its collectives of the largest group, those without any left out: `rounds`; and
    those since the last one, `begun`."""

    rounds: list[_Round]
    begun: _Round


def short_of_a_round(groups: Iterable[ProcessGroup], dumps: Mapping[int, RankRecord], ranks: Iterable[int]) -> set[int]:
    """Of these ranks, those that issued fewer transfers between two of their last collectives of the largest group than
    between any others, which were all alike, and none that these had not. Where a partner of such a rank did so too, it is
    open which of all were told of the length that was meant."""
    listed = list(groups)

    def is_short(rank: int) -> bool:
        return rank in dumps and _is_short(_course(listed, dumps[rank]).rounds, dumps[rank])

    return {rank for rank in ranks if is_short(rank) and not any(map(is_short, _partners(listed, rank)))}


def _partners(groups: Iterable[ProcessGroup], rank: int) -> set[int]:
    """With whom a rank exchanges, by its dump."""
    records = [(group, m.record) for group in groups if (m := group.members.get(rank)) and m.record]
    ends = {group.global_rank(end) for group, record in records for pair in record.pairs for end in pair[1:3]}
    return {end for end in ends if end is not None} - {rank}


def _is_short(rounds: list[_Round], dump: RankRecord) -> bool:
    """Of few other rounds that are described, all that the dump counts must be made."""
    found = [Counter(one) for one in rounds]
    at = next((at for at, one in enumerate(found) if one != found[0]), 0)
    alike = at and found[at] < found[0] and all(one == found[0] for one in found[at + 1 :])
    return bool(alike) and (len(found) > _ALIKE or _make_up(dump, found[0], found[0] - found[at]))


def _make_up(dump: RankRecord, one: Counter[_Transfer], lacking: Counter[_Transfer]) -> bool:
    """Whether all transfers of a dump are those of several such rounds, without these."""
    totals = Counter(
        {(group.name, kind, source, target): n for group in dump.groups for kind, source, target, n in group.pairs}
    )
    totals += lacking
    times = {totals[transfer] // each for transfer, each in one.items()}
    return len(times) == 1 and min(times) > _ALIKE and totals == Counter({t: n * min(times) for t, n in one.items()})


def left_their_order(groups: Iterable[ProcessGroup], dumps: Mapping[int, RankRecord], ranks: Iterable[int]) -> set[int]:
    """Of these ranks, those that issued the transfers of their last round in another order than in all earlier ones, which
    were all alike; empty where this is not known of one of the others, that it kept its order."""
    listed = list(groups)
    kept = {rank: _keeps_its_order(listed, dumps[rank]) if rank in dumps else None for rank in ranks}
    return set() if None in kept.values() else {rank for rank, same in kept.items() if not same}


def _keeps_its_order(groups: Iterable[ProcessGroup], dump: RankRecord) -> bool | None:
    """By its rounds between collectives; where too few of them are described, by what it repeated. None where neither tells."""
    course = _course(groups, dump)
    return _keeps_order(course) if len(course.rounds) >= _ALIKE else _keeps_repeating(_transfers_of(dump))


def _transfers_of(dump: RankRecord) -> list[_Transfer]:
    """All transfers in their order of issue, from where the dump describes those of every group."""
    moved: list[tuple[int, _Transfer]] = []
    start = 0
    for group in dump.groups:
        described = (*group.transfers, *group.pending_transfers)
        moved += [(one.record, (group.name, one.kind, one.source, one.target)) for one in described]
        if described and sum(pair.times for pair in group.pairs) > len(described):
            start = max(start, min(one.record for one in described))
    return [what for record, what in sorted(moved) if record >= start]


def _keeps_repeating(moved: Sequence[_Transfer]) -> bool | None:
    """Whether a rank that issued the same transfers in turn, several times, still does; False where the last turn has them in
    another order, or left some out, None where it repeated nothing, or has others now."""
    turns = [(_repeats_up_to(moved, length), -length) for length in range(1, len(moved) // _TURNS + 1)]
    end, length = max(turns, default=(0, 0))
    length = -length
    if not length or end < _TURNS * length:
        return None
    if end == len(moved):
        return True
    return False if len(moved) - end <= length and set(moved[end:]) <= set(moved[:length]) else None


def _repeats_up_to(moved: Sequence[_Transfer], length: int) -> int:
    return next((at for at in range(length, len(moved)) if moved[at] != moved[at - length]), len(moved))


def alone_out_of_order(groups: Iterable[ProcessGroup], dumps: Mapping[int, RankRecord]) -> tuple[int, ...]:
    """The one rank that issued the transfers of its last round in another order than before, where one that runs the same
    program kept its order, and of no other is it known that it did not."""
    listed = list(groups)
    courses = {rank: _course(listed, dump) for rank, dump in dumps.items()}
    left = [rank for rank, course in courses.items() if _keeps_order(course) is False]
    if len(left) != 1:
        return ()
    usual = _ends(courses[left[0]])
    return tuple(left) if any(_keeps_order(one) and _ends(one) == usual for one in courses.values()) else ()


def _ends(course: _Course) -> list[tuple[str, int, int]]:
    """The transfers of a usual round, by their ends within the group."""
    return [transfer[1:] for transfer in course.rounds[0]]


def _keeps_order(course: _Course) -> bool | None:
    """None where this is not known, or what differs is no order."""
    found = course.rounds
    at = next((at for at, one in enumerate(found) if one != found[0]), len(found))
    if at < _ALIKE or any(one != found[0] for one in found[at + 1 :]):
        return None
    if at < len(found):
        return None if Counter(found[at]) != Counter(found[0]) else False
    begun = course.begun
    return None if Counter(begun) - Counter(found[0]) else begun == found[0][: len(begun)]


def _course(groups: Iterable[ProcessGroup], dump: RankRecord) -> _Course:
    """What a rank did; a ring may have cut the first round short, so it is left out."""
    mine = [(g, m) for g in groups if (m := g.members.get(dump.rank)) and m.window]
    if not mine:
        return _Course([], ())
    _, member = max(mine, key=lambda one: len(one[0].ranks))
    ends = [operation.record for operation in member.window]
    moved = sorted(
        (operation.record, (group.name, operation.kind, operation.source, operation.target))
        for group in dump.groups
        for operation in (*group.transfers, *group.pending_transfers)
    )
    since = moved[0][0] if moved else 0

    def between(begin: int, end: int) -> _Round:
        return tuple(what for record, what in moved if begin < record < end)

    rounds = [between(begin, end) for begin, end in pairwise(ends) if begin >= since]
    return _Course([one for one in rounds if one], between(ends[-1], _NEVER))


def short_of_its_partner(group: ProcessGroup) -> tuple[int, ...]:
    """Of two ranks that are alone in a group, and use it for transfers only, the one whose recorder counts one less of many,
    where both have gone on to the same collective: what one end sends, the other receives. Where the ends count
    differently because they batch differently, they do so in every round, and lie further apart."""
    ends = [member for member in group.members.values() if member.record]
    counts = {
        m.rank: m.record.enqueued for m in ends if m.record and not m.record.length and m.record.enqueued is not None
    }
    if len(group.ranks) != _PAIR or len(counts) != _PAIR or not have_come_to_one_place(m.dump for m in ends):
        return ()
    least, most = sorted(counts.values())
    return tuple(rank for rank, count in counts.items() if count == least) if _MANY <= most == least + 1 else ()


def have_come_to_one_place(dumps: Iterable[RankRecord]) -> bool:
    """Whether the last that each of these ranks issued is the same collective."""
    lasts = [dump.last_issued() for dump in dumps]
    places = {last and (last[0].name, last[1].kind, last[1].sequence) for last in lasts}
    return len(places) == 1 and all(last and last[1].kind == COLLECTIVE for last in lasts)
