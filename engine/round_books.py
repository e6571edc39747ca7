"""Who left out a transfer, told by the books of each round: what ranks sent and received between two collectives that all have
issued, beside what each did in the round before.

Rings forget how often ranks exchanged in all, but the last rounds they still describe. Where hosts run ahead, what a rank left
out is missed at the end of the round only: all later transfers between the two are taken for those before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from neuron_doctor.engine.process_groups import Member, ProcessGroup
from neuron_doctor.engine.recorder import RECEIVE, SEND, GroupRecord, Operation, RankRecord

_TWO = 2
#: Where a ring begins that does not tell how much it has lost.
_UNKNOWN = -2

#: The source and the target of transfers, as recorded.
_Ends = tuple[int, int]
#: The name of the group, the kind, and the ends as recorded.
_Transfer = tuple[str, str, int, int]


class Omission(NamedTuple):
    """A rank that left out transfers with these partners, which have one more each."""

    rank: int
    partners: tuple[int, ...]


class _Cut(NamedTuple):
    """Collectives of a group that all ranks are in (`shared`), which all have issued: for each rank their records, in order.
    What the ranks transferred behind the first is all described."""

    shared: ProcessGroup
    records: dict[int, list[int]]

    def rounds(self) -> range:
        return range(1, min(map(len, self.records.values()), default=0))


class Gap(NamedTuple):
    """How many more were sent than received between two ranks of a group in one round (number `at` of the cut), by the ends as
    recorded, where they differ."""

    group: ProcessGroup
    cut: _Cut
    at: int
    found: Counter[_Ends]

    def ends(self, recorded: _Ends) -> tuple[int, int]:
        """The source and the target as global ranks."""
        source, target = map(self.group.global_rank, recorded)
        return (-1 if source is None else source), (-1 if target is None else target)

    @property
    def ranks(self) -> set[int]:
        """The two ranks."""
        return set(self.cut.records)

    def round_of(self, rank: int) -> tuple[int, int]:
        """Between which places the round lies on one of the two."""
        places = self.cut.records[rank]
        return places[self.at - 1], places[self.at]


def by_rank(groups: Iterable[ProcessGroup]) -> Mapping[int, list[ProcessGroup]]:
    """The groups whose collectives each rank's dump describes, the largest first."""
    found: dict[int, list[ProcessGroup]] = defaultdict(list)
    for group in sorted(groups, key=lambda one: -len(one.ranks)):
        for rank, member in group.members.items():
            found[rank] += [group] if member.window else []
    return found


def gaps_of_a_round(gaps: Sequence[Gap]) -> Counter[tuple[int, int]]:
    """How many more were sent than received between ranks of a group, source before target, in one round, by all its gaps;
    empty where rounds that do not balance are not the same."""
    if any(_round(gaps, rank) is None for gap in gaps for rank in gap.ranks):
        return Counter()
    return Counter({gap.ends(ends): times for gap in gaps for ends, times in gap.found.items()})


def gaps_of_rounds(groups: Sequence[ProcessGroup]) -> list[Gap]:
    """All that does not balance, of all groups."""
    shared = by_rank(groups)
    return [gap for group in groups for gap in _gaps(group, shared)]


def omissions(gaps: Iterable[Gap], dumps: Mapping[int, RankRecord]) -> list[Omission]:
    """The ranks that left out the transfers which their partners wait for.

    All that does not balance must lack the same rank's end; this rank did in the round before what it did in this one, and
    those transfers too; and no partner did other things than before. Where its own dump does not reach back, all with whom it
    exchanges must have done just what they did before: their round was over, and so they tell what it did.
    """
    found = (_omission(component, dumps) for component in _connected(gaps))
    return [one for one in found if one]


def _gaps(group: ProcessGroup, shared: Mapping[int, list[ProcessGroup]]) -> list[Gap]:
    found = (_gap(group, shared, sorted(pair)) for pair in _exchanging(group))
    return [gap for gap in found if gap]


def _exchanging(group: ProcessGroup) -> set[frozenset[int]]:
    """The pairs of ranks with dumps that have to do with each other, by one of them."""
    known = {rank for rank, member in group.members.items() if member.record}
    pairs = {
        frozenset(end for end in (group.global_rank(pair.source), group.global_rank(pair.target)) if end is not None)
        for member in group.members.values()
        for pair in (member.record.pairs if member.record else ())
    }
    return {pair for pair in pairs if len(pair) == _TWO and pair <= known}


