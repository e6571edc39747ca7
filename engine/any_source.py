"""Receives from any source: whose send has not come, told by how often the others have sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from neuron_doctor.engine.process_groups import Member, ProcessGroup
from neuron_doctor.engine.recorder import RECEIVE, SEND, Operation
from neuron_doctor.engine.round_books import common_places, described_from

#: So many ranks that have sent equally often tell what belongs to a round; of so many at most one may be late.
_ALIKE, _FEW = 3, 4
#: Beyond all records of a dump.
_NEVER = 1 << 62
#: So often, where no collectives divide what was sent into rounds.
_TIMES = 3


def late_senders(
    group: ProcessGroup, shared: Mapping[int, list[ProcessGroup]], target: int, at: int
) -> tuple[int, ...]:
    """The few ranks that have sent once less to `target`, which waits for a send from anybody in its operation `at`, than all
    others that send to it: in this round of collectives, if in the round before all sent alike; or in all, where nothing is lost.

    `shared`: the groups that divide what each rank did into rounds (`by_rank`).
    What is handed to whoever comes next, as work to workers, is not as even. () where a send to it is open, which it would take.
    """
    sends = {rank: found for rank, member in group.members.items() if (found := _sends(group, member, target))}
    if not group.completions or not set(group.ranks) <= group.members.keys() or _any_open(group, target):
        return ()
    return _late_in_round(group, shared, sends, (target, at)) or _late_in_all(group, sends, target)


def _late_in_round(
    group: ProcessGroup,
    shared: Mapping[int, list[ProcessGroup]],
    sends: Mapping[int, Sequence[int]],
    taker: tuple[int, int],
) -> tuple[int, ...]:
    target, at = taker
    since = {target: -1, **{rank: described_from(group.members[rank]) for rank in sends}}
    for places in common_places(shared, sorted(since), since):
        passed = sum(1 for place in places[target] if place < at)
        if passed > 1:
            before, now = (
                {rank: _between(found, *_ends(places[rank], number)) for rank, found in sends.items()}
                for number in (passed - 1, passed)
            )
            return _late(now, most=max(before.values())) if len(set(before.values())) == 1 else ()
    return ()


def _ends(places: Sequence[int], number: int) -> tuple[int, int]:
    """The ends of a round; the last one goes on."""
    return places[number - 1], places[number] if number < len(places) else _NEVER


def _between(records: Iterable[int], begin: int, end: int) -> int:
    return sum(1 for record in records if begin < record < end)


def _late_in_all(group: ProcessGroup, sends: Mapping[int, Sequence[int]], target: int) -> tuple[int, ...]:
    if not all(member.dump.whole for member in group.members.values()):
        return ()
    counts = {rank: _count(group, group.members[rank], target) for rank in sends}
    most = max(counts.values(), default=0)
    whole = sum(counts.values()) == _received(group.members[target])
    return _late(counts, most=most) if most >= _TIMES and whole else ()


def _late(counts: Mapping[int, int], *, most: int) -> tuple[int, ...]:
    late = tuple(sorted(rank for rank, times in counts.items() if times == most - 1))
    even = most > 0 and all(times == most for rank, times in counts.items() if rank not in late)
    few = len(late) <= max(1, len(counts) // _FEW) and len(counts) - len(late) >= _ALIKE
    return late if even and few else ()


def _sends(group: ProcessGroup, member: Member, target: int) -> list[int]:
    """The places at which a rank sent to the target."""
    return [one.record for one in _moved(member) if one.kind == SEND and group.global_rank(one.target) == target]


def _moved(member: Member) -> Sequence[Operation]:
    return (*member.record.transfers, *member.record.pending_transfers) if member.record else ()


def _any_open(group: ProcessGroup, target: int) -> bool:
    return any(
        one.kind == SEND and group.global_rank(one.target) == target
        for member in group.members.values()
        for one in (member.record.pending_transfers if member.record else ())
    )


def _count(group: ProcessGroup, member: Member, target: int) -> int:
    pairs = member.record.pairs if member.record else ()
    return sum(pair.times for pair in pairs if pair.kind == SEND and group.global_rank(pair.target) == target)


def _received(member: Member) -> int:
    """How often a rank has received."""
    record = member.record
    issued = sum(pair.times for pair in record.pairs if pair.kind == RECEIVE) if record else 0
    return issued - sum(1 for one in (record.pending_transfers if record else ()) if one.kind == RECEIVE)
