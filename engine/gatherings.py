"""The operations that ranks wait in, and whom each of them waits for: the wait-for graph of a set of dumps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.any_source import late_senders
from neuron_doctor.engine.argument_vote import first_disagreement
from neuron_doctor.engine.inversions import inversions
from neuron_doctor.engine.pairings import Anchor, anchor_of, settled
from neuron_doctor.engine.process_groups import Member, ProcessGroup
from neuron_doctor.engine.recorder import RECEIVE, SEND, GroupRecord, Operation, RankRecord
from neuron_doctor.engine.round_books import by_rank

#: Of the places at which the members of one group wait, this many are looked at: the earliest. It keeps a group in
#: which every member waits elsewhere (which no real one does) from costing the square of its size.
_PLACES = 64
#: Where no completion is known, a difference in arguments counts among this many collectives that all have issued.
_LOOK_BACK = 16
#: How often what is open is followed to what else must be: through so many groups in turn.
_ROUNDS = 32


class Front(Struct, frozen=True):
    """The first open operation of a rank in one stream; `operation` is None where only the status tells of it."""

    rank: int
    operation: Operation | None

    @property
    def record(self) -> int:
        """Its place in the rank's order of issue; what only the status tells of comes first."""
        if self.operation is None:
            return -1
        return self.operation.place


class Gathering(Struct, eq=False):
    """One collective, or one transfer between two ranks, at which at least one rank waits.

    `fronts`: of the ranks that wait here. `absent`: ranks with a dump that never issued it; `held`: that issued it and
    still wait in an earlier operation, each with the place at which it issued this one; `unknown`: without a dump. With
    none of these three everybody has come. `met`: by rank, the state of a transfer on the ends of which that is known.
    """

    group: ProcessGroup
    ordinal: int
    ends: tuple[int, int] | None = None
    fronts: list[Front] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)
    held: dict[int, int] = field(default_factory=dict)
    unknown: list[int] = field(default_factory=list)
    met: dict[int, str] = field(default_factory=dict)

    @property
    def operation(self) -> Operation | None:
        """The operation as the first rank that waits here recorded it."""
        known = [front for front in self.fronts if front.operation is not None]
        return min(known, key=lambda front: front.rank).operation if known else None

    @property
    def title(self) -> str:
        """What it is, in words: the operation, its group, and the ends of a transfer."""
        source, target = self.ends or (-1, -1)
        ends = f" from rank {source} to rank {target}" if source >= 0 else ""
        return f"{self.operation.name if self.operation else 'a collective'} of {self.group.title}{ends}"

    @property
    def waiting(self) -> list[int]:
        """The ranks that wait here."""
        return sorted({front.rank for front in self.fronts})

    @property
    def is_transfer(self) -> bool:
        """Whether it is point-to-point."""
        return self.ends is not None

    @property
    def is_open_ended(self) -> bool:
        """Whether nothing tells who should come: a receive from anybody of whom none is known to be late, or a group whose
        members are not recorded."""
        return not self.group.proven or (self.ends is not None and self.ends[0] < 0 and not self.absent)


class Waits(Struct, dict=True):
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
    collectives: list[dict[int, Gathering]] = []
    exchanged: dict[_TransferKey, tuple[Gathering, list[_Wanted]]] = {}
    gatherings: list[Gathering] = []
    first: dict[int, int] = {}
    inverted = inversions(groups)
    # Where no completion is known, what a rank issued behind an open operation is open too, and so it goes on.
    for _ in range(_ROUNDS):
        collectives = [_at(group, first, inverted.get(group.key)) for group in groups]
        exchanged = _transfer_gatherings(groups, first) if transfers else {}
        gatherings = [gathering for found in collectives for gathering in found.values()]
        gatherings += [gathering for gathering, _ in exchanged.values()]
        before, first = first, _first_fronts(gatherings)
        if first == before or all(group.completions for group in groups):
            break
    for group, found in zip(groups, collectives, strict=True):
        for ordinal, gathering in found.items():
            _see_members(gathering, group, ordinal, first, dumps)
    for gathering, wanted in exchanged.values():
        _see_partner(gathering, wanted, first, dumps)
    _see_late(gatherings, groups)
    met = _met_parts([gathering for gathering, _ in exchanged.values()])
    gatherings = [gathering for gathering in gatherings if id(gathering) not in met]
    placed: dict[int, list[tuple[int, int, Gathering]]] = defaultdict(list)
    for number, gathering in enumerate(gatherings):
        for front in gathering.fronts:
            placed[front.rank].append((front.record, number, gathering))
    waited = {rank: [gathering for *_, gathering in sorted(placed[rank], key=lambda one: one[:2])] for rank in placed}
    return Waits(gatherings, waited, first)


