"""The entries of a flight-recorder dump, summed up by process group: counts, the latest operations, all open ones."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from math import prod
from typing import Any, NamedTuple

from neuron_doctor.collectors.base import Input
from neuron_doctor.engine.recorder import COLLECTIVE, RECEIVE, SEND, GroupRecord, Operation, Pair

#: This many completed operations of each group are kept, to compare arguments, orders and waiting times.
RECENT = 32
#: Of a group's open operations at most this many are kept: the first ones, which all others wait behind.
PENDING = 1024
FRAMES = 8
_WITH_FRAMES = 64
_MAX_TEXT = 300
_MAX_TENSORS = 1 << 17

#: `send 0->3`, `recv 0<-3`, `recv 3<-?`: this rank first, then its peer.
_TRANSFER = re.compile(r"(?P<kind>send|recv) (?P<here>\d{1,9}|\?)(?:->|<-)(?P<there>\d{1,9}|\?)", re.ASCII)
_COALESCED = "coalesced"
#: Frames of the library itself, above which the program's own stand.
_LIBRARY = ("torch/distributed/", "torch/_C/", "torch/utils/_contextlib")
#: Backends whose recorder always, or never, learns that an operation completed.
_COMPLETES = {"nccl", "xccl", "ncclx", "rccl"}
_NEVER_COMPLETES = {"gloo"}

#: A dict of a dump: its keys and values are of any type until looked at.
Entry = dict[str, Any]
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


@dataclass(slots=True)
class Rows:
    """The entries of a group with their positions in the dump, which is in the order of recording."""

    collectives: list[Row] = field(default_factory=list)
    transfers: list[Row] = field(default_factory=list)


def integer(value: object, default: int) -> int:
    """An integer, also from its digits (the JSON of `pg_status` has strings); no boolean is one."""
    if type(value) is int:
        return value
    if isinstance(value, str) and len(value) < 20 and value.lstrip("-").isdecimal():
        return int(value) if value.count("-") <= 1 else default
    return default


def text(value: object) -> str:
    """A string, cut where it is absurdly long; else ""."""
    return value[:_MAX_TEXT] if isinstance(value, str) else ""


def rows_by_group(entries: list[object], inp: Input) -> dict[GroupHead, Rows]:
    """The entries of each group."""
    groups: dict[GroupHead, Rows] = defaultdict(Rows)
    for position, entry in enumerate(entries):
        if type(entry) is not dict:
            inp.problem("an entry of the dump is not a record")
            continue
        rows = groups[_head(entry)]
        (rows.transfers if _is_transfer(entry) else rows.collectives).append((position, entry))
    return dict(groups)


def _head(entry: Entry) -> GroupHead:
    group = entry.get("process_group")
    name, desc = group if isinstance(group, tuple | list) and len(group) == 2 else ("", "")
    pg_id = entry.get("pg_id")
    return GroupHead(pg_id if type(pg_id) is int else integer(pg_id, -1), text(name), text(desc))


def _is_transfer(entry: Entry) -> bool:
    flag = entry.get("is_p2p")
    if flag is None:  # torch 2.2 and 2.3 tell by the name only
        return _TRANSFER.search(text(entry.get("profiling_name"))) is not None
    return flag is True


def group_records(
    heads: Sequence[tuple[GroupHead, str, Status | None]], rows: dict[GroupHead, Rows]
) -> list[GroupRecord]:
    """One record for each group, given its members (as text) and its status."""
    learned = {backend for group in rows.values() for backend in _backends_that_complete(group)}
    return [_group_record(head, members, status, rows.get(head, Rows()), learned) for head, members, status in heads]


def _backends_that_complete(rows: Rows) -> Iterable[str]:
    for listed in (rows.collectives, rows.transfers):
        last = next((entry for _, entry in reversed(listed) if entry.get("state") == "completed"), None)
        if last is not None:
            yield _backend(last)


def _backend(entry: Entry) -> str:
    return text(entry.get("profiling_name")).partition(":")[0]


def _learns_completions(rows: Rows, learned: set[str]) -> bool:
    """Whether the recorder of this group is told of completions: if not, `retired` on `scheduled` entries is all it says."""
    both = rows.collectives + rows.transfers
    backend = _backend(both[-1][1]) if both else ""
    if backend in _NEVER_COMPLETES:
        return False
    return backend in _COMPLETES or backend in learned or not any(entry.get("retired") is True for _, entry in both)


def _group_record(head: GroupHead, members: str, status: Status | None, rows: Rows, learned: set[str]) -> GroupRecord:
    completions = _learns_completions(rows, learned)
    moves, closings = _moves(rows, completions)
    steps = _steps([row for row in rows.collectives if row[0] not in closings] if closings else rows.collectives)
    done, undone = _open_moves(moves, completions)
    open_from = _last_done(steps, completions) + 1
    first, last = max(0, open_from - RECENT), min(len(steps), open_from + PENDING)
    numbers = [_sequence(step[-1][1]) for step in steps]
    return GroupRecord(
        name=head.name,
        desc=head.desc,
        pg_id=head.pg_id,
        members=members,
        enqueued=status.enqueued if status else None,
        started=status.started if status else None,
        completed=status.completed if status else None,
        completions=completions,
        starts=_learns_starts(
            [step[-1][1] for step in steps[first:last]] + [move.closing[1] for move in moves[-RECENT:]]
        ),
        count=len(steps),
        contiguous=not numbers or numbers[-1] - numbers[0] + 1 == len(numbers) == len(set(numbers)),
        batched=bool(closings),
        point_to_point=bool(moves) or any(integer(step[-1][1].get("p2p_seq_id"), 0) > 0 for step in steps[first:last]),
        recent=tuple(_collective(steps[i], i, framed=i == open_from - 1) for i in range(first, open_from)),
        pending=tuple(_collective(steps[i], i, framed=i - open_from < _WITH_FRAMES) for i in range(open_from, last)),
        transfers=tuple(_transfer(move, framed=move is done[-1]) for move in done[-RECENT:]),
        pending_transfers=tuple(_transfer(move, framed=i < _WITH_FRAMES) for i, move in enumerate(undone[:PENDING])),
        pairs=_pairs(moves),
    )


def _learns_starts(entries: Iterable[Entry]) -> bool:
    return any(
        entry.get("state") == "started" or integer(entry.get("time_discovered_started_ns"), 0) > 0 for entry in entries
    )


def _sequence(entry: Entry) -> int:
    return integer(entry.get("collective_seq_id", entry.get("seq_id")), -1)


def _is_closing(entry: Entry) -> bool:
    return text(entry.get("profiling_name")).endswith(_COALESCED)


def _steps(rows: list[Row]) -> list[list[Row]]:
    """The collectives, each as the rows that make it up: a coalesced one has its inner operations before its closing."""
    numbers = [_sequence(entry) for _, entry in rows]
    if len(set(numbers)) == len(numbers):
        return [[row] for row in rows]
    steps: list[list[Row]] = []
    inner: list[Row] = []
    for row, number in zip(rows, numbers, strict=True):
        if inner and _sequence(inner[-1][1]) != number:
            steps.extend([one] for one in inner)
            inner = []
        inner.append(row)
        if _is_closing(row[1]):
            steps.append(inner)
            inner = []
    return [*steps, *([one] for one in inner)]


def _last_done(steps: Sequence[list[Row]], completions: bool) -> int:
    """Index of the last collective that is done: a group's collectives complete in order. -1: none."""
    for index in range(len(steps) - 1, -1, -1):
        if _is_done(steps[index][-1][1], completions):
            return index
    return -1


