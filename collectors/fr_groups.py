"""The entries of a flight-recorder dump, summed up by process group: counts, the latest operations, all open ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct, field

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.fr_entries import (
    Entry,
    backend_of,
    created_ns,
    ends_of,
    integer,
    is_closing,
    is_done,
    is_named_transfer,
    is_timed,
    learns_starts,
    operation_of,
    sequence,
    text,
)
from neuron_doctor.collectors.fr_excerpt import Left
from neuron_doctor.engine.recorder import COLLECTIVE, PENDING, RECEIVE, RECENT, GroupRecord, Operation, Pair

_WITH_FRAMES = 64

#: Backends whose recorder always, or never, learns that an operation completed.
_COMPLETES = {"nccl", "xccl", "ncclx", "rccl"}
_NEVER_COMPLETES = {"gloo"}

#: Who issues so many operations, for so long, does not wait in the first of them.
_MANY, _LONG_NS = 16, 10**9
#: The host waits in it, too.
_BARRIER = ":barrier"

_NAMELESS = ("", "")

Row = tuple[int, Entry]


class GroupHead(NamedTuple):
    """How a rank knows a group: its own number of it, its name, its description."""

    pg_id: int
    name: str
    desc: str


class Status(NamedTuple):
    """`pg_status` of a group; -1 where a number is missing."""

    enqueued: int
    started: int
    completed: int


class _Move(NamedTuple):
    """A send or receive: its row, the row that carries its state (its own, or the closing one of its batch), its ends."""

    row: Row
    closing: Row
    kind: str
    source: int
    target: int


class Rows(Struct):
    """The entries of a group with their positions in the dump, which is in the order of recording.

    `left_out`: how many collectives were not read, all before the last `RECENT` completed ones, and `first_left` the
    lowest of their numbers; `moved`: how many transfers were not, by their kind and ends.
    """

    collectives: list[Row] = field(default_factory=list)
    transfers: list[Row] = field(default_factory=list)
    left_out: int = 0
    first_left: int = 1 << 63
    moved: Counter[tuple[str, int, int]] = field(default_factory=Counter)


class Entries(Struct, frozen=True):
    """The entries of a dump that were read, with their positions, and how many it has. `left`: those not read, each
    with one of its group and name that was."""

    rows: list[tuple[int, object]]
    total: int
    left: tuple[tuple[Entry, Left], ...] = ()


def complete(entries: list[object]) -> Entries:
    """All entries of a dump, each with its place in the order in which the rank recorded them: the `record_id`, or,
    where that does not grow from entry to entry, the place in the dump."""
    numbers = [integer(entry.get("record_id"), -1) if type(entry) is dict else -1 for entry in entries]
    growing = numbers[:1] != [-1] and all(before < after for before, after in pairwise(numbers))
    return Entries(list(zip(numbers if growing else list(range(len(entries))), entries, strict=True)), len(entries))


def abridged(entries: object, left: Iterable[Left]) -> Entries | None:
    """Entries of a dump from which some were cut out; None if the numbers of the records do not bear that out."""
    if not isinstance(entries, list) or not all(type(entry) is dict for entry in entries) or not entries:
        return None
    numbers = [entry.get("record_id") for entry in entries]
    if not all(type(number) is int for number in numbers) or sorted(set(numbers)) != numbers:
        return None
    total = numbers[-1] - numbers[0] + 1
    by_number = dict(zip(numbers, entries, strict=True))
    examples = [(by_number.get(one.example), one) for one in left]
    if total != len(entries) + sum(one.times for one in left) or not all(entry for entry, _ in examples):
        return None
    return Entries(
        list(zip(numbers, entries, strict=True)), total, tuple((entry, one) for entry, one in examples if entry)
    )


class _Steps(NamedTuple):
    """The collectives of a group, in order; `inner`: what a coalesced one is made of, by the position of its closing."""

    rows: list[Row]
    inner: dict[int, list[Row]]
    contiguous: bool


def rows_by_group(entries: Entries, inp: Input) -> dict[GroupHead, Rows]:
    """The entries of each group."""
    groups: dict[GroupHead, Rows] = {}
    for position, entry in entries.rows:
        if type(entry) is not dict:
            inp.problem("an entry of the dump is not a record")
            continue
        head, is_transfer = _head_of(entry), entry.get("is_p2p")
        rows = groups.get(head)
        if rows is None:
            rows = groups[head] = Rows()
        if is_transfer is True or (is_transfer is None and is_named_transfer(entry)):
            rows.transfers.append((position, entry))
        else:
            rows.collectives.append((position, entry))
    for entry, left in entries.left:
        _leave_out(groups[_head_of(entry)], entry, left)
    return groups


def _head_of(entry: Entry) -> GroupHead:
    group = entry.get("process_group")
    name, desc = group if isinstance(group, tuple | list) and len(group) == len(_NAMELESS) else _NAMELESS
    return GroupHead(integer(entry.get("pg_id"), -1), text(name), text(desc))


def _leave_out(rows: Rows, entry: Entry, left: Left) -> None:
    """Count entries like `entry` that were not read."""
    if entry.get("is_p2p") is not True:
        rows.left_out += left.times
        rows.first_left = min(rows.first_left, left.first)
    elif ends := ends_of(text(entry.get("profiling_name"))):
        rows.moved[ends] += left.times


def group_records(
    heads: Sequence[tuple[GroupHead, str, Status | None]], rows: dict[GroupHead, Rows]
) -> list[GroupRecord]:
    """One record for each group, given its members (as text) and its status."""
    learned = {backend for group in rows.values() for backend in _backends_that_complete(group)}
    issues_only = not learned and _tells_of_issues_only(rows.values(), [status for *_, status in heads])
    return [
        _group_record(head, members, status, rows.get(head, Rows()), learned, issues_only=issues_only)
        for head, members, status in heads
    ]


def _tells_of_issues_only(groups: Iterable[Rows], statuses: Iterable[Status | None]) -> bool:
    """Whether nothing in a dump ever started, ended or was retired, though its rank went on issuing, for long, after a barrier or
    until the ring had lost entries: nobody tells this recorder of more, for who waits in his first operation does not issue the
    next ones for a second, nor so many."""
    listed = (rows for group in groups for rows in (group.collectives, group.transfers))
    rows = sorted((row for some in listed for row in _firsts(some)), key=itemgetter(0))
    entries = [entry for _, entry in rows]
    if len(entries) < _MANY or any(entry.get("retired") is True for entry in entries) or learns_starts(entries):
        return False
    passed = any(text(entry.get("profiling_name")).endswith(_BARRIER) for entry in entries[:-1])
    completed = [status.completed for status in statuses if status is not None]
    has_lost = rows[0][0] > 0 and bool(completed) and max(completed) < 0
    return passed or has_lost or created_ns(entries[-1]) - created_ns(entries[0]) > _LONG_NS


def _firsts(rows: list[Row]) -> list[Row]:
    """Enough of them: what was never told of the first ones is told of none."""
    return [*rows[:_MANY], *rows[-1:]]


def _backends_that_complete(rows: Rows) -> Iterable[str]:
    for listed in (rows.collectives, rows.transfers):
        last = next((entry for _, entry in reversed(listed) if entry.get("state") == "completed"), None)
        if last is not None:
            yield backend_of(last)


def _learns_completions(rows: Rows, learned: set[str], *, issues_only: bool) -> bool:
    """Whether the recorder of this group is told of completions: if not, `retired` on `scheduled` entries is all it says, or
    not even that (`issues_only`)."""
    both = rows.collectives + rows.transfers
    backend = backend_of(both[-1][1]) if both else ""
    if backend in _NEVER_COMPLETES:
        return False
    if backend in _COMPLETES or backend in learned:
        return True
    return not issues_only and not any(entry.get("retired") is True for _, entry in both)


def _group_record(
    head: GroupHead, members: str, status: Status | None, rows: Rows, learned: set[str], *, issues_only: bool
) -> GroupRecord:
    completions = _learns_completions(rows, learned, issues_only=issues_only)
    moves, closings = _moves(rows, completions)
    steps = _steps([row for row in rows.collectives if row[0] not in closings] if closings else rows.collectives, rows)
    done, undone = _open_moves(moves, completions)
    left_out = rows.left_out
    open_from = _last_done(steps.rows, completions) + 1
    first, last = max(0, open_from - RECENT), min(len(steps.rows), open_from + PENDING)
    window = [entry for _, entry in steps.rows[first:last]]
    return GroupRecord(
        name=head.name,
        desc=head.desc,
        pg_id=head.pg_id,
        members=members,
        enqueued=status.enqueued if status else None,
        started=status.started if status else None,
        completed=status.completed if status else None,
        completions=completions,
        starts=learns_starts(window + [move.closing[1] for move in moves[-RECENT:]]),
        length=left_out + len(steps.rows),
        contiguous=steps.contiguous,
        batched=bool(closings),
        point_to_point=bool(rows.transfers) or any(integer(entry.get("p2p_seq_id"), 0) > 0 for entry in window),
        recent=_measured_alike(
            [_collective(steps, i, left_out, framed=i == open_from - 1) for i in range(first, open_from)], window
        ),
        pending=tuple(
            _collective(steps, i, left_out, framed=i - open_from < _WITH_FRAMES) for i in range(open_from, last)
        ),
        transfers=tuple(_transfer(move, framed=move is done[-1]) for move in done[-RECENT:]),
        pending_transfers=tuple(_transfer(move, framed=i < _WITH_FRAMES) for i, move in enumerate(undone[:PENDING])),
        pairs=_pairs(moves, rows.moved),
    )


def _steps(rows: list[Row], group: Rows) -> _Steps:
    """The collectives: of a coalesced one the closing entry, with the inner ones that stand before it kept beside."""
    numbers = [sequence(entry) for _, entry in rows]
    if len(set(numbers)) == len(numbers):
        return _Steps(rows, {}, not numbers or _spans(numbers[0], numbers[-1], group, len(numbers)))
    steps: list[Row] = []
    inner: dict[int, list[Row]] = {}
    at = 0
    while at < len(rows):
        end = at + 1
        while end < len(rows) and numbers[end] == numbers[at] and not is_closing(rows[end - 1][1]):
            end += 1
        if is_closing(rows[end - 1][1]):
            steps.append(rows[end - 1])
            inner[rows[end - 1][0]] = rows[at : end - 1]
        else:
            steps.extend(rows[at:end])
        at = end
    kept = {sequence(entry) for _, entry in steps}
    return _Steps(steps, inner, len(kept) == len(steps) and _spans(min(kept), max(kept), group, len(steps)))


def _spans(first: int, last: int, group: Rows, read: int) -> bool:
    """Whether so many collectives, and those that were not read, make up all numbers from the first to the last."""
    return last - min(first, group.first_left) + 1 == read + group.left_out


def _last_done(rows: list[Row], completions: bool) -> int:
    """Index of the last collective that is done: a group's collectives complete in order. -1: none."""
    for index in range(len(rows) - 1, -1, -1):
        if is_done(rows[index][1], completions):
            return index
    return -1