def _first_fronts(gatherings: list[Gathering]) -> dict[int, int]:
    first: dict[int, int] = {}
    for gathering in gatherings:
        for front in gathering.fronts:
            first[front.rank] = min(front.record, first.get(front.rank, front.record))
    return first


def _at(group: ProcessGroup, first: Mapping[int, int], inverted: int | None) -> dict[int, Gathering]:
    """The collectives of a group in which its members wait, by ordinal; `first`: where they are known to wait;
    `inverted`: one that they issued in different orders."""
    fronts: dict[int, list[Front]] = defaultdict(list)
    closed = None if group.completions else _last_surely_closed(group, first)
    if closed is not None and inverted is not None:
        closed = min(closed, inverted - 1)
    for member in group.members.values():
        ordinal = _first_open(member) if closed is None else _first_after(member, closed)
        if ordinal is not None:
            fronts[ordinal].append(Front(member.rank, member.at(ordinal)))
    return {ordinal: Gathering(group, ordinal, fronts=fronts[ordinal]) for ordinal in sorted(fronts)[:_PLACES]}


def _first_open(member: Member) -> int | None:
    """The ordinal of the member's first open collective."""
    if member.record and member.record.pending:
        return member.base + member.record.pending[0].number
    return member.done + 1 if member.done < member.issued else None


def _last_surely_closed(group: ProcessGroup, first: Mapping[int, int]) -> int:
    """Where no completion is known: the last collective that all members issued, none with other arguments, and none
    behind an operation in which it waits.

    Such a recorder says `retired` of what completed and of what failed, so this is all that it tells.
    """
    joined = min((_reached(member, first.get(member.rank)) for member in group.members.values()), default=-1)
    differing = first_disagreement(group, range(joined - _LOOK_BACK, joined + 1))
    return joined if differing is None else differing[0] - 1


def _reached(member: Member, first: int | None) -> int:
    """The last collective that the member issued before the operation in which it waits."""
    window = member.window
    if first is None or not window or window[-1].record < first:
        return member.issued
    behind = sum(1 for operation in window if operation.record >= first)
    return member.base + window[-1].number - behind


def _first_after(member: Member, closed: int) -> int | None:
    """The first collective after `closed`, else the first one that is not retired. Where a recorder retires nothing, that
    tells nothing: then it is the last one, if the rank has issued nothing else since."""
    if member.issued > closed:
        return closed + 1
    pending = member.record.pending if member.record else ()
    if not pending:
        return None
    if tells_of_ends(member.dump):
        return member.base + pending[0].number
    return member.base + pending[-1].number if pending[-1].record == member.dump.last_record() else None


def tells_of_ends(dump: RankRecord) -> bool:
    """Whether a dump describes anything that is over."""
    return any(group.recent or group.transfers for group in dump.groups)