def _is_done(entry: Entry, completions: bool) -> bool:
    return bool(entry.get("state") == "completed") if completions else entry.get("retired") is True


def _collective(step: list[Row], index: int, *, framed: bool) -> Operation:
    position, closing = step[-1]
    operation = _operation(position, closing, COLLECTIVE, framed=framed)._replace(index=index)
    inner = [_operation(at, entry, COLLECTIVE, framed=False) for at, entry in step[:-1]]
    if not inner:
        return operation
    name = "+".join(sorted({one.name for one in inner}))
    return operation._replace(
        name=f"{operation.name}({name})",
        inputs=sum(one.inputs for one in inner),
        outputs=sum(one.outputs for one in inner),
        dtype=inner[0].dtype,
    )


def _operation(position: int, entry: Entry, kind: str, *, framed: bool) -> Operation:
    label = text(entry.get("profiling_name"))
    created = integer(entry.get("time_created_ns"), 0) or 1000 * integer(entry.get("time_created_us"), 0)
    return Operation(
        record=position,
        kind=kind,
        name=label.partition(":")[2] or label,
        sequence=_sequence(entry),
        index=-1,
        state=text(entry.get("state")),
        inputs=_elements(entry.get("input_sizes")),
        outputs=_elements(entry.get("output_sizes")),
        dtype=_dtype(entry.get("input_dtypes")) or _dtype(entry.get("output_dtypes")),
        created_ns=created,
        wait_us=_wait_us(entry, created),
        frames=_frames(entry.get("frames")) if framed else (),
    )


def _wait_us(entry: Entry, created_ns: int) -> int:
    """How long the operation took: measured where the recorder times, else from issue to the completion it saw."""
    duration = entry.get("duration_ms")
    if isinstance(duration, float | int) and 0 <= duration < 1e12:
        return int(duration * 1000)
    completed = integer(entry.get("time_discovered_completed_ns"), 0)
    return (completed - created_ns) // 1000 if completed > created_ns > 0 else -1


def _elements(sizes: object) -> int:
    """The number of elements of all tensors of `[[4096, 1, 5120], ...]`; -1 where that is not what it is."""
    if not isinstance(sizes, list) or len(sizes) > _MAX_TENSORS:
        return -1
    shapes = sizes if not sizes or isinstance(sizes[0], list) else [sizes]
    total = 0
    for shape in shapes:
        if not isinstance(shape, list) or len(shape) > FRAMES or not all(type(size) is int for size in shape):
            return -1
        total += prod(shape)
    return total