def _collective(steps: _Steps, index: int, left_out: int, *, framed: bool) -> Operation:
    position, closing = steps.rows[index]
    before = steps.rows[index - 1][1] if index else None
    operation = operation_of(position, closing, COLLECTIVE, number=left_out + index, framed=framed)
    operation = operation._replace(skipped=_skipped(before, closing))
    inner = [operation_of(at, entry, COLLECTIVE, framed=False) for at, entry in steps.inner.get(position, ())]
    if not inner:
        return operation
    name = "+".join(sorted({one.name for one in inner}))
    return operation._replace(
        name=f"{operation.name}({name})",
        inputs=sum(one.inputs for one in inner),
        outputs=sum(one.outputs for one in inner),
        dtype=inner[0].dtype,
    )


def _skipped(before: Entry | None, entry: Entry) -> int:
    """How many operations the group counted between two of its collectives that are not described; -1 where others may be, or
    the one before is not known. Only gloo counts operations that it never describes."""
    if before is None:
        return -1
    first, then = integer(before.get("op_id"), -1), integer(entry.get("op_id"), -1)
    in_turn = sequence(entry) == sequence(before) + 1 and 0 <= first < then
    return then - first - 1 if in_turn and backend_of(entry) in _NEVER_COMPLETES else -1


def _measured_alike(operations: Sequence[Operation], entries: Iterable[Entry]) -> tuple[Operation, ...]:
    """The operations of these entries; where some were timed on the device, without the times of others, which only the host's
    clock tells: the two do not compare."""
    timed = [is_timed(entry) for _, entry in zip(operations, entries, strict=False)]
    if not any(timed):
        return tuple(operations)
    return tuple(one if own else one._replace(wait_us=-1) for one, own in zip(operations, timed, strict=True))