def _see_members(
    gathering: Gathering, group: ProcessGroup, ordinal: int, first: Mapping[int, int], dumps: Mapping[int, RankRecord]
) -> None:
    """Who of the group has not come to a collective. Where only the status of a nameless group tells that something is
    open, nobody can be said to be absent; nor of one that a rank completed, which it cannot have without all others."""
    if gathering.operation is None and not group.proven:
        return
    passed = group.passed(ordinal)
    for rank in group.ranks:
        member = group.members.get(rank)
        if member is None:
            gathering.unknown += [rank] if rank not in dumps and not passed else []
        elif member.issued < ordinal:
            gathering.absent += [rank] if not passed else []
        elif member.done < ordinal or not group.completions:
            _see_held(gathering, rank, member.at(ordinal), first.get(rank))


def _see_held(gathering: Gathering, rank: int, operation: Operation | None, first: int | None) -> None:
    """Whether a rank that issued its part still waits in an earlier operation: run-ahead hosts issue long before."""
    if operation is None or first is None or operation.state == "started":
        return
    if first < operation.place:
        gathering.held[rank] = operation.place


def learns_starts(dump: RankRecord) -> bool:
    """Whether a recorder learns of starts. A dump of open operations only may show none that started; NCCL's status counts them
    where it times the device."""
    return any(group.starts or (group.started is not None and group.started > 0) for group in dump.groups)


def _see_late(gatherings: Iterable[Gathering], groups: list[ProcessGroup]) -> None:
    """Who is late for receives from anybody."""
    taken = [(gathering, one) for gathering in gatherings if (one := _from_anybody(gathering))]
    shared = by_rank(groups) if taken else {}
    for gathering, one in taken:
        if gathering.ends is not None:
            gathering.absent += late_senders(gathering.group, shared, gathering.ends[1], one.record)


def _from_anybody(gathering: Gathering) -> Operation | None:
    """The receive that a gathering is, if any rank of a known group may send to it."""
    one = gathering.operation if gathering.is_transfer and gathering.group.proven else None
    return one if one and one.kind == RECEIVE and one.source < 0 <= one.target else None


class _Wanted(Struct, frozen=True):
    """What a waiting end of a transfer wants of the other: that it has issued `operation`, which matches."""

    rank: int
    operation: Operation | None


class _Exchange(Struct, frozen=True):
    """The transfers of a group: by rank those that are open, and how many of each kind and ends it issued in all."""

    group: ProcessGroup
    open: dict[int, list[Operation]]
    issued: dict[tuple[int, str, int, int], int]

    def like(self, rank: int, kind: str, operation: Operation) -> list[Operation]:
        """The open operations of a rank of this kind between the ends of `operation`."""
        wanted = (kind, operation.source, operation.target)
        return [one for one in self.open.get(rank, ()) if (one.kind, one.source, one.target) == wanted]

    def settled(self, rank: int, kind: str, operation: Operation, *, exact: bool, anchor: Anchor | None) -> int:
        """How many of these are not open any more: of all, where that is known `exact`, else since the anchor; 0 without one."""
        like = self.like(rank, kind, operation)
        if exact:
            return self.issued.get((rank, kind, operation.source, operation.target), 0) - len(like)
        return settled(self.group.members[rank], anchor, kind, operation, like) if anchor else 0


def _exchange(group: ProcessGroup, first: Mapping[int, int]) -> _Exchange:
    records = [(rank, member.record) for rank, member in group.members.items() if member.record]
    issued = {(rank, *pair[:3]): pair.times for rank, record in records for pair in record.pairs}
    if group.completions:
        return _Exchange(group, {rank: list(record.pending_transfers) for rank, record in records}, issued)
    return _Exchange(group, {rank: _unmatched(group, record, issued, first) for rank, record in records}, issued)


