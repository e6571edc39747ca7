"""The operations that ranks wait in, and whom each of them waits for: the wait-for graph of a set of dumps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from neuron_doctor.engine.process_groups import Member, ProcessGroup
from neuron_doctor.engine.recorder import RECEIVE, SEND, GroupRecord, Operation, RankRecord

#: Of the places at which the members of one group wait, this many are looked at: the earliest. It keeps a group in
#: which every member waits elsewhere (which no real one does) from costing the square of its size.
_PLACES = 64


@dataclass(frozen=True, slots=True)
class Front:
    """The first open operation of a rank in one stream; `operation` is None where only the status tells of it."""

    rank: int
    operation: Operation | None

    @property
    def record(self) -> int:
        """Its place in the rank's order of issue; what only the status tells of comes first."""
        if self.operation is None:
            return -1
        return self.operation.batch if self.operation.batch >= 0 else self.operation.record


@dataclass(eq=False, slots=True)
class Gathering:
    """One collective, or one transfer between two ranks, at which at least one rank waits.

    `fronts`: of the ranks that wait here. `absent`: ranks with a dump that never issued it; `held`: that issued it and
    still wait in an earlier operation; `unknown`: without a dump. With none of these three everybody has come.
    """

    group: ProcessGroup
    ordinal: int
    ends: tuple[int, int] | None = None
    fronts: list[Front] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)

    @property
    def operation(self) -> Operation | None:
        """The operation as the first rank that waits here recorded it."""
        known = [front for front in self.fronts if front.operation is not None]
        return min(known, key=lambda front: front.rank).operation if known else None

    @property
    def waiting(self) -> list[int]:
        """The ranks that wait here."""
        return sorted({front.rank for front in self.fronts})

    @property
    def is_transfer(self) -> bool:
        """Whether it is point-to-point."""
        return self.ends is not None


@dataclass
class Waits:
    """All that is waited in: `by_rank` has the gatherings at which each rank waits, in its order of issue."""

    gatherings: list[Gathering]
    by_rank: dict[int, list[Gathering]]
    first: dict[int, int]

    def first_waiting(self, gathering: Gathering) -> int:
        """How many ranks wait here before anywhere else."""
        return sum(front.record == self.first[front.rank] for front in gathering.fronts)


_TransferKey = tuple[int, int, int, int]


def waits(groups: list[ProcessGroup], dumps: Mapping[int, RankRecord], *, transfers: bool = True) -> Waits:
    """Find where every rank waits, and for whom; without point-to-point operations if `transfers` is false."""
    collectives = [_at(group) for group in groups]
    exchanged = _transfer_gatherings(groups) if transfers else {}
    gatherings = [gathering for found in collectives for gathering in found.values()]
    gatherings += [gathering for gathering, _ in exchanged.values()]
    first: dict[int, int] = {}
    placed: dict[int, list[tuple[int, int, Gathering]]] = defaultdict(list)
    for number, gathering in enumerate(gatherings):
        for front in gathering.fronts:
            first[front.rank] = min(front.record, first.get(front.rank, front.record))
            placed[front.rank].append((front.record, number, gathering))
    for group, found in zip(groups, collectives, strict=True):
        for ordinal, gathering in found.items():
            _see_members(gathering, group, ordinal, first, dumps)
    for gathering, wanted in exchanged.values():
        _see_partner(gathering, wanted, first, dumps)
    by_rank = {rank: [gathering for *_, gathering in sorted(placed[rank], key=lambda one: one[:2])] for rank in placed}
    return Waits(gatherings, by_rank, first)


def _at(group: ProcessGroup) -> dict[int, Gathering]:
    """The collectives of a group in which its members wait, by ordinal."""
    fronts: dict[int, list[Front]] = defaultdict(list)
    joined = min((member.issued for member in group.members.values()), default=-1)
    for member in group.members.values():
        ordinal = _front(member, joined, completions=group.completions)
        if ordinal is not None:
            fronts[ordinal].append(Front(member.rank, member.at(ordinal)))
    return {ordinal: Gathering(group, ordinal, fronts=fronts[ordinal]) for ordinal in sorted(fronts)[:_PLACES]}


def _front(member: Member, joined: int, *, completions: bool) -> int | None:
    """The ordinal of the member's first open collective.

    A recorder that learns of no completion says `retired` of what completed and of what failed. There the collective
    is open that not all members have issued; else the first that is not retired.
    """
    if not completions and member.issued > joined:
        return joined + 1
    if member.record and member.record.pending:
        return member.base + member.record.pending[0].index
    return member.done + 1 if member.done < member.issued and completions else None