def _moves(rows: Rows, completions: bool) -> tuple[list[_Move], set[int]]:
    """The point-to-point operations in order, and the positions of the entries that close a batch of them.

    The inner entries of a batch stay `scheduled` for ever: `<backend>:coalesced`, which follows them under the same
    number (of collectives, or of point-to-point operations), carries the state. Where a ring has lost those of an open
    one, the closing entry stands for a receive from nobody knows whom.
    """
    marked = [row for row in rows.collectives if is_closing(row[1])] if rows.transfers else []
    moves: list[_Move] = []
    closings: set[int] = set()
    loose = 0  # where the moves begin that no closing has claimed yet
    for row in sorted([*rows.transfers, *marked], key=lambda row: row[0]) if marked else rows.transfers:
        if not is_closing(row[1]):
            ends = ends_of(text(row[1].get("profiling_name")))
            moves += [_Move(row, row, *ends)] if ends else []
            continue
        inner = len(moves)
        while inner > loose and _same_batch(moves[inner - 1].row[1], row[1]):
            inner -= 1
        if inner < len(moves) or row[1].get("is_p2p") is True:
            closings.add(row[0])
            moves[inner:] = [move._replace(closing=row) for move in moves[inner:]]
            moves += [_Move(row, row, RECEIVE, -1, -1)] if _is_all_that_is_left(row, moves[inner:], completions) else []
            loose = len(moves)
    return _without_leftovers(rows, moves, completions), closings


