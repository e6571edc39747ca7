"""Which rank left the order in which process groups are used: by its own past, by its peers, or by being alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise

from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import SEND, GroupRecord, Operation, RankRecord

#: Ranks whose counts differ by more than this run other programs (another pipeline stage), and are no witnesses.
_SAME_PROGRAM = 4
#: An earlier round and the last one.
_ROUNDS = 2
#: At most one in so many may have left the order.
_FEW = 4
#: So many ranks must tell how many operations the program issues up to a place.
_WITNESSES = 3
#: Ranks that were in step over one part in so many of a way run one program.
_WAY = 2
#: Of more than two collectives in a cycle, none is the other one.
_TWO = 2

#: What part an operation plays in the program: the same on all ranks, though each has its own group for it.
Part = tuple[str, str]


def part_of(record: GroupRecord) -> Part:
    """The part of a group's collectives: by its description; where it has none, by the order of creation."""
    return ("", record.desc) if record.desc not in {"", "undefined"} else ("pg", str(record.pg_id))


def _part_in(group: ProcessGroup, rank: int) -> Part:
    member = group.members.get(rank)
    return part_of(member.record) if member and member.record else ("", group.desc)


def deviants(
    cycle: Sequence[Gathering],
    ranks: Iterable[int],
    dumps: Mapping[int, RankRecord],
    groups: Iterable[ProcessGroup] = (),
) -> tuple[int, ...]:
    """The ranks of a cycle of waits that left the order; () where nothing tells, or the same of most of them. `groups`:
    all groups of the job, whose members are compared."""
    ranks = sorted(ranks)
    fronts = {rank: gathering for gathering in reversed(cycle) for rank in gathering.waiting if rank in set(ranks)}
    pasts = {rank: _past(dumps[rank], cycle, rank) for rank in fronts}
    # Where transfers take part, the past that a ring still holds is too short for one's own habits.
    long = [rank for rank in pasts if _is_whole(dumps[rank], cycle) or not any(one.is_transfer for one in cycle)]
    recurs = {rank: _recurs(pasts[rank], whole=_is_whole(dumps[rank], cycle)) for rank in long}
    changed = [rank for rank in long if recurs[rank] is False]
    if all(recurs.get(rank) is not None for rank in ranks) and 2 * len(changed) < len(ranks) and changed:
        return tuple(changed)  # each one's own past tells, whatever their number: the others do as ever
    for found in (
        sorted(out_of_step(groups) & set(ranks)),
        changed,
        [rank for rank in fronts if _differs_from_peers(rank, fronts[rank], cycle, set(ranks))],
        [rank for rank in long if _recurs(_counted(pasts[rank], dumps[rank]), whole=dumps[rank].whole) is False],
        [rank for rank in long if _is_of_new_length(_counted(pasts[rank], dumps[rank]))],
        _alone(fronts, cycle),
    ):
        if found:  # many who look odd are not: then what tells them apart is none
            return tuple(sorted(found)) if len(found) <= max(1, len(ranks) // _FEW) else ()
    return ()


def out_of_step(groups: Iterable[ProcessGroup]) -> set[int]:
    """The ranks that left out an operation, or put one in: those of one program issue the same collective as their n-th
    operation. Of three or more that did so at first, the few that come to a later one with another count."""
    return {rank for group in groups for rank in _out_of_step(group)}


def _out_of_step(group: ProcessGroup) -> list[int]:
    windows = {rank: member for rank, member in group.members.items() if member.window}
    if len(windows) < _WITNESSES:
        return []
    begin = max(member.base + member.window[0].number for member in windows.values())
    end = max(member.issued for member in windows.values())
    programs: dict[int, list[int]] = defaultdict(list)
    for rank, member in windows.items():
        if operation := member.at(begin):
            programs[operation.record].append(rank)
    found: list[int] = []
    for record, ranks in programs.items():
        found += _first_odd(group, ranks, record, range(begin + 1, end + 1)) if len(ranks) >= _WITNESSES else []
    return found


def _first_odd(group: ProcessGroup, ranks: Sequence[int], before: int, ordinals: Iterable[int]) -> list[int]:
    """Of ranks in step at the place `before`, those few that are not at the first ordinal at which not all are; if all were
    in step over nearly as long a way until then: ranks of several programs begin alike. Those that went as far as all had gone
    before, where the many never did, are not the odd ones."""
    ways = {0}
    for ordinal in ordinals:
        records = {rank: one.record for rank in ranks if (one := group.members[rank].at(ordinal))}
        counts = Counter(records.values()).most_common(2)
        usual, times = counts[0] if counts else (before, 0)
        if len(counts) > 1:
            tried = _WAY * max(ways) >= usual - before
            odd = [rank for rank, record in records.items() if record != usual]
            if usual - before not in ways and all(records[rank] - before in ways for rank in odd):
                return []
            return odd if tried and times > counts[1][1] else []
        ways.add(usual - before)
        before = usual
    return []


def is_precedented(dump: RankRecord, cycle: Sequence[Gathering], rank: int) -> bool | None:
    """Whether the rank went from one part to the next before as it did now, among the parts that the cycle is made of;
    None where its dump holds no past to compare with."""
    return _recurs(_past(dump, cycle, rank), whole=_is_whole(dump, cycle))


def _is_whole(dump: RankRecord, cycle: Sequence[Gathering]) -> bool:
    """Whether the past of the parts that the cycle is made of reaches back to the beginning: of many transfers only the last
    ones are described, of whatever ring."""
    moved = [group for group in dump.groups if group.pairs] if any(one.is_transfer for one in cycle) else []
    listed = (len(group.transfers) + len(group.pending_transfers) for group in moved)
    told = (sum(pair.times for pair in group.pairs) for group in moved)
    return dump.whole and all(one == other for one, other in zip(listed, told, strict=True))


def _past(dump: RankRecord, cycle: Sequence[Gathering], rank: int) -> list[Hashable]:
    """What the rank issued up to where it waits, of the parts that the cycle is made of."""
    parts = {_part_in(gathering.group, rank) for gathering in cycle if not gathering.is_transfer}
    transfers = any(gathering.is_transfer for gathering in cycle)
    waited = [front.record for gathering in cycle for front in gathering.fronts if front.rank == rank]
    if not waited:
        return []
    return [part for record, part in _sequence(dump, parts, transfers=transfers) if record <= min(waited)]


def _runs(past: Sequence[Hashable]) -> list[tuple[Hashable, int]]:
    """The same with repetitions counted: seven of one part and then another is not eight of it. The last run, which may
    go on, is cut to the longest that was seen of its part, unless it is longer than that."""
    runs: list[tuple[Hashable, int]] = [(part, len(list(same))) for part, same in groupby(past)]
    if len(runs) > 1:
        part, length = runs[-1]
        longest = max((seen for other, seen in runs[:-1] if other == part), default=length)
        runs[-1] = (part, max(length, longest))
    return runs


def _is_of_new_length(runs: Sequence[tuple[Hashable, int]]) -> bool:
    """Whether the last complete run is longer, or shorter, than those of its part before, which were all alike."""
    if len(runs) <= _ROUNDS:
        return False
    part, length = runs[-2]
    earlier = [seen for other, seen in runs[:-2] if other == part]
    return len(earlier) >= _ROUNDS and {*earlier} != {length} and len({*earlier}) == 1


def _counted(past: Sequence[Hashable], dump: RankRecord) -> list[tuple[Hashable, int]]:
    """The runs of a past; a ring may have cut the first one short."""
    return _runs(past) if dump.whole else _runs(past)[1:]


def _recurs(past: Sequence[Hashable], *, whole: bool) -> bool | None:
    """Whether each step of the last round, from the part that stands last back to where it stood before, was taken in
    an earlier round too. None where no earlier round is complete; `whole`: the past reaches back to the beginning."""
    steps = list(pairwise(past))
    rounds = [at for at, part in enumerate(past) if part == past[-1]]
    if len(rounds) + whole <= _ROUNDS:
        return _is_new(past, steps) if whole else None
    begin = rounds[-2]
    known, now = Counter(steps[:begin]), steps[begin:]
    if not known:
        return None
    followed, reached = {first for first, _ in known}, {second for _, second in known}
    if all(known[step] for step in now):
        return True
    new = any(not known[step] and step[0] in followed and step[1] in reached for step in now)
    return False if new else None


def _is_new(past: Sequence[Hashable], steps: Sequence[tuple[Hashable, Hashable]]) -> bool | None:
    """False where the rank stands at a part at which it never stood, after one that others followed twice."""
    if not steps or past[-1] in past[:-1]:
        return None
    return False if sum(1 for first, _ in steps[:-1] if first == steps[-1][0]) >= _ROUNDS else None


def _sequence(dump: RankRecord, parts: set[Part], *, transfers: bool) -> list[tuple[int, Part]]:
    """The operations of these parts in their order of issue, from where the dump still describes all of them."""
    found: list[tuple[int, Part]] = []
    start = 0
    for record in dump.groups:
        window = record.recent + record.pending if part_of(record) in parts else ()
        found += [(operation.record, part_of(record)) for operation in window]
        if window and record.length > len(window):
            start = max(start, window[0].record)
        if transfers:
            moved = record.transfers + record.pending_transfers
            found += [(operation.place, _transfer_part(operation, record)) for operation in moved]
            if moved and sum(pair.times for pair in record.pairs) > len(moved):
                start = max(start, moved[0].record)
    return sorted({one for one in found if one[0] >= start})


def _transfer_part(operation: Operation, record: GroupRecord) -> Part:
    peer = operation.target if operation.kind == SEND else operation.source
    return f"{operation.kind} {peer}", part_of(record)[1]


def _differs_from_peers(rank: int, front: Gathering, cycle: Sequence[Gathering], inside: set[int]) -> bool:
    """Whether peers that issued the same collective, and are not in the cycle, had all issued more, or less, of
    another part of it by then."""
    if front.is_transfer:
        return False
    own_member = front.group.members[rank]
    own = own_member.at(front.ordinal)
    if own is None:
        return False
    for other in {_part_in(g.group, rank) for g in cycle if g.group is not front.group and not g.is_transfer}:
        value = _issued_before(own_member.dump, other, own)
        seen = {
            _issued_before(member.dump, other, operation)
            for peer, member in front.group.members.items()
            if peer not in inside and (operation := member.at(front.ordinal)) is not None
        }
        near = {
            count for count in seen if count is not None and value is not None and abs(count - value) <= _SAME_PROGRAM
        }
        if len(near) == 1 and value not in near:
            return True
    return False


def _issued_before(dump: RankRecord, part: Part, operation: Operation) -> int | None:
    """The number of the last collective of a part that the rank issued before an operation."""
    numbers = [
        one.sequence
        for record in dump.groups
        if part_of(record) == part
        for one in (*record.recent, *record.pending)
        if one.record < operation.record
    ]
    return max(numbers, default=None)


def _alone(fronts: Mapping[int, Gathering], cycle: Sequence[Gathering]) -> list[int]:
    """The ranks that wait where the fewest do, of two collectives that all of them share."""
    collectives = [gathering for gathering in cycle if not gathering.is_transfer]
    shared = all(rank in gathering.group.members for rank in fronts for gathering in collectives)
    if len(collectives) != len(cycle) or len(cycle) != _TWO or not shared:
        return []
    counts = Counter(id(gathering) for gathering in fronts.values())
    if len(counts) != len(cycle) or len(set(counts.values())) == 1:
        return []
    least = min(counts.values())
    return sorted(rank for rank, gathering in fronts.items() if counts[id(gathering)] == least)
