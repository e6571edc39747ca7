"""What the flight recorder of one rank holds at the moment of its dump."""

import struct
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from neuron_doctor.corpus.simulator.history import Call, Life
from neuron_doctor.corpus.simulator.job import Group
from neuron_doctor.corpus.simulator.style import Recorder
from neuron_doctor.corpus.simulator.write_recorder_numbers import Issued, Numbering, counted_before, gloo, hook, nccl
from neuron_doctor.corpus.simulator.write_recorder_shapes import Process, Shape, Shaping, shape
from neuron_doctor.corpus.simulator.write_recorder_shapes import gloo as gloo_shape
from neuron_doctor.corpus.simulator.write_recorder_shapes import hook as hook_shape
from neuron_doctor.corpus.simulator.write_recorder_shapes import nccl as nccl_shape

_POLL = 0.1  # seconds between two looks of NCCL's watchdog
_PUSH = 3e-5  # from the end of an operation to the completion hook
_QUERY = 1e-6  # between the look at the start event and that at the end event


class Seen(NamedTuple):
    """What a recorder knows of an operation's course. Times are when it found out, true time; `duration` is seconds."""

    started: float | None = None
    completed: float | None = None
    duration: float | None = None
    retired: bool = False


class Record(NamedTuple):
    """One entry. Times are nanoseconds on the host's clock, `duration_ms` is None where it is not known."""

    shape: Shape
    record_id: int
    collective: int
    p2p: int
    op: int
    created: int
    started: int | None
    completed: int | None
    duration_ms: float | None
    retired: bool


class Status(NamedTuple):
    """`pg_status` of one group."""

    enqueued: int
    started: int
    completed: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The recorder at the dump. `used` are the groups that have recorded, by local id; `groups` all of the rank's."""

    records: tuple[Record, ...]
    groups: tuple[Group, ...]
    status: Mapping[int, Status]

    @property
    def used(self) -> tuple[Group, ...]:
        """The groups that have issued something, whether or not the ring still holds it."""
        return tuple(group for pg_id, group in enumerate(self.groups) if pg_id in self.status)


@dataclass(frozen=True, slots=True)
class Camera:
    """When and how a rank's recorder is looked at: the true time, its clock, the watchdog's phase, and the choices."""

    at: float
    clock: Callable[[float], int]
    phase: float
    ring: int
    times: bool  # durations are known
    timeouts_ms: Mapping[str, int]
    default_timeout_ms: int
    overtaken: frozenset[str] = frozenset()  # groups whose last two ends gloo's two threads noted in the other order


Seeing = Callable[[Issued, Camera], Seen]


@dataclass(frozen=True, slots=True)
class Producer:
    """A way to record: how it numbers, what it sees of an operation's course, how it names and sizes."""

    number: Numbering
    see: Seeing
    name: Shaping


def _watched(issued: Issued, camera: Camera) -> Seen:
    """NCCL: a watchdog polls end events, and start events where timing is on; what it missed the dump itself queries."""
    if issued.inner:
        return Seen()
    if issued.completed is not None and issued.completed <= camera.at:
        tick = issued.completed + _POLL - (issued.completed + camera.phase) % _POLL
        found = min(tick, camera.at)
        known = camera.times and tick <= camera.at and issued.started is not None
        duration = issued.completed - issued.started if known and issued.started is not None else None
        return Seen(found - _QUERY if camera.times else None, found, duration, tick <= camera.at)
    running = camera.times and issued.started is not None and issued.started <= camera.at
    return Seen(started=camera.at if running else None, retired=_failed(issued, camera))


def _pushed(issued: Issued, camera: Camera) -> Seen:
    """A backend with completion hooks: told at the end, never of failures."""
    if issued.completed is None or issued.completed + _PUSH > camera.at:
        return Seen()
    duration = issued.completed - issued.started if camera.times and issued.started is not None else None
    return Seen(issued.completed + _PUSH, issued.completed + _PUSH, duration, retired=True)


def _let_go(issued: Issued, camera: Camera) -> Seen:  # noqa: ARG001 - one signature for all producers
    """A backend without completion hooks: retired when issued, and that is all."""
    return Seen(retired=True)