def _is_all_that_is_left(closing: Row, inner: list[_Move], completions: bool) -> bool:
    """Whether a ring has lost what an open batch is made of: its rank waits in it, for whom no dump tells."""
    return not inner and completions and not is_done(closing[1], completions)


def _same_batch(inner: Entry, closing: Entry) -> bool:
    number = integer(closing.get("p2p_seq_id"), 0)
    return sequence(inner) == sequence(closing) or (number > 0 and integer(inner.get("p2p_seq_id"), 0) == number)


def _without_leftovers(rows: Rows, moves: list[_Move], completions: bool) -> list[_Move]:
    """A dump of open entries only keeps the inner entries of batches whose closing has completed, and so is not in it.

    They show by their numbers: a batch uses up one of the collectives', or gives one of its own to several entries.
    """
    single = [move for move in moves if not _is_of_batch(move)]
    numbers = {sequence(move.row[1]) for move in single}
    own = [integer(move.row[1].get("p2p_seq_id"), 0) for move in single]
    shared = len(set(own)) < len(own) and 0 not in own
    if not completions or not single or not (len(numbers) > 1 or shared or len(single) < len(moves)):
        return moves
    if any(entry.get("state") == "completed" for listed in (rows.collectives, rows.transfers) for _, entry in listed):
        return moves
    return [move for move in moves if _is_of_batch(move)]


def _transfer(move: _Move, *, framed: bool = False) -> Operation:
    position, entry = move.row
    after, closing = move.closing
    operation = operation_of(position, entry, move.kind, framed=framed)
    batch = -1 if after == position else after
    state = text(closing.get("state"))
    return operation._replace(name=move.kind, source=move.source, target=move.target, batch=batch, state=state)


def _open_moves(moves: list[_Move], completions: bool) -> tuple[list[_Move], list[_Move]]:
    """Those that are done and those that are not: what stands before a done one in its stream is done too."""
    last_done: dict[tuple[int, int], int] = {}
    for move in moves:
        if is_done(move.closing[1], completions):
            last_done[_stream(move)] = move.row[0]
    done: list[_Move] = []
    undone: list[_Move] = []
    for move in moves:
        (done if move.row[0] <= last_done.get(_stream(move), -1) else undone).append(move)
    return done, undone


def _is_of_batch(move: _Move) -> bool:
    return move.closing is not move.row or is_closing(move.row[1])


def _stream(move: _Move) -> tuple[int, int]:
    """What serialises it: a batch runs on the group's own stream, single operations of NCCL on one for each two ends. Of other
    backends only those in one direction are known to end in order: what was sent may be over while a receive is open."""
    if _is_of_batch(move):
        return (-2, -2)
    if backend_of(move.row[1]) not in _COMPLETES:
        return (move.source, move.target)
    return (move.source, move.target) if move.source < move.target else (move.target, move.source)


def _pairs(moves: list[_Move], left_out: Counter[tuple[str, int, int]]) -> tuple[Pair, ...]:
    counts = Counter((move.kind, move.source, move.target) for move in moves) + left_out
    return tuple(Pair(*ends, count) for ends, count in sorted(counts.items()))