def _dtype(dtypes: object) -> str:
    names = dtypes if isinstance(dtypes, list) else [dtypes]
    return ",".join(sorted({text(name) for name in islice(names, _WITH_FRAMES) if isinstance(name, str)}))


def _frames(frames: object) -> tuple[str, ...]:
    """The innermost frames of the program: those of the library above them are left out, unless there is nothing else."""
    shown = [_frame(frame) for frame in islice(frames, _WITH_FRAMES)] if isinstance(frames, list) else []
    own = next((i for i, frame in enumerate(shown) if not any(part in frame for part in _LIBRARY)), 0)
    return tuple(shown[own : own + FRAMES])


def _frame(frame: object) -> str:
    if not isinstance(frame, dict):
        return "?"
    return f"{text(frame.get('name'))} ({text(frame.get('filename'))}:{integer(frame.get('line'), 0)})"


@lru_cache(maxsize=4096)
def _ends(label: str) -> tuple[str, int, int] | None:
    """Kind, source and target of `nccl:recv 0<-3`; an end that is not said is -1."""
    match = _TRANSFER.search(label)
    if match is None:
        return None
    here, there = (int(end) if end.isdigit() else -1 for end in (match["here"], match["there"]))
    return (SEND, here, there) if match["kind"] == "send" else (RECEIVE, there, here)


def _moves(rows: Rows, completions: bool) -> tuple[list[_Move], set[int]]:
    """The point-to-point operations in order, and the positions of the entries that close a batch of them.

    The inner entries of a batch stay `scheduled` for ever: `<backend>:coalesced`, which follows them under the same
    number (of collectives, or of point-to-point operations), carries the state.
    """
    marked = [row for row in rows.collectives if _is_closing(row[1])] if rows.transfers else []
    moves: list[_Move] = []
    closings: set[int] = set()
    loose = 0  # where the moves begin that no closing has claimed yet
    for row in sorted([*rows.transfers, *marked], key=lambda row: row[0]) if marked else rows.transfers:
        if not _is_closing(row[1]):
            ends = _ends(text(row[1].get("profiling_name")))
            moves += [_Move(row, row, *ends)] if ends else []
            continue
        inner = len(moves)
        while inner > loose and _same_batch(moves[inner - 1].row[1], row[1]):
            inner -= 1
        if inner < len(moves) or row[1].get("is_p2p") is True:
            closings.add(row[0])
            moves[inner:] = [move._replace(closing=row) for move in moves[inner:]]
            loose = len(moves)
    return _without_leftovers(rows, moves, completions), closings


def _same_batch(inner: Entry, closing: Entry) -> bool:
    number = integer(closing.get("p2p_seq_id"), 0)
    return _sequence(inner) == _sequence(closing) or (number > 0 and integer(inner.get("p2p_seq_id"), 0) == number)


def _without_leftovers(rows: Rows, moves: list[_Move], completions: bool) -> list[_Move]:
    """A dump of open entries only keeps the inner entries of batches whose closing has completed, and so is not in it.

    They show by their numbers: a batch uses up one of the collectives', or gives one of its own to several entries.
    """
    single = [move for move in moves if move.closing is move.row]
    numbers = {_sequence(move.row[1]) for move in single}
    own = [integer(move.row[1].get("p2p_seq_id"), 0) for move in single]
    shared = len(set(own)) < len(own) and 0 not in own
    if not completions or not single or not (len(numbers) > 1 or shared or len(single) < len(moves)):
        return moves
    if any(entry.get("state") == "completed" for listed in (rows.collectives, rows.transfers) for _, entry in listed):
        return moves
    return [move for move in moves if move.closing is not move.row]


def _transfer(move: _Move, *, framed: bool = False) -> Operation:
    position, entry = move.row
    after, closing = move.closing
    operation = _operation(position, entry, move.kind, framed=framed)
    batch = -1 if after == position else after
    state = text(closing.get("state"))
    return operation._replace(name=move.kind, source=move.source, target=move.target, batch=batch, state=state)


def _open_moves(moves: list[_Move], completions: bool) -> tuple[list[_Move], list[_Move]]:
    """Those that are done and those that are not: what stands before a done one in its stream is done too."""
    last_done: dict[tuple[int, int], int] = {}
    for move in moves:
        if _is_done(move.closing[1], completions):
            last_done[_stream(move)] = move.row[0]
    done, undone = [], []
    for move in moves:
        (done if move.row[0] <= last_done.get(_stream(move), -1) else undone).append(move)
    return done, undone


def _stream(move: _Move) -> tuple[int, int]:
    """What serialises it: a batch runs on the group's own stream, single operations on one for each two ends."""
    if move.closing is not move.row:
        return (-2, -2)
    return (move.source, move.target) if move.source < move.target else (move.target, move.source)


def _pairs(moves: list[_Move]) -> tuple[Pair, ...]:
    counts = Counter((move.kind, move.source, move.target) for move in moves)
    return tuple(Pair(*ends, count) for ends, count in sorted(counts.items()))