def _see_members(
    gathering: Gathering, group: ProcessGroup, ordinal: int, first: Mapping[int, int], dumps: Mapping[int, RankRecord]
) -> None:
    """Who of the group has not come to a collective."""
    for rank in group.ranks:
        member = group.members.get(rank)
        if member is None:
            gathering.unknown.append(rank) if rank not in dumps else None
        elif member.issued < ordinal:
            gathering.absent.append(rank)
        elif (member.done < ordinal or not group.completions) and _is_held(member.at(ordinal), first.get(rank)):
            gathering.held.append(rank)


def _is_held(operation: Operation | None, first: int | None) -> bool:
    """Whether a rank that issued `operation` still waits in an earlier one: run-ahead hosts issue long before."""
    if operation is None or first is None or operation.state == "started":
        return False
    return first < (operation.batch if operation.batch >= 0 else operation.record)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a waiting end of a transfer wants of the other: that it has issued the `nth` operation that matches."""

    rank: int
    operation: Operation | None


def _transfer_gatherings(groups: list[ProcessGroup]) -> dict[_TransferKey, tuple[Gathering, list[_Wanted]]]:
    found: dict[_TransferKey, tuple[Gathering, list[_Wanted]]] = {}
    for number, group in enumerate(groups):
        for member in group.members.values():
            for operation, nth in _transfer_fronts(member.record) if member.record else ():
                _add_transfer(found, number, group, member, operation, nth)
    return found


def _add_transfer(
    found: dict[_TransferKey, tuple[Gathering, list[_Wanted]]],
    number: int,
    group: ProcessGroup,
    member: Member,
    operation: Operation,
    nth: int,
) -> None:
    end = operation.target if operation.kind == SEND else operation.source
    peer = group.global_rank(end)
    if peer is None:  # a receive from anybody waits for nobody in particular
        return
    other = group.members.get(peer)
    exact = bool(other and other.dump.whole and member.dump.whole and other.record)
    ordinal = nth + (_settled(member.record, operation.kind, operation) if exact and member.record else 0)
    key = (number, operation.source, operation.target, ordinal)
    if key not in found:
        ends = (group.global_rank(operation.source), group.global_rank(operation.target))
        found[key] = (Gathering(group, ordinal, ends=(ends[0] or 0, ends[1] or 0)), [])
    gathering, wanted = found[key]
    gathering.fronts.append(Front(member.rank, operation))
    wanted.append(_Wanted(peer, _matching(other, operation, ordinal, exact=exact)))


def _transfer_fronts(record: GroupRecord) -> Iterator[tuple[Operation, int]]:
    """The first open operation of each stream, all of a batch together; each with its number among its like."""
    counts: dict[tuple[str, int, int], int] = defaultdict(int)
    streams: dict[tuple[int, int], int] = {}
    for operation in record.pending_transfers:
        like = (operation.kind, operation.source, operation.target)
        nth, counts[like] = counts[like], counts[like] + 1
        low, high = sorted((operation.source, operation.target))
        stream = (-2, -2) if operation.batch >= 0 else (low, high)
        unit = operation.batch if operation.batch >= 0 else operation.record
        if streams.setdefault(stream, unit) == unit:
            yield operation, nth


def _settled(record: GroupRecord, kind: str, like: Operation) -> int:
    """How many operations of this kind and these ends the rank has completed since its recorder began."""
    total = sum(p.count for p in record.pairs if (p.kind, p.source, p.target) == (kind, like.source, like.target))
    return total - len(_open(record, kind, like))


def _open(record: GroupRecord, kind: str, like: Operation) -> list[Operation]:
    wanted = (kind, like.source, like.target)
    return [op for op in record.pending_transfers if (op.kind, op.source, op.target) == wanted]


#: Stands for a matching operation that has completed.
_COMPLETED = Operation(-1, "", "", -1, -1, "completed", -1, -1, "", 0, -1)


def _matching(other: Member | None, operation: Operation, ordinal: int, *, exact: bool) -> Operation | None:
    """The other end's operation that matches; None if it never issued one."""
    if other is None or other.record is None:
        return None
    kind = RECEIVE if operation.kind == SEND else SEND
    opposite = _open(other.record, kind, operation)
    index = ordinal - (_settled(other.record, kind, operation) if exact else 0)
    if index < 0:
        return _COMPLETED
    return opposite[index] if index < len(opposite) else None


def _see_partner(
    gathering: Gathering, wanted: list[_Wanted], first: Mapping[int, int], dumps: Mapping[int, RankRecord]
) -> None:
    """Whether the other end of a transfer has come."""
    for want in wanted:
        if want.rank not in dumps:
            gathering.unknown.append(want.rank)
        elif want.operation is None:
            gathering.absent.append(want.rank)
        elif want.operation is not _COMPLETED and _is_held(want.operation, first.get(want.rank)):
            gathering.held.append(want.rank)