def _retired_at_end(issued: Issued, camera: Camera) -> Seen:
    """Gloo: retired when it ended, well or not."""
    done = issued.completed is not None and issued.completed <= camera.at
    return Seen(retired=done or _failed(issued, camera))


def _failed(issued: Issued, camera: Camera) -> bool:
    return issued.failed is not None and issued.failed <= camera.at


PRODUCERS: Mapping[Recorder, Producer] = {
    Recorder.NCCL: Producer(nccl, _watched, nccl_shape),
    Recorder.NCCL_TIMING: Producer(nccl, _watched, nccl_shape),
    Recorder.HOOK: Producer(hook, _pushed, hook_shape),
    Recorder.HOOK_ISSUE_ONLY: Producer(hook, _let_go, hook_shape),
    Recorder.GLOO: Producer(gloo, _retired_at_end, gloo_shape),
}


def snapshot(life: Life, groups: tuple[Group, ...], recorder: Recorder, process: Process, camera: Camera) -> Snapshot:
    """The recorder of a rank whose groups are `groups`, in the order of their creation."""
    producer = PRODUCERS[recorder]
    pg_ids = {group.name: pg_id for pg_id, group in enumerate(groups)}
    status: dict[int, Status] = {}
    last: deque[tuple[int, Issued, Seen]] = deque(maxlen=camera.ring)
    issues = [call for call in life.calls if call.issued <= camera.at]
    counters = counted_before(issues, pg_ids)
    already = sum(count.op for count in counters.values())
    for record_id, issued in enumerate(producer.number(issues, counters), already):
        seen = producer.see(issued, camera)
        last.append((record_id, issued, seen))
        pg_id = pg_ids[issued.call.group]
        status[pg_id] = _counted(
            status.get(pg_id), issued, seen, recorder, overtaken=issued.call.group in camera.overtaken
        )
    return Snapshot(tuple(_records(last, groups, pg_ids, producer, process, camera)), groups, status)


def _counted(before: Status | None, issued: Issued, seen: Seen, recorder: Recorder, *, overtaken: bool) -> Status:
    """The group's status after an operation. Only NCCL with timing learns of starts; an issue-only hook of no end."""
    at = before or Status(-1, -1, -1)
    if issued.inner:
        return at
    ended = seen.retired and recorder is not Recorder.HOOK_ISSUE_ONLY
    began = seen.started is not None and recorder is Recorder.NCCL_TIMING
    completed = at.enqueued if overtaken else issued.status
    return Status(issued.status, issued.status if began else at.started, completed if ended else at.completed)


def _records(
    last: deque[tuple[int, Issued, Seen]],
    groups: tuple[Group, ...],
    pg_ids: Mapping[str, int],
    producer: Producer,
    process: Process,
    camera: Camera,
) -> Iterator[Record]:
    shapes: dict[tuple[object, ...], Shape] = {}
    for record_id, issued, seen in last:
        call = issued.call
        site = _site(call, closes=issued.closes)
        if (known := shapes.get(site)) is None:
            pg_id = pg_ids[call.group]
            timeout = camera.timeouts_ms.get(call.group, camera.default_timeout_ms)
            known = shapes[site] = shape(issued, groups[pg_id], pg_id, timeout, process, producer.name)
        yield Record(
            known,
            record_id,
            issued.collective,
            issued.p2p,
            issued.op,
            camera.clock(call.issued),
            None if seen.started is None else camera.clock(seen.started),
            None if seen.completed is None else camera.clock(seen.completed),
            None if seen.duration is None else _as_float32(seen.duration * 1e3),
            seen.retired,
        )


def _as_float32(value: float) -> float:
    """Durations are C floats before they become a pickle's double."""
    (narrowed,) = struct.unpack("<f", struct.pack("<f", value))
    return float(narrowed)


def _site(call: Call, *, closes: bool) -> tuple[object, ...]:
    """What decides a shape. The frames count by identity: to hash them for each call would cost more than all the rest."""
    return (call.group, call.op, closes, call.peer, call.input_sizes, call.output_sizes, call.dtype, id(call.frames))
