"""Writes the dumps of a large job fast, byte for byte as torch's own pickler would: schema 2.10, stacks of 12 frames.

torch's C++ `Pickler` writes protocol 2, memoises strings and frames and nothing else, and each integer in the shortest
of BININT1, BININT2, BININT and an eight-byte LONG1. One entry differs from the next of its sort in a few integers, so
each sort of entry is pickled once and then filled in.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.flight_recorder_job import Job, Step

NOW_NS = 1_790_000_000_000_000_000
FIRST_RECORD = 79_810
FRAMES = 12
#: The step that hangs.
STEPS = 5_000
#: Stand in for the integers that differ, all written with eight bytes.
_HOLES = ("record", "sequence", "created", "finished")


_BYTE, _TWO_BYTES, _FOUR_BYTES = 1 << 8, 1 << 16, 1 << 31


class Pickler:
    """Pickles plain data as torch does."""

    def __init__(self) -> None:
        self.memo: dict[object, int] = {}

    def _known(self, key: object) -> bytes | None:
        index = self.memo.get(key)
        if index is None:
            return None
        return b"h" + bytes([index]) if index < _BYTE else b"j" + index.to_bytes(4, "little")

    def _memoised(self, key: object) -> bytes:
        index = self.memo[key] = len(self.memo)
        return b"q" + bytes([index]) if index < _BYTE else b"r" + index.to_bytes(4, "little")

    def text(self, value: str) -> bytes:
        """A string, or a reference to it."""
        raw = value.encode()
        return self._known(value) or b"X" + len(raw).to_bytes(4, "little") + raw + self._memoised(value)

    def integer(self, value: int) -> bytes:
        """An integer of at most 64 bits."""
        if 0 <= value < _BYTE:
            return b"K" + bytes([value])
        if 0 <= value < _TWO_BYTES:
            return b"M" + value.to_bytes(2, "little")
        if -_FOUR_BYTES <= value < _FOUR_BYTES:
            return b"J" + value.to_bytes(4, "little", signed=True)
        return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)

    def frames(self, stack: list[dict[str, object]]) -> bytes:
        """A stack, of which each frame is memoised."""
        listed = [self._known(id(frame)) or self.value(frame) + self._memoised(id(frame)) for frame in stack]
        return b"](" + b"".join(listed) + b"e"

    def value(self, value: object) -> bytes:
        """Any plain value; bytes are pickled already."""
        match value:
            case bool() | None:
                pickled = {True: b"\x88", False: b"\x89", None: b"N"}[value]
            case bytes():
                pickled = value
            case int():
                pickled = self.integer(value)
            case str():
                pickled = self.text(value)
            case tuple():
                pickled = self.value(value[0]) + self.value(value[1]) + b"\x86"
            case list():
                pickled = b"](" + b"".join(map(self.value, value)) + b"e"
            case dict():
                pickled = b"}(" + b"".join(self.text(key) + self.value(one) for key, one in value.items()) + b"u"
            case _:
                raise TypeError(type(value))
        return pickled


def _entry(pickler: Pickler, step: Step, pg_id: int, state: str, stack: list[dict[str, object]]) -> dict[str, object]:
    done = state == "completed"
    here, there = step.ends or (0, 0)
    ends = {"send": f" {here}->{there}", "recv": f" {there}<-{here}"}.get(step.name, "")
    hole = {name: b"\x8a\x08" + f"<{name:6.6}>".encode() for name in _HOLES}
    return {
        "frames": pickler.frames(stack),
        "record_id": hole["record"],
        "pg_id": pg_id,
        "process_group": (step.group, step.desc),
        "thread_name": "pt_main_thread",
        "thread_id": "140213",
        "collective_seq_id": 0 if step.ends else hole["sequence"],
        "p2p_seq_id": hole["sequence"] if step.ends else 0,
        "op_id": hole["record"],
        "profiling_name": f"nccl:{step.name}{ends}",
        "time_created_ns": hole["created"],
        "input_sizes": [[step.size, 8]],
        "input_dtypes": [step.dtype],
        "output_sizes": [[step.size, 8]],
        "output_dtypes": [step.dtype],
        "state": state,
        "time_discovered_started_ns": hole["finished"] if done else None,
        "time_discovered_completed_ns": hole["finished"] if done else None,
        "retired": done,
        "timeout_ms": 600_000,
        "is_p2p": step.ends is not None,
    }


def _filled(template: bytes) -> Callable[[dict[str, bytes]], bytes]:
    """A function that puts integers into the holes of a pickled entry."""
    pieces: list[bytes | str] = [template]
    for name in _HOLES:
        mark = b"\x8a\x08" + f"<{name:6.6}>".encode()
        pieces = [
            new for piece in pieces for new in (_split(piece, mark, name) if isinstance(piece, bytes) else [piece])
        ]
    return lambda values: b"".join(values[piece] if isinstance(piece, str) else piece for piece in pieces)


def _split(piece: bytes, mark: bytes, name: str) -> list[bytes | str]:
    first, *rest = piece.split(mark)
    return [first, *(new for part in rest for new in (name, part))]


def dump_of(job: Job, rank: int, entries: int, stop: int, *, ahead: int) -> bytes:
    """The dump of a rank whose last step came to `stop` operations done and `ahead` more issued, not done."""
    pickler = Pickler()
    step = job.steps[rank]
    names = list(job.of_rank[rank].values())
    pickled = pickler.value({"version": "2.10", "comm_lib_version": "2.29.7", "pg_config": _config(job, names)})[:-1]
    stacks = {one: _stack(one) for one in dict.fromkeys(step)}
    issued = [step[at % len(step)] for at in range(stop + ahead - entries, stop + ahead)]
    states = ["completed"] * (entries - ahead) + ["scheduled"] * ahead
    fill: dict[tuple[Step, str], Callable[[dict[str, bytes]], bytes]] = {}
    counts = _counts(step, STEPS * len(step) + stop + ahead - entries)
    parts = [pickled, pickler.text("entries"), b"]("]
    for number, (one, state) in enumerate(zip(issued, states, strict=True)):
        counts[one.group] += 1
        created = NOW_NS + (number - entries) * 3_000_000 + rank * 1_000
        numbers = (FIRST_RECORD + number, counts[one.group], created, created + 2_500_000)
        values = {name: pickler.integer(value) for name, value in zip(_HOLES, numbers, strict=True)}
        if (one, state) not in fill:
            first = pickler.value(_entry(pickler, one, names.index(one.group), state, stacks[one]))
            parts.append(_filled(first)(values))  # the first of its sort defines what the next ones refer to
            again = pickler.value(_entry(pickler, one, names.index(one.group), state, stacks[one]))
            fill[one, state] = _filled(again)
        else:
            parts.append(fill[one, state](values))
    parts += [b"e", pickler.text("pg_status"), pickler.value(_status(names, counts, issued, states)), b"u."]
    return b"\x80\x02" + b"".join(parts)


def _counts(step: list[Step], issued: int) -> dict[str, int]:
    """How many operations of each group a rank has issued after so many in all."""
    whole, part = divmod(issued, len(step))
    return {
        name: whole * sum(one.group == name for one in step) + sum(one.group == name for one in step[:part])
        for name in {one.group for one in step}
    }


def _config(job: Job, names: list[str]) -> dict[str, object]:
    groups = {name: job.groups[name] for name in names}
    return {name: {"name": name, "desc": desc, "ranks": str(ranks)} for name, (desc, ranks) in groups.items()}


def _status(names: list[str], counts: dict[str, int], issued: list[Step], states: list[str]) -> dict[str, object]:
    pending = [one.group for one, state in zip(issued, states, strict=True) if state != "completed"]
    return {
        str(number): {
            "last_enqueued_collective": counts[name],
            "last_started_collective": -1,
            "last_completed_collective": counts[name] - pending.count(name),
        }
        for number, name in enumerate(names)
    }


def _stack(step: Step) -> list[dict[str, object]]:
    names = ["all_reduce", "wrapper", f"_{step.name}", *(f"layer_{depth}" for depth in range(FRAMES - 3))]
    return [
        {
            "name": name,
            "filename": f"/opt/venv/lib/python3.11/site-packages/{step.desc.lower()}/{name}.py",
            "line": 40 + at,
        }
        for at, name in enumerate(names)
    ]


def write_dumps(directory: Path, ranks: int, entries: int, *, culprit: int, pp: int = 4) -> None:
    """The dumps of all ranks of a job in which `culprit` never issues the third collective of its tensor group."""
    job = Job(ranks, pp)
    at = [number for number, step in enumerate(job.steps[culprit]) if step.desc == "TENSOR"][2]
    stops = job.stops(culprit, at)
    for rank, stop in stops.items():
        ahead = 0 if rank == culprit else min(3, len(job.steps[rank]) - stop)
        (directory / f"nccl_trace_rank_{rank}").write_bytes(dump_of(job, rank, entries, stop, ahead=ahead))
