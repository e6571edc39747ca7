"""Words as records: what the stands of a rank say, in the shape of a flight-recorder dump, so that one graph reads both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact, Place, Value
from neuron_doctor.engine.recorder import COLLECTIVE, GroupRecord, Operation, rank_record, ranks_of, ranks_text
from neuron_doctor.engine.stands import DEFAULT, LOCAL, POINT_TO_POINT, Stand

#: Numbers of groups that mean nothing to other ranks begin here, beyond all that torch gives.
_LOCAL_IDS = 1_000_000
#: So many members must stand in one line before the ranks between them are taken for members too.
_LINE = 3


class Known(Struct, frozen=True):
    """What is known of the groups that words name. `whole`: all members of the default group are; `several`: the job
    has other groups than that one. Ranks that are members of a `closed` group of the dumps, whose numbers words do not
    share, can have no record."""

    groups: Mapping[str, GroupRecord] = field(default_factory=dict)
    dumped: bool = False
    whole: bool = False
    several: bool = False
    closed: frozenset[str] = frozenset()

    def title(self, pg: str) -> str:
        """What people call a group."""
        return self.groups[pg].desc if pg in self.groups else ""


def waiting_ranks(stands: Iterable[Stand]) -> frozenset[int]:
    """The ranks that wait in something: by their own words, or with something enqueued that is not completed."""
    return frozenset(s.rank for s in stands if s.waits or (0 <= s.completed < s.enqueued))


def known_groups(stands: Sequence[Stand], dumps: Iterable[Fact], size: int | None) -> Known:
    """The groups by name: as the dumps list them, else as the ranks in words, their places in the group and the size of
    the world allow."""
    recorded = {fact.place.rank: rank_record(fact, fact.place.rank) for fact in dumps if fact.place.rank is not None}
    named = {group.name: group for record in recorded.values() for group in record.groups if group.name}
    closed = {g.members for record in recorded.values() for g in record.groups if not _counts_alike(g)}
    by_pg: dict[str, list[Stand]] = defaultdict(list)
    for stand in stands:
        by_pg[stand.pg].append(stand)
    counted = [pg for pg in by_pg if pg != LOCAL and _is_countable(by_pg[pg])]
    if not recorded:
        named = {pg: _group(pg, by_pg[pg], size) for pg in counted}
    spread = {stand.rank for stand in by_pg[DEFAULT]} if DEFAULT in by_pg else set()
    whole = size is not None and all(rank < size for rank in spread)
    several = len({pg for pg in by_pg if pg != LOCAL or any(s.waits for s in by_pg[pg])}) > 1 or len(named) > 1
    return Known(named, bool(recorded), whole, several, frozenset(closed))


def _counts_alike(group: GroupRecord) -> bool:
    """Whether the numbers that a watchdog prints are those of the dumps: no point-to-point operation has used any up,
    and the status is in the same unit."""
    window = group.recent + group.pending
    in_unit = not window or group.enqueued in (None, window[0].sequence - window[0].number + group.length - 1)
    return group.completions and group.contiguous and not (group.batched or group.point_to_point) and in_unit


def _is_countable(stands: Sequence[Stand]) -> bool:
    """Whether the numbers of a group mean the same on all its ranks: not where two ranks have one place in it."""
    places: dict[int, set[int]] = defaultdict(set)
    for stand in stands:
        if stand.group_rank >= 0:
            places[stand.group_rank].add(stand.rank)
    alone = all(len(ranks) == 1 for ranks in places.values())
    return alone and not any(stand.operation in POINT_TO_POINT for stand in stands)


def _group(pg: str, stands: Sequence[Stand], size: int | None) -> GroupRecord:
    ranks = {stand.rank for stand in stands}
    if pg == DEFAULT:
        fits = size is not None and all(rank < size for rank in ranks)
        members, desc = (range(size or 0) if fits else sorted(ranks)), "default_pg"
    else:
        members = _in_line({s.group_rank: s.rank for s in stands if s.group_rank >= 0}) or sorted(ranks)
        told = next((s.desc for s in stands if s.desc and s.desc != pg), "")
        desc = f"{told} ({pg})" if told else f"process group {pg}" if pg.isdecimal() else pg
    blank = (None, None, None, True, False, 0, True, False, False, (), (), (), (), ())
    return GroupRecord(pg, desc, int(pg) if pg.isascii() and pg.isdecimal() else -1, ranks_text(members), *blank)


def _in_line(places: Mapping[int, int]) -> list[int]:
    """The members from the first place to the last known one, if the known ones stand in one line (0, 1, 3; 1, 9, 17);
    empty where they do not, or are too few to tell."""
    known = sorted(places.items())
    if len(known) < _LINE:
        return []
    (first, low), (last, high) = known[0], known[-1]
    step, rest = divmod(high - low, last - first)
    if rest or step < 1 or low - first * step < 0 or any(rank != low + (at - first) * step for at, rank in known):
        return []
    return [low + (at - first) * step for at in range(last + 1)]


def records_of(stands: Sequence[Stand], known: Known, run: tuple[str | None, int | None]) -> list[Fact]:
    """A record, in a fact like that of a dump, for each rank of whose position words say anything."""
    by_rank: dict[int, list[Stand]] = defaultdict(list)
    for stand in stands:
        by_rank[stand.rank].append(stand)
    waits = sorted({_wait(stand) for stand in stands if stand.waits})
    ids = {wait: _LOCAL_IDS + number for number, wait in enumerate(waits)}
    barred = {rank for text in known.closed for rank in ranks_of(text)}
    found: list[Fact] = []
    for rank, own in sorted(by_rank.items()):
        groups = [] if rank in barred else list(_records(own, known, ids))
        if groups:
            found.append(_fact(rank, own, groups, run))
    return found


def _wait(stand: Stand) -> tuple[int, str, int, int, int]:
    """What a wait in a group that means nothing to others is known by."""
    own = stand.rank if stand.operation in POINT_TO_POINT else -1
    return stand.sequence, stand.operation, stand.numel_in, stand.numel_out, own


def _records(
    own: Sequence[Stand], known: Known, ids: Mapping[tuple[int, str, int, int, int], int]
) -> Iterator[GroupRecord]:
    by_pg: dict[str, list[Stand]] = defaultdict(list)
    for stand in own:
        by_pg[stand.pg if stand.pg in known.groups else LOCAL].append(stand)
    for pg, stands in sorted(by_pg.items()):
        if pg != LOCAL:
            yield from _in_group(stands, known.groups[pg], described=not known.dumped)
            continue
        for wait in sorted({_wait(stand) for stand in stands if stand.waits}):
            sequence, name, *_ = wait
            at = Operation(ids[wait], COLLECTIVE, name, max(sequence, 0), 0, "scheduled", -1, -1, "", 0, -1)
            yield GroupRecord("", "a process group", ids[wait], "", None, None, None, True, False, 1, True, False, False,
                              (), (at,), (), (), ())  # fmt: skip


def _in_group(stands: Sequence[Stand], group: GroupRecord, *, described: bool) -> Iterator[GroupRecord]:
    """How far a rank came in a group that means the same to all; the operation too, unless dumps describe it, which call
    operations by other names."""
    waits = sorted((s for s in stands if s.waits and s.sequence >= 0), key=lambda s: (s.sequence, not s.operation))
    reached = [s.enqueued for s in stands] + [s.sequence for s in waits] + [s.completed for s in stands]
    enqueued = max(reached, default=-1)
    if waits:
        first = waits[0]
        started = max(s.started for s in stands)
        state = "started" if started >= first.sequence else "scheduled"
        at = Operation(first.sequence, COLLECTIVE, first.operation, first.sequence, 0, state, first.numel_in,
                       first.numel_out, "", 0, -1)  # fmt: skip
        length = enqueued - first.sequence + 1
        told = described and bool(first.operation)
        yield _standing(group, (enqueued, started, first.sequence - 1), (at,) if told else (), length if told else 0)
    elif any(s.enqueued >= 0 or s.completed >= 0 or _has_status(s) for s in stands):
        completed = max(s.completed for s in stands)
        yield _standing(group, (enqueued, -1, completed), (), 0)


def _has_status(stand: Stand) -> bool:
    """Whether the rank says that it never enqueued anything (-1)."""
    return "last_enqueued" in stand.fact.data


def _standing(
    group: GroupRecord, status: tuple[int, int, int], pending: tuple[Operation, ...], length: int
) -> GroupRecord:
    """The group as one rank stands in it; `status` is the last enqueued, started and completed."""
    enqueued, started, completed = status
    return group._replace(
        enqueued=enqueued, started=started, completed=completed, starts=started >= 0, length=length, contiguous=True,
        recent=(), pending=pending, transfers=(), pending_transfers=(), pairs=(),
    )  # fmt: skip


def _fact(rank: int, own: Sequence[Stand], groups: Sequence[GroupRecord], run: tuple[str | None, int | None]) -> Fact:
    """The record of a rank, which stands on the words for what it waits in, else on the last of its words."""
    best = next((stand for stand in own if stand.waits), own[-1]).fact
    job, attempt = run
    data: dict[str, Value] = {"version": "", "dialect": "words", "whole": False, "groups": tuple(groups)}
    counts: dict[str, Value] = {"entries": 0, "issued": 0, "first_ns": 0, "last_ns": 0}
    # what a peer says of the rank is said on the peer's host, and by its clock
    own_words = best.place.rank == rank
    host = best.place.host if own_words else None
    place = Place(job=job, attempt=attempt, host=host, rank=rank)
    return Fact("fr-rank", {**data, **counts}, place, best.span, best.source, best.instant if own_words else None)
