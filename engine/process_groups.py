"""Process groups over all dumps: their members, and ordinals by which the same collective is known on every rank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct, field

from neuron_doctor.engine.recorder import ROOTED, GroupRecord, Operation, RankRecord, ranks_of
from neuron_doctor.engine.roll_call import Roll, roll_of, size_of

#: At so many places the ranks of a group stand where a device is stuck: there, and where the others wait for it.
_PLACES = 2
#: One dump that is behind may be an old one.
_SEVERAL = 2
#: How far apart the numbers of one collective on two ranks are looked for.
_SHIFTS = sorted(range(-12, 13), key=lambda shift: (abs(shift), shift))

Key = tuple[str, str, int]


class Member(Struct):
    """A rank with a dump in a group. `record` is None where the rank never used the group.

    `base` is the ordinal of the collective with number 0, `issued` that of the last one that the rank issued, `done` that
    of the last one that is known to have completed there.
    """

    dump: RankRecord
    record: GroupRecord | None
    base: int = 0
    issued: int = -1
    done: int = -1

    @property
    def rank(self) -> int:
        """Its global rank."""
        return self.dump.rank

    @property
    def window(self) -> tuple[Operation, ...]:
        """The collectives that the dump still describes, in order, without a gap."""
        return self.record.recent + self.record.pending if self.record else ()

    def at(self, ordinal: int) -> Operation | None:
        """The collective of that ordinal, where the dump still describes it."""
        if self.record is None or not (self.record.recent or self.record.pending):
            return None
        for operations in (self.record.pending, self.record.recent):
            index = ordinal - self.base - operations[0].number if operations else -1
            if 0 <= index < len(operations):
                return operations[index]
        return None


class ProcessGroup(Struct, dict=True):
    """A process group: `ranks` are its global ranks, in its order; `proven` when a dump lists them, or they are those that
    recorded it; then `whole` tells whether no others can be members."""

    key: Key
    name: str
    desc: str
    ranks: tuple[int, ...]
    proven: bool
    whole: bool
    members: dict[int, Member] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What people call it."""
        plain = self.desc if self.desc not in {"", "undefined"} else ""
        return plain or self.name or f"pg {self.key[2]}"

    @cached_property
    def completions(self) -> bool:
        """Whether completions are known here at all; if not, an operation is open as long as a member has not issued it."""
        return all(member.record.completions for member in self.members.values() if member.record)

    @cached_property
    def _passed(self) -> int:
        """The last collective that a member completed and could not have without all others; -1 where none is known."""
        recorded = [member for member in self.members.values() if member.record and member.window]
        if not (self.proven and self.completions) or any(map(_is_skewed, recorded)):
            return -1
        return max((_last_joint(member) for member in recorded), default=-1)

    def passed(self, ordinal: int) -> bool:
        """Whether all members are known to have come to a collective, as one of them, or a later one, completed."""
        return ordinal <= self._passed

    def outdated(self, rank: int) -> bool:
        """Whether the rank's dump is of an earlier moment than another: it lacks what that shows to be over."""
        member = self.members.get(rank)
        return (
            member is not None and member.record is not None and not _is_skewed(member) and member.issued < self._passed
        )

    def has_outdated(self) -> bool:
        """Whether any of its dumps is."""
        return any(map(self.outdated, self.members))

    def went_on(self) -> bool:
        """Whether it went on while its dumps were written: in some of them a collective is open that other ranks show to be
        over, as they have completed a later one with all; and these are most, or the group stands at more places than where
        a device is stuck and where the others wait for it."""
        members = [member for member in self.members.values() if member.record and not _is_skewed(member)]
        opened = [m.base + m.record.pending[0].number for m in members if m.record and m.record.pending]
        over = [ordinal for ordinal in opened if ordinal < self._passed]
        places = len(set(opened))
        several = bool(over) and places > _PLACES and (len(over) >= _SEVERAL or places > _PLACES + 1)
        return several or 2 * len(over) > len(members)

    def global_rank(self, end: int) -> int | None:
        """The global rank of an end of a point-to-point operation, which is recorded by its number in the group."""
        if end < 0:
            return None
        return self.ranks[end] if end < len(self.ranks) else end


def _is_skewed(member: Member) -> bool:
    """Whether the numbers of a rank's collectives may differ from those of its peers."""
    record = member.record
    return record is None or not record.contiguous or record.point_to_point


def _last_joint(member: Member) -> int:
    joint = (one for one in reversed(member.record.recent if member.record else ()) if one.name not in ROOTED)
    return next((member.base + one.number for one in joint), -1)


def process_groups(dumps: Mapping[int, RankRecord], heard: Iterable[int] = ()) -> list[ProcessGroup]:
    """All groups with at least one dump, with their members' ordinals, in a canonical order; `heard`: ranks that the job is
    known to have by other evidence."""
    reported: dict[Key, dict[int, GroupRecord]] = defaultdict(dict)
    for rank, dump in dumps.items():
        for key, record in _keyed(dump.groups):
            reported[key].setdefault(rank, record)
    roll = roll_of(dumps, heard)
    groups = [_group(key, reported[key], dumps, roll) for key in sorted(reported)]
    for group in groups:
        _count(group)
    return groups


