"""One entry of a flight-recorder dump: its values, each used only after its type was looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from math import prod
from typing import Any

from neuron_doctor.engine.recorder import RECEIVE, SEND, Operation
from neuron_doctor.engine.regexes import regex

#: An entry of a dump: its keys and values are of any type until looked at.
Entry = dict[str, Any]

#: Of a stack so many frames are kept.
FRAMES = 8

_MAX_FRAMES = 64
_MAX_TEXT = 300
_MAX_DIGITS = 19
_MAX_TENSORS = 4096
_MAX_DIMENSIONS = 16
_MAX_MS = 10**12
#: What took longer may have completed long before the dump.
_LONGEST_NS = 60 * 10**9

#: `send 0->3`, `recv 0<-3`, `recv 3<-?`: this rank first, then its peer.
_TRANSFER = regex(r"(?P<kind>send|recv) (?P<here>\d{1,9}|\?)(?:->|<-)(?P<there>\d{1,9}|\?)", re.ASCII)
_COALESCED = "coalesced"
#: Frames of the library itself, above which the program's own stand.
_LIBRARY = ("torch/distributed/", "torch/_C/", "torch/utils/_contextlib")


def integer(value: object, default: int) -> int:
    """An integer, also from its digits (the JSON of `pg_status` has strings); no boolean is one."""
    if type(value) is int:
        return value
    if isinstance(value, str) and len(value) <= _MAX_DIGITS and value.lstrip("-").isdecimal():
        return int(value) if value.count("-") <= 1 else default
    return default


def text(value: object) -> str:
    """A string, cut where it is absurdly long; else ""."""
    return value[:_MAX_TEXT] if isinstance(value, str) else ""


def created_ns(entry: Entry) -> int:
    """When the operation was issued (torch 2.2 says it in microseconds); 0 where not recorded."""
    return integer(entry.get("time_created_ns"), 0) or 1000 * integer(entry.get("time_created_us"), 0)


def sequence(entry: Entry) -> int:
    """The number of the collective in its group; -1 where not recorded."""
    number = entry.get("collective_seq_id")
    if type(number) is int:
        return number
    return integer(entry.get("collective_seq_id", entry.get("seq_id")), -1)


def backend_of(entry: Entry) -> str:
    """`nccl` of `nccl:all_reduce`."""
    return text(entry.get("profiling_name")).partition(":")[0]


def is_closing(entry: Entry) -> bool:
    """Whether the entry closes a batch, or a coalesced collective, whose inner entries stand before it."""
    return text(entry.get("profiling_name")).endswith(_COALESCED)


def is_done(entry: Entry, completions: bool) -> bool:
    """Whether the operation is over; without `completions` the recorder says so of what failed, too."""
    return bool(entry.get("state") == "completed") if completions else entry.get("retired") is True


def learns_starts(entries: Iterable[Entry]) -> bool:
    """Whether any of these entries was seen to start on the device."""
    return any(
        entry.get("state") == "started" or integer(entry.get("time_discovered_started_ns"), 0) > 0 for entry in entries
    )


def fresh(rows: Iterable[tuple[int, object]]) -> int:
    """How many collectives had completed and were not retired yet when the dump was written, in groups of which others were.

    A watchdog retires what has completed every 100 ms (`ProcessGroupNCCL.cpp`). One that stands retires nothing, however long ago
    it was.
    """
    entries = [entry for _, entry in rows if type(entry) is dict and entry.get("state") == "completed"]
    retired = {integer(entry.get("pg_id"), -1) for entry in entries if entry.get("retired") is True}
    return sum(
        entry.get("retired") is False and integer(entry.get("pg_id"), -1) in retired and _is_short(entry)
        for entry in entries
    )


def _is_short(entry: Entry) -> bool:
    created = created_ns(entry)
    return 0 < created <= integer(entry.get("time_discovered_completed_ns"), 0) < created + _LONGEST_NS


def is_named_transfer(entry: Entry) -> bool:
    """Torch 2.2 and 2.3 tell point-to-point operations by the name only."""
    return _TRANSFER.search(text(entry.get("profiling_name"))) is not None


@lru_cache(maxsize=4096)
def ends_of(label: str) -> tuple[str, int, int] | None:
    """Kind, source and target of `nccl:recv 0<-3`; an end that is not said is -1."""
    match = _TRANSFER.search(label)
    if match is None:
        return None
    here, there = (int(end) if end.isdigit() else -1 for end in (match["here"], match["there"]))
    return (SEND, here, there) if match["kind"] == "send" else (RECEIVE, there, here)


def operation_of(position: int, entry: Entry, kind: str, *, number: int = -1, framed: bool) -> Operation:
    """The entry at `position` of the dump as an operation, the `number`-th collective of its group; with its stack if
    `framed`."""
    get = entry.get
    label = text(get("profiling_name"))
    created = created_ns(entry)
    return Operation(
        position,
        kind,
        label.partition(":")[2] or label,
        sequence(entry),
        number,
        text(get("state")),
        _elements(get("input_sizes")),
        _elements(get("output_sizes")),
        _dtype(get("input_dtypes")) or _dtype(get("output_dtypes")),
        created,
        _wait_us(entry, created),
        timeout_ms=integer(get("timeout_ms"), 0),
        frames=_frames(get("frames")) if framed else (),
    )


def is_timed(entry: Entry) -> bool:
    """Whether the recorder measured on the device how long the operation took."""
    duration = entry.get("duration_ms")
    return isinstance(duration, float | int) and 0 <= duration < _MAX_MS


def _wait_us(entry: Entry, created: int) -> int:
    """How long the operation took: measured where the recorder times, else from issue to the completion it saw."""
    if is_timed(entry):
        return int(entry["duration_ms"] * 1000)
    completed = integer(entry.get("time_discovered_completed_ns"), 0)
    return (completed - created) // 1000 if completed > created > 0 else -1


def _elements(sizes: object) -> int:
    """The number of elements of all tensors of `[[4096, 1, 5120], ...]`; -1 where that is not what it is."""
    if type(sizes) is not list or len(sizes) > _MAX_TENSORS:
        return -1
    shapes = sizes if not sizes or isinstance(sizes[0], list) else [sizes]
    total = 0
    for shape in shapes:
        if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS or not all(type(size) is int for size in shape):
            return -1
        total += prod(shape)
    return total


def _dtype(dtypes: object) -> str:
    names = dtypes if isinstance(dtypes, list) else [dtypes]
    if len(names) == 1 and isinstance(names[0], str):
        return text(names[0])
    return ",".join(sorted({text(name) for name in islice(names, _MAX_FRAMES) if isinstance(name, str)}))


def _frames(frames: object) -> tuple[str, ...]:
    """The innermost frames of the program: those of the library above them are left out, unless there is nothing else."""
    shown = [_frame(frame) for frame in islice(frames, _MAX_FRAMES)] if isinstance(frames, list) else []
    own = next((i for i, frame in enumerate(shown) if not any(part in frame for part in _LIBRARY)), 0)
    return tuple(shown[own : own + FRAMES])


def _frame(frame: object) -> str:
    if not isinstance(frame, dict):
        return "?"
    return f"{text(frame.get('name'))} ({text(frame.get('filename'))}:{integer(frame.get('line'), 0)})"