def _gap(group: ProcessGroup, shared: Mapping[int, list[ProcessGroup]], ranks: Sequence[int]) -> Gap | None:
    """The gap in the one round in which they differ; None where they differ in none, or in several."""
    since = {rank: described_from(group.members[rank]) for rank in ranks}
    cuts = (_Cut(one, _records(one, ranks, since)) for one in _shared(shared, ranks))
    cut = next((cut for cut in cuts if cut.rounds()), None)
    differing = [(at, found) for at in cut.rounds() if (found := _balance(group, cut, at))] if cut else []
    return Gap(group, cut, *differing[0]) if cut and len(differing) == 1 else None


def common_places(
    shared: Mapping[int, list[ProcessGroup]], ranks: Sequence[int], since: Mapping[int, int]
) -> Iterator[Mapping[int, Sequence[int]]]:
    """For each group that all ranks are in, the largest first: for each rank the places of the collectives that all of them
    have issued, in order, from the place `since` which its dump tells all."""
    yield from (_records(one, ranks, since) for one in _shared(shared, ranks))


def _shared(shared: Mapping[int, list[ProcessGroup]], ranks: Sequence[int]) -> list[ProcessGroup]:
    listed = shared.get(ranks[0], []) if ranks else []
    return [one for one in listed if all((m := one.members.get(rank)) and m.window for rank in ranks)]


def _records(shared: ProcessGroup, ranks: Sequence[int], since: Mapping[int, int]) -> dict[int, list[int]]:
    members = {rank: shared.members[rank] for rank in ranks}
    last = min(member.issued for member in members.values())
    first = max(member.base + member.window[0].number for member in members.values())
    records: dict[int, list[int]] = {rank: [] for rank in ranks}
    for ordinal in range(first, last + 1):
        places = {rank: one.record for rank, member in members.items() if (one := member.at(ordinal))}
        if len(places) == len(ranks) and all(place >= since[rank] for rank, place in places.items()):
            for rank, place in places.items():
                records[rank].append(place)
    return records


def described_from(member: Member) -> int:
    """The place from which a dump describes all transfers that the rank issued in a group."""
    record = member.record
    listed = _listed(record) if record else []
    if record is None or not listed or (member.dump.whole and sum(pair.times for pair in record.pairs) == len(listed)):
        return -1
    return min(one.record for one in listed)


def _listed(record: GroupRecord) -> list[Operation]:
    return [*record.transfers, *record.pending_transfers]


def _balance(group: ProcessGroup, cut: _Cut, at: int) -> Counter[_Ends]:
    books: Counter[_Ends] = Counter()
    for rank, records in cut.records.items():
        record = group.members[rank].record
        for one in _listed(record) if record else ():
            ends = {group.global_rank(one.source), group.global_rank(one.target)}
            if rank in ends and ends <= cut.records.keys() and records[at - 1] < one.record < records[at]:
                books[one.source, one.target] += 1 if one.kind == SEND else -1
    return Counter({pair: gap for pair, gap in books.items() if gap})


def _connected(gaps: Iterable[Gap]) -> Iterator[list[Gap]]:
    """Those together that have a rank in common."""
    left = list(gaps)
    while left:
        component = [left.pop()]
        ranks = component[0].ranks
        while near := [gap for gap in left if ranks & gap.ranks]:
            component += near
            left = [gap for gap in left if not ranks & gap.ranks]
            ranks = ranks.union(*(gap.ranks for gap in near))
        yield component


def _round(gaps: Iterable[Gap], rank: int) -> tuple[int, int] | None:
    """The round of a rank in all gaps that it has part in; None where they are several."""
    found = {gap.round_of(rank) for gap in gaps if rank in gap.ranks}
    return next(iter(found)) if len(found) == 1 else None