def _unmatched(
    group: ProcessGroup,
    record: GroupRecord,
    issued: Mapping[tuple[int, str, int, int], int],
    first: Mapping[int, int],
) -> list[Operation]:
    """Where no completion is known: the operations that the other end has not issued its half of, or only behind an
    operation in which it waits, whatever the entries were that its ring has lost."""
    excess: dict[tuple[str, int, int], int] = {}
    for kind, source, target, count in record.pairs:
        peer = group.global_rank(target if kind == SEND else source)
        other = group.members.get(-1 if peer is None else peer)
        lost = lost_entries(other.dump) if other else None
        if other and lost is not None:
            opposite = (RECEIVE if kind == SEND else SEND, source, target)
            half = issued.get((other.rank, *opposite), 0) - _behind(other, opposite, first.get(other.rank))
            excess[kind, source, target] = max(0, count - half - lost)
    found = []
    for operation in reversed(record.transfers):
        like = (operation.kind, operation.source, operation.target)
        if excess.get(like, 0) > 0:
            excess[like] -= 1
            found.append(operation)
    return found[::-1]


def lost_entries(dump: RankRecord) -> int | None:
    """How many entries the ring of a recorder has lost; None where that is not known."""
    if dump.whole:
        return 0
    return dump.issued - dump.entries if dump.issued > dump.entries else None


def _behind(member: Member, like: tuple[str, int, int], first: int | None) -> int:
    """How many transfers of this sort a rank issued behind the operation in which it waits."""
    if first is None or member.record is None:
        return 0
    moved = member.record.transfers + member.record.pending_transfers
    return sum(1 for one in moved if (one.kind, one.source, one.target) == like and max(one.record, one.batch) > first)


def _transfer_gatherings(
    groups: list[ProcessGroup], first: Mapping[int, int]
) -> dict[_TransferKey, tuple[Gathering, list[_Wanted]]]:
    found: dict[_TransferKey, tuple[Gathering, list[_Wanted]]] = {}
    of_rank: dict[int, list[ProcessGroup]] = defaultdict(list)
    for group in groups:
        for rank in group.members:
            of_rank[rank].append(group)
    for number, group in enumerate(groups):
        exchange = _exchange(group, first)
        anchors: dict[tuple[int, int], Anchor | None] = {}
        for rank in group.members:
            for operation, nth in _transfer_fronts(exchange.open.get(rank, [])):
                _add_transfer(found, number, exchange, rank, operation, nth, of_rank[rank], anchors)
    return _without_done_parts(found)


def _met_parts(transfers: Sequence[Gathering]) -> set[int]:
    """The transfers to which both ends have come as parts of batches that wait for others."""

    def is_met(one: Gathering) -> bool:
        return len(one.fronts) == len(one.ends or ()) and not (one.absent or one.held or one.unknown)

    return _waiting_elsewhere(transfers, {id(one) for one in transfers if is_met(one)})


def _without_done_parts(
    found: dict[_TransferKey, tuple[Gathering, list[_Wanted]]],
) -> dict[_TransferKey, tuple[Gathering, list[_Wanted]]]:
    """Without the transfers that the other end shows to be over, where they are parts of batches that wait for others."""

    def is_done(gathering: Gathering, wanted: list[_Wanted]) -> bool:
        return len(gathering.fronts) == 1 and all(want.operation is _COMPLETED for want in wanted) and bool(wanted)

    done = {id(gathering) for gathering, wanted in found.values() if is_done(gathering, wanted)}
    parts = _waiting_elsewhere([gathering for gathering, _ in found.values()], done)
    return {key: one for key, one in found.items() if id(one[0]) not in parts}


def _waiting_elsewhere(transfers: Sequence[Gathering], over: Collection[int]) -> set[int]:
    """Of the transfers that are `over`, by identity, those of which each end is part of a batch that waits in another one: those
    of a batch complete together."""
    waits_on = {
        (front.rank, front.record)
        for one in transfers
        if id(one) not in over
        for front in one.fronts
        if front.operation is not None and front.operation.batch >= 0
    }
    return {id(one) for one in transfers if id(one) in over and all((f.rank, f.record) in waits_on for f in one.fronts)}


