"""The flight recorder's layout by schema version: what the top level and an entry hold, in the order of its keys."""

from collections.abc import Iterator
from typing import NamedTuple

from neuron_doctor.corpus.simulator.job import Group
from neuron_doctor.corpus.simulator.style import Recorder
from neuron_doctor.corpus.simulator.write_recorder_ring import Record, Snapshot, Status

Version = tuple[int, ...]
Fields = dict[str, object]

BARE: Version = (0,)  # torch 2.2: a list of entries, no version
VARYING = (  # the keys of an entry whose values differ between the entries of one call site
    "record_id",
    "seq_id",
    "collective_seq_id",
    "p2p_seq_id",
    "op_id",
    "time_created_us",
    "time_created_ns",
    "duration_ms",
    "state",
    "time_discovered_started_ns",
    "time_discovered_completed_ns",
    "retired",
)
_KEYED_BY_NAME = (2, 0)
_STATUS = (2, 4)
_LIBRARY = (2, 5)
_THREADS = (2, 9)
_RENAMED_LIBRARY = (2, 10)
_RECORDERS_OWN = {Recorder.GLOO: (2, 9), Recorder.HOOK: (2, 10), Recorder.HOOK_ISSUE_ONLY: (2, 10)}


class Pair(NamedTuple):
    """A tuple of two strings: the only sequence of the layout that is not a list."""

    name: str
    desc: str


class Head(NamedTuple):
    """What a dump holds before its entries, besides what the snapshot knows."""

    version: Version
    library: str  # the collectives library's version, "" where the backend tells none
    broken_config: Group | None  # what gloo puts into its only, nameless, configuration


def version_of(text: str, recorder: Recorder, *, json: bool) -> Version:
    """The schema version of a style, or the first later one in which such a dump exists. "none" is torch 2.2's bare list."""
    asked = BARE if text == "none" else tuple(int(part) for part in text.split("."))
    first = _RECORDERS_OWN.get(recorder, BARE)
    return max(asked, first, _STATUS if json else BARE)


def top(snapshot: Snapshot, head: Head, recorder: Recorder) -> Fields:
    """The top level without its entries."""
    version = ".".join(str(part) for part in head.version)
    if head.version < _KEYED_BY_NAME:
        return {"version": version, "pg_config": _by_id(snapshot)}
    fields: Fields = {"version": version, "pg_config": _config(snapshot, head, recorder)}
    if head.version >= _LIBRARY:
        key = "comm_lib_version" if head.version >= _RENAMED_LIBRARY else "nccl_version"
        fields[key] = head.library
    if head.version >= _STATUS:
        fields["pg_status"] = {str(pg_id): _status(snapshot.status[pg_id]) for pg_id in sorted(snapshot.status)}
    return fields


def entries_first(version: Version) -> bool:
    """Whether the entries come before the rest of the top level."""
    return version < _KEYED_BY_NAME


def entry(record: Record, version: Version, *, stacks: bool) -> Fields:
    """One entry."""
    return dict(_entry(record, version, stacks=stacks))


def state(record: Record) -> str:
    """How far the recorder knows the operation to be."""
    if record.completed is not None:
        return "completed"
    return "scheduled" if record.started is None else "started"


def _entry(record: Record, version: Version, *, stacks: bool) -> Iterator[tuple[str, object]]:
    if version == BARE:
        yield from _bare(record)
    elif version < _KEYED_BY_NAME:
        yield from _early(record)
    else:
        if stacks:
            yield "frames", record.shape.frames
        yield from _late(record, version)
        return
    if stacks:
        yield "frames", record.shape.frames


def _bare(record: Record) -> Iterator[tuple[str, object]]:
    shape = record.shape
    yield "pg_id", shape.pg_id
    yield "seq_id", record.collective + record.p2p
    yield "profiling_name", shape.name
    yield "time_created_us", record.created // 1000
    yield "input_sizes", shape.input_sizes
    yield "output_sizes", shape.output_sizes
    yield "state", state(record)
    yield "retired", record.retired


def _early(record: Record) -> Iterator[tuple[str, object]]:
    shape = record.shape
    yield "record_id", record.record_id
    yield "pg_id", shape.pg_id
    yield "seq_id", record.collective + record.p2p
    yield "op_id", record.op
    yield "profiling_name", shape.name
    yield from _times(record)
    yield "input_sizes", shape.input_sizes
    yield "output_sizes", shape.output_sizes
    yield from _course(record)


def _late(record: Record, version: Version) -> Iterator[tuple[str, object]]:
    shape = record.shape
    yield "record_id", record.record_id
    yield "pg_id", shape.pg_id
    yield "process_group", Pair(shape.group.name, shape.group.desc)
    if version >= _THREADS:
        yield "thread_name", shape.thread_name
        yield "thread_id", shape.thread_id
    yield "collective_seq_id", record.collective
    yield "p2p_seq_id", record.p2p
    yield "op_id", record.op
    yield "profiling_name", shape.name
    yield from _times(record)
    yield "input_sizes", shape.input_sizes
    yield "input_dtypes", shape.input_dtypes
    yield "output_sizes", shape.output_sizes
    yield "output_dtypes", shape.output_dtypes
    yield from _course(record)
    if version >= _STATUS:
        yield "timeout_ms", shape.timeout_ms
    yield "is_p2p", shape.is_p2p


def _times(record: Record) -> Iterator[tuple[str, object]]:
    yield "time_created_ns", record.created
    if record.duration_ms is not None:
        yield "duration_ms", record.duration_ms


def _course(record: Record) -> Iterator[tuple[str, object]]:
    yield "state", state(record)
    yield "time_discovered_started_ns", record.started
    yield "time_discovered_completed_ns", record.completed
    yield "retired", record.retired


def _status(status: Status) -> Fields:
    return {
        "last_enqueued_collective": status.enqueued,
        "last_started_collective": status.started,
        "last_completed_collective": status.completed,
    }


def _by_id(snapshot: Snapshot) -> dict[int, list[int]]:
    return {pg_id: list(group.ranks) for pg_id, group in enumerate(snapshot.groups) if pg_id in snapshot.status}


def _config(snapshot: Snapshot, head: Head, recorder: Recorder) -> Fields:
    """NCCL knows the groups that have communicated, a hook those that were made, gloo none by name."""
    if recorder is Recorder.GLOO:
        last = head.broken_config
        return {"": {"name": "", "desc": "", "ranks": _ranks(last.ranks if last else ())}}
    lazily = recorder in {Recorder.NCCL, Recorder.NCCL_TIMING}
    groups = snapshot.used if lazily else snapshot.groups
    return {
        group.name: {"name": group.name, "desc": group.desc, "ranks": _ranks(group.ranks)}
        for group in sorted(groups, key=lambda group: (group.name, group.desc))
    }


def _ranks(ranks: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, ranks))}]"