def _keyed(records: Iterable[GroupRecord]) -> list[tuple[Key, GroupRecord]]:
    """A group is known by name and members: names are used again for other members. Without a name (torch 2.2, 2.3) it
    is the n-th of its members on this rank, or, where not even those are recorded, the rank's own number of it."""
    found: list[tuple[Key, GroupRecord]] = []
    nameless: dict[str, int] = defaultdict(int)
    for record in records:
        number = -1
        if not record.name:
            number = nameless[record.members] if record.members else record.pg_id
            nameless[record.members] += 1
        found.append(((record.name, record.members, number), record))
    return found


def _group(key: Key, reported: dict[int, GroupRecord], dumps: Mapping[int, RankRecord], roll: Roll) -> ProcessGroup:
    name, members, number = key
    desc = min(record.desc for record in reported.values())
    recorded = any(record.length for record in reported.values())
    everyone = recorded and not members and (number == 0 or name == "0" or desc == "default_pg")
    size = None if members else size_of(reported.values())
    world = roll.ranks if size is None or size < len(roll.ranks) else tuple(range(size))
    ranks = ranks_of(members) or (world if everyone else tuple(sorted(reported)))
    whole = bool(members) or (roll.whole if size is None else size == len(ranks))
    # Without a list of members the ranks that recorded the name are the members; a bare number is each rank's own.
    group = ProcessGroup(key, name, desc, ranks, bool(members or name or everyone), whole)
    for rank in ranks:
        if rank in dumps:
            group.members[rank] = Member(dumps[rank], reported.get(rank))
    return group


def _count(group: ProcessGroup) -> None:
    """Give every member its ordinals."""
    recorded = [member for member in group.members.values() if member.window]
    _set_bases(recorded)
    for member in recorded:
        window, pending = member.window, member.record.pending if member.record else ()
        member.issued = member.base + window[0].number + _length(member) - 1
        member.done = min(member.base + pending[0].number - 1, _done_by_status(member)) if pending else member.issued
    frontier = max((member.done if group.completions else member.issued for member in recorded), default=-1)
    offset = _status_offset(group.members.values())
    for member in group.members.values():
        if not member.window:
            _count_by_status(member, offset, frontier)
    if not group.completions and group.members:
        joined = min(member.issued for member in group.members.values())
        for member in group.members.values():
            member.done = joined


def _done_by_status(member: Member) -> int:
    """The last collective that completed on a rank by the status of the group, where the ring has lost whatever was before its
    first open one, which may be open too; else its last."""
    record = member.record
    if record is None or record.recent or record.batched or record.point_to_point:
        return member.issued
    if record.enqueued is None or record.completed is None or record.completed < 0:
        return member.issued
    return member.issued - max(record.enqueued - record.completed, 0)


def _length(member: Member) -> int:
    """How many collectives the rank has issued since the first one of its window."""
    return member.record.length - member.window[0].number if member.record else 0


def _set_bases(members: list[Member]) -> None:
    """The common anchor. Numbers serve where no batch of point-to-point operations has used any up; counting from the
    start, where no ring has lost an entry; else the last collectives completed, moved until their arguments agree."""
    records = [(member, member.record) for member in members if member.record]
    skewed = any(record.batched or not record.contiguous for _, record in records)
    unseen = any(record.point_to_point for _, record in records) and any(not record.recent for _, record in records)
    if skewed and all(member.dump.whole for member in members):
        return
    for member in members:
        first = member.window[0]
        member.base = first.sequence - first.number
    if (skewed or unseen) and len({_last_done(member) for member in members}) > 1:
        reference = max(members, key=lambda member: (len(member.window), -member.rank))
        for member in members:
            member.base += _shift(member, reference)


def _last_done(member: Member) -> int:
    record = member.record
    if record is None:
        return -1
    return member.base + (record.pending[0].number - 1 if record.pending else record.length - 1)


def _shift(member: Member, reference: Member) -> int:
    """By how much the member's ordinals must move: so that both have completed equally many, or nearly so, if only then
    the arguments of what both still describe agree."""
    level = _last_done(reference) - _last_done(member)
    known = {reference.base + op.number: _digest(op) for op in reference.window}
    own = [(member.base + op.number + level, _digest(op)) for op in member.window]

    def cost(shift: int) -> int:
        differing = sum(known.get(ordinal + shift, digest) != digest for ordinal, digest in own)
        return differing + abs(shift)

    return level + min(_SHIFTS, key=cost)


def _digest(operation: Operation) -> tuple[str, str]:
    return operation.name, operation.dtype


def _status_offset(members: Iterable[Member]) -> int | None:
    """What to add to the group's status to get an ordinal, as the members show that have both; None where it is no
    constant, or counts point-to-point operations too."""
    offsets = set()
    for member in members:
        if member.record and member.record.point_to_point:
            return None
        if member.record and member.window and member.record.enqueued is not None and member.record.enqueued >= 0:
            offsets.add(member.issued - member.record.enqueued)
    return None if len(offsets) > 1 else next(iter(offsets), 0)


def _count_by_status(member: Member, offset: int | None, frontier: int) -> None:
    """A member whose dump has no entry of the group: its status tells, if it counts as its peers' do.

    Else it stands where its peers stand that have completed most: what it had issued beyond, it would show as open.
    """
    record = member.record
    if record is None:
        return
    if offset is None or record.enqueued is None or record.enqueued < 0:
        member.issued = member.done = frontier
        return
    member.issued = member.done = record.enqueued + offset
    if record.completed is not None and 0 <= record.completed <= record.enqueued:
        member.done = record.completed + offset
