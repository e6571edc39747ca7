"""Writes the flight-recorder dumps of a job's ranks: who dumps, when, in which format and under which name."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from neuron_doctor.corpus.simulator import clocks, layout
from neuron_doctor.corpus.simulator.history import Call, History, Life, WatchdogTimeout
from neuron_doctor.corpus.simulator.style import Recorder, Style
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_recorder_json import collector_dialect, torch_dialect
from neuron_doctor.corpus.simulator.write_recorder_pickle import dump
from neuron_doctor.corpus.simulator.write_recorder_ring import Camera, snapshot
from neuron_doctor.corpus.simulator.write_recorder_schema import Head, Version, top, version_of
from neuron_doctor.corpus.simulator.write_recorder_shapes import Process

SOURCE = "flight-recorder"
_NCCL = frozenset({Recorder.NCCL, Recorder.NCCL_TIMING})
_NAMES_BARRIERS: Version = (2, 4)
_NEW_PREFIX: Version = (2, 10)
_COORDINATION = 1.0  # seconds in which the other ranks notice that one has timed out
_AGO = (3_600.0, 40_000.0)  # seconds between an older attempt's dump and this one's
_DEFAULT_TIMEOUT_MS = {Recorder.NCCL: 600_000, Recorder.NCCL_TIMING: 600_000}
_OTHER_TIMEOUT_MS = 1_800_000
_COLLECTED, _TIMED, _LAST_GROUP = 0.3, 0.5, 0.3  # chances: a collector's JSON, a hook told durations, torch 2.15's gloo
_OVERTAKEN = 0.05  # the chance that gloo's status is one operation behind its entries
_LIBRARIES = ("2.21.5", "2.26.2", "2.27.3", "2.27.5")
_PACKAGES = ("/usr/local/lib/python3.12/dist-packages", "/opt/aws_neuronx_venv_pytorch/lib/python3.10/site-packages")
_THREADS = ("python3", "python", "pt_main_thread")
_OLD_NAMES = ("nccl_trace_rank_{rank}", "nccl_trace_rank_{host}_{rank}", "trace_{rank}", "_dump_{rank}")
_NEW_NAMES = ("comm_lib_trace_rank_{rank}", "comm_lib_trace_rank_{host}_{rank}", "trace_{rank}", "_dump_{rank}")
_JSON_NAMES = ("fr_trace_rank_{rank}.json", "nccl_trace_rank_{rank}.json", "rank_{rank}_fr_trace.json")


@dataclass(frozen=True, slots=True)
class _Job:
    """What all dumps of a job share, chosen once."""

    history: History
    style: Style
    version: Version
    name: str
    library: str
    packages: str
    thread_name: str
    collected_json: bool  # a collector rewrote the pickles as JSON
    durations: bool
    config_of_last_group: bool
    timeouts_ms: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Look:
    """When a rank dumps, and the chances of that moment: see `Camera`."""

    at: float
    phase: float
    overtaken: frozenset[str]


def files(history: History, style: Style, random: random.Random) -> Iterator[File]:
    """The dumps of all ranks that wrote one, and what an older attempt left where none was written over it."""
    if style.recorder is Recorder.NONE:
        return
    job = _choose(history, style, random)
    moments = _moments(history, style.recorder, random)
    for life in history.lives:
        process, look, ago = _process(life.rank, job, random), _look(life, job, moments, random), random.uniform(*_AGO)
        if life.dumps_recorder:
            yield _file(job, life.rank, SOURCE, _dump(life, job, process, look))
        elif style.recorder_stale and (older := _older(life, ago)).calls:
            yield _file(job, life.rank, "noise", _dump(older, job, process, replace(look, at=look.at - ago)))


def recorder_dumps(history: History, style: Style) -> Iterator[tuple[int, bytes]]:
    """Each rank with its dump, without files and paths: for benchmarks."""
    for file in files(history, style, random.Random(history.job.job_id)):
        yield file.ranks[0], file.data


def _file(job: _Job, rank: int, source: str, data: bytes) -> File:
    cluster = job.history.job
    host = cluster.seats[rank].host
    name = job.name.format(rank=rank, host=cluster.hosts[host].name)
    path = layout.path_for(job.style, cluster, source=SOURCE, host=host, rank=rank, name=name)
    return File(path, data, source, host, (rank,))


def _older(life: Life, ago: float) -> Life:
    """The same rank in an attempt before this one, whose operations all ended."""
    return replace(life, calls=tuple(_earlier(call, ago) for call in life.calls if call.completed is not None))


def _earlier(call: Call, ago: float) -> Call:
    started, completed = (None if time is None else time - ago for time in (call.started, call.completed))
    return replace(call, issued=call.issued - ago, started=started, completed=completed)


def _choose(history: History, style: Style, random: random.Random) -> _Job:
    version = version_of(style.recorder_version, style.recorder, json=style.recorder_json)
    collected = style.recorder_json and random.random() < _COLLECTED
    names: tuple[str, ...] = _OLD_NAMES if version < _NEW_PREFIX else _NEW_NAMES
    if style.recorder_json:
        names = ("_dump_{rank}.json",) if collected else _JSON_NAMES
    timing = style.recorder is Recorder.NCCL_TIMING
    return _Job(
        history,
        style,
        version,
        random.choice(names),
        random.choice(_LIBRARIES) if style.recorder in _NCCL else "",
        random.choice(_PACKAGES),
        random.choice(_THREADS),
        collected,
        timing or (style.recorder is Recorder.HOOK and random.random() < _TIMED),
        random.random() < _LAST_GROUP,
        {event.group: round(event.timeout * 1e3) for event in history.events if isinstance(event, WatchdogTimeout)},
    )


def _moments(history: History, recorder: Recorder, random: random.Random) -> dict[int, float]:
    """When each rank dumps. A timeout of one rank makes all NCCL ranks dump; with other backends each dumps for itself.

    Without a timeout somebody asked for the dumps at the end.
    """
    timeouts = [event for event in history.events if isinstance(event, WatchdogTimeout)]
    own = {event.rank: event.time for event in reversed(timeouts)}
    first = min((event.time for event in timeouts), default=None)
    moments: dict[int, float] = {}
    for life in history.lives:
        last = history.collected if life.ended is None else life.ended
        noticed = None if first is None or recorder not in _NCCL else first + random.uniform(0.05, _COORDINATION)
        at = own.get(life.rank, noticed)
        if noticed is not None and at is not None:
            at = min(at, noticed)
        moments[life.rank] = last if at is None else min(at, last)
    return moments


def _process(rank: int, job: _Job, random: random.Random) -> Process:
    thread, autograd = (random.randrange(0x7E0000000000 >> 12, 0x7FFFFFFFF000 >> 12) << 12 for _ in range(2))
    return Process(rank, job.thread_name, str(thread), str(autograd), job.version >= _NAMES_BARRIERS, job.packages)


def _look(life: Life, job: _Job, moments: Mapping[int, float], random: random.Random) -> _Look:
    groups = job.history.job.groups_of(life.rank) if job.style.recorder is Recorder.GLOO else ()
    overtaken = frozenset(group.name for group in groups if random.random() < _OVERTAKEN)
    return _Look(moments[life.rank], random.random(), overtaken)


def _dump(life: Life, job: _Job, process: Process, look: _Look) -> bytes:
    style, cluster = job.style, job.history.job
    host, groups = cluster.host_of(life.rank), cluster.groups_of(life.rank)
    camera = Camera(
        look.at,
        lambda t: int(clocks.local(host, t, cluster.start) * 1e9),
        look.phase,
        style.ring,
        job.durations,
        job.timeouts_ms,
        _DEFAULT_TIMEOUT_MS.get(style.recorder, _OTHER_TIMEOUT_MS),
        look.overtaken,
    )
    taken = snapshot(life, groups, style.recorder, process, camera)
    head = Head(job.version, job.library, groups[-1] if job.config_of_last_group and groups else None)
    records = [record for record in taken.records if not style.recorder_active_only or record.completed is None]
    fields = top(taken, head, style.recorder)
    if not style.recorder_json:
        return dump(fields, records, job.version, stacks=style.stacks)
    if job.collected_json:
        return collector_dialect(fields, records, job.version, stacks=style.stacks)
    return torch_dialect(fields, records, job.version)