def _omission(component: Sequence[Gap], dumps: Mapping[int, RankRecord]) -> Omission | None:
    lacking: dict[int, Counter[_Transfer]] = defaultdict(Counter)
    for gap in component:
        for ends, times in gap.found.items():
            source, target = gap.ends(ends)
            what = (gap.group.name, RECEIVE if times > 0 else SEND, *ends)
            lacking[target if times > 0 else source][what] += abs(times)
    if len(lacking) != 1:
        return None
    [(rank, lacks)] = lacking.items()
    partners = set().union(*(gap.ranks for gap in component)) - {rank}
    if len(partners) == 1 and not _does_the_rest(component, rank, lacks):
        return None  # its whole step was shorter: which of the two has the length that was meant?
    own = _likeness(component, rank, lacks, dumps, seen=1 if len(partners) > 1 else lacks.total())
    kept = {peer: _likeness(component, peer, Counter(), dumps) for peer in partners}
    alone = own is None and partners >= _peers(component, rank)
    known = False not in kept.values() if own else alone and all(kept.values())
    return Omission(rank, tuple(sorted(partners))) if known else None


def _peers(component: Sequence[Gap], rank: int) -> set[int]:
    """With whom a rank exchanges in its round."""
    ends = {gap.group.global_rank(end) for gap, one in _moved(component, rank) for end in (one.source, one.target)}
    return {-1 if one is None else one for one in ends} - {rank}


def _does_the_rest(component: Sequence[Gap], rank: int, lacking: Counter[_Transfer]) -> bool:
    """Whether there are transfers of its round of which a rank lacks none."""
    return any(
        (gap.group.name, one.kind, one.source, one.target) not in lacking for gap, one in _moved(component, rank)
    )


def _moved(component: Sequence[Gap], rank: int) -> Iterator[tuple[Gap, Operation]]:
    """What a rank transferred in its round, in the groups of which something does not balance."""
    begin, end = _round(component, rank) or (0, 0)
    for gap in component:
        member = gap.group.members.get(rank)
        listed = _listed(member.record) if member and member.record else ()
        yield from ((gap, one) for one in listed if begin < one.record < end)


def _likeness(
    component: Sequence[Gap], rank: int, lacking: Counter[_Transfer], dumps: Mapping[int, RankRecord], *, seen: int = 0
) -> bool | None:
    """Whether the rank did in the round before just what it does now, and what it lacks; None where its dump does not reach
    back, or not to so many of those that it lacks (`seen`)."""
    ends, cut = _round(component, rank), next(gap.cut for gap in component if rank in gap.ranks)
    if ends is None:
        return False
    moved, since = _transfers(dumps[rank])
    now = [what for record, what in moved if ends[0] < record < ends[1]]
    before = [(record, what) for record, what in moved if since <= record < ends[0]]
    places = (one.record for one in cut.shared.members[rank].window)
    begin = max((place for place in places if before and since <= place < before[-1][0]), default=-1)
    past = [what for record, what in before if record > begin]
    used = _left_out(past, now, lacking)
    if used is None or (begin >= 0 and (used != lacking or len(now) + used.total() != len(past))):
        return False
    return True if past and (begin >= 0 or used.total() >= max(1, seen)) else None


def _left_out(
    past: Sequence[_Transfer], now: Sequence[_Transfer], lacking: Counter[_Transfer]
) -> Counter[_Transfer] | None:
    """What was left out of what was done before, of what is lacking; None where they differ otherwise. Compared from the end, as
    a ring may have lost the beginning of the past."""
    used: Counter[_Transfer] = Counter()
    at = len(now)
    for what in reversed(past):
        if at and now[at - 1] == what:
            at -= 1
        elif used[what] < lacking[what]:
            used[what] += 1
        else:
            return None
    return used


def _transfers(dump: RankRecord) -> tuple[list[tuple[int, _Transfer]], int]:
    """The transfers of a rank in their order of issue, and the place from which those of every group are described."""
    moved = [
        (one.record, (group.name, one.kind, one.source, one.target)) for group in dump.groups for one in _listed(group)
    ]
    return sorted(moved), all_described_from(dump)


def all_described_from(dump: RankRecord) -> int:
    """The place from which a dump describes all transfers of its rank: where its ring begins, if it lists all that this holds."""
    begin = -1 if dump.whole else dump.issued - dump.entries if dump.issued > dump.entries else _UNKNOWN
    since = [begin]
    for group in dump.groups:
        listed = _listed(group)
        if listed and (begin == _UNKNOWN or sum(pair.times for pair in group.pairs) != len(listed)):
            since.append(min(one.record for one in listed))
    return max(since)