def _add_transfer(
    found: dict[_TransferKey, tuple[Gathering, list[_Wanted]]],
    number: int,
    exchange: _Exchange,
    rank: int,
    operation: Operation,
    nth: int,
    groups: Sequence[ProcessGroup],
    anchors: dict[tuple[int, int], Anchor | None],
) -> None:
    """Where the members of a group, or the sender, are not recorded, nobody in particular is waited for."""
    group = exchange.group
    ends = (group.global_rank(operation.source), group.global_rank(operation.target))
    peer = ends[1] if operation.kind == SEND else ends[0]
    if peer is None or not group.proven:
        alone = Gathering(group, nth, ends=(-1, rank), fronts=[Front(rank, operation)])
        found[number, -1, rank, operation.record] = (alone, [])
        return
    other, member = group.members.get(peer), group.members[rank]
    exact = bool(other and other.dump.whole and member.dump.whole and other.record)
    pair = (min(rank, peer), max(rank, peer))
    if not exact and other and other.record and group.completions and pair not in anchors:
        anchors[pair] = anchor_of(groups, group, pair, exchange.open)
    anchor = anchors.get(pair)
    ordinal = nth + exchange.settled(rank, operation.kind, operation, exact=exact, anchor=anchor)
    key = (number, operation.source, operation.target, ordinal)
    gathering, wanted = found.setdefault(key, (Gathering(group, ordinal, ends=(ends[0] or 0, ends[1] or 0)), []))
    gathering.fronts.append(Front(rank, operation))
    wanted.append(_Wanted(peer, _matching(exchange, peer, operation, ordinal, exact=exact, anchor=anchor)))


def _transfer_fronts(pending: list[Operation]) -> Iterator[tuple[Operation, int]]:
    """The first open operation of each stream, all of a batch together; each with its number among its like."""
    counts: dict[tuple[str, int, int], int] = defaultdict(int)
    streams: dict[tuple[int, int], int] = {}
    for operation in pending:
        like = (operation.kind, operation.source, operation.target)
        nth, counts[like] = counts[like], counts[like] + 1
        low, high = sorted((operation.source, operation.target))
        stream = (-2, -2) if operation.batch >= 0 else (low, high)
        if streams.setdefault(stream, operation.place) == operation.place:
            yield operation, nth


#: Stands for a matching operation that has completed.
_COMPLETED = Operation(-1, "", "", -1, -1, "completed", -1, -1, "", 0, -1)


def _matching(
    exchange: _Exchange, peer: int, operation: Operation, ordinal: int, *, exact: bool, anchor: Anchor | None
) -> Operation | None:
    """The other end's operation that matches; None if it never issued one."""
    kind = RECEIVE if operation.kind == SEND else SEND
    opposite = exchange.like(peer, kind, operation)
    index = ordinal - exchange.settled(peer, kind, operation, exact=exact, anchor=anchor)
    if index < 0:
        return _COMPLETED
    return opposite[index] if index < len(opposite) else None


def _see_partner(
    gathering: Gathering, wanted: list[_Wanted], first: Mapping[int, int], dumps: Mapping[int, RankRecord]
) -> None:
    """Whether the other end of a transfer has come, and, where it has, whether the one that waits for it has begun."""
    for want in wanted:
        if want.rank not in dumps:
            gathering.unknown.append(want.rank)
        elif want.operation is None:
            gathering.absent.append(want.rank)
        elif want.operation is not _COMPLETED:
            gathering.met[want.rank] = want.operation.state
            _see_held(gathering, want.rank, want.operation, first.get(want.rank))
        elif gathering.ends and gathering.ends[0] == want.rank and tells_of_ends(dumps[want.rank]):
            # what was sent may lie ready, but nobody receives what was not
            gathering.met[want.rank] = _COMPLETED.state
    if gathering.absent or gathering.unknown or gathering.held:
        return
    for front in gathering.fronts:
        if learns_starts(dumps[front.rank]) and tells_of_ends(dumps[front.rank]):
            _see_held(gathering, front.rank, front.operation, first.get(front.rank))
