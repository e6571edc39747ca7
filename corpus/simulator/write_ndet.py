"""NDET traces: the chrome-trace JSON that `neuron-det` makes of the runtime's event logs (their raw format is not public).

An event without an end is one that never came to an end: the barrier before an execution whose peers have not come, the
operation that hangs, or an execution whose device is stuck before it.
"""

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

from neuron_doctor.corpus.simulator import clocks, layout
from neuron_doctor.corpus.simulator.history import Call, ExecutionFailed, History, Op, StepDone
from neuron_doctor.corpus.simulator.job import Seat
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.text import Lines
from neuron_doctor.corpus.simulator.truth import File

_REMOVED_IN = (2, 24)
_KEPT = 12  # executions of a rank that are still in its buffer
_CHUNK = 8  # calls that make an execution where no steps are known
_LOG = "{directory}/ndet_{date}_{pid}_{instance}.txt - (GIDs: [{rank}])"
_DIRECTORIES = ("/tmp", "ndet", "/fsx/ndet")  # noqa: S108 -- where the job wrote its logs, not where we do
_NUMERICAL = 1003
# Statuses that say by themselves what went wrong at this core.
_TELLING = frozenset({1003, 1006, 1201, 1202, 1203, 1204, 1205, 1206})
_OPS = {
    Op.ALL_REDUCE: "AllReduce",
    Op.ALL_GATHER: "AllGather",
    Op.REDUCE_SCATTER: "ReduceScatter",
    Op.ALL_TO_ALL: "AllToAll",
    Op.BROADCAST: "Broadcast",
    Op.BARRIER: "AllReduce",
    Op.SEND: "Permute",
    Op.RECV: "Permute",
}
_Fields = dict[str, object]
_Joined = Counter[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class _Traced:
    """A rank as the trace shows it: its process number in the file, and where its time begins."""

    history: History
    rank: int
    process: int
    origin: float
    neffs: tuple[str, str]  # of the first execution, and of the steady ones
    directory: str
    done: tuple[float, ...]  # when its steps were done
    failure: ExecutionFailed | None

    @property
    def seat(self) -> Seat:
        return self.history.job.seats[self.rank]

    def event(self, name: str, begin: float, end: float | None, **args: object) -> _Fields:
        """A trace event: complete, or only begun."""
        fields: _Fields = {"name": name, "ph": "B" if end is None else "X", "pid": self.process, "tid": self.seat.core}
        fields["ts"] = self.micros(begin)
        if end is not None:
            fields["dur"] = round(max(end - begin, 0.0) * 1e6, 1)
        return fields | {"args": {"nd": self.seat.device, "nc": self.seat.core} | args}

    def micros(self, t: float) -> float:
        """Microseconds on the host's own clock."""
        host = self.history.job.host_of(self.rank)
        return round((t - self.origin) * (1 + host.clock.drift) * 1e6, 1)


def files(history: History, style: Style, random: Random) -> Iterator[File]:
    """One trace of each host, or one of the whole job."""
    if not (style.ndet and _traces(history)):
        return
    wrapped, since_boot, together = (random.choice((True, False)) for _ in range(3))
    neffs = (_neff(random), _neff(random))
    directory = random.choice(_DIRECTORIES)
    done, failures, joined = _done(history), _failures(history), _joined(history)
    whole: list[tuple[int | None, tuple[int, ...]]] = [(None, tuple(range(history.job.world)))]
    parts = [(host, history.job.ranks_on(host)) for host in range(len(history.job.hosts))]
    for host, ranks in whole if together else parts:
        events: list[tuple[_Fields, int | None]] = []
        for number, rank in enumerate(ranks):
            origin = history.job.host_of(rank).boot if since_boot else history.job.start
            traced = _Traced(history, rank, number, origin, neffs, directory, done.get(rank, ()), failures.get(rank))
            events += _rank(traced, joined)
        path = layout.path_for(style, history.job, source="ndet", host=host, name="trace.json")
        yield _lines(events, wrapped=wrapped).file(path, "ndet", host, ranks)


def _traces(history: History) -> bool:
    """Whether the runtime still knows NDET: it was removed in 2.24."""
    major, minor = history.versions["runtime"].split(".")[:2]
    return (int(major), int(minor)) < _REMOVED_IN


def _neff(random: Random) -> str:
    return f"MODULE_{random.getrandbits(60) + 10**18}+{random.getrandbits(32):08x}/model.neff"


def _lines(events: Sequence[tuple[_Fields, int | None]], *, wrapped: bool) -> Lines:
    """The trace as JSON, an event a line; in an object or bare."""
    lines = Lines()
    lines.line('{"traceEvents":[' if wrapped else "[")
    for index, (fields, fault) in enumerate(events):
        lines.part("" if index == 0 else ",\n")
        lines.part(json.dumps(fields, separators=(",", ":")), fault)
    lines.line('\n],"displayTimeUnit":"ns"}' if wrapped else "\n]")
    return lines


def _done(history: History) -> dict[int, tuple[float, ...]]:
    """When each rank's steps were done."""
    times: dict[int, list[float]] = {}
    for event in history.events:
        if isinstance(event, StepDone) and event.rank is not None:
            times.setdefault(event.rank, []).append(event.time)
    return {rank: tuple(of_rank) for rank, of_rank in times.items()}


def _failures(history: History) -> dict[int, ExecutionFailed]:
    """The first execution that failed on each rank."""
    failures: dict[int, ExecutionFailed] = {}
    for event in history.events:
        if isinstance(event, ExecutionFailed) and event.rank is not None:
            failures.setdefault(event.rank, event)
    return failures


def _joined(history: History) -> _Joined:
    """How many ranks issued each collective that somebody never saw complete."""
    pending = {(call.group, call.ordinal) for life in history.lives for call in life.calls if _hangs(call)}
    return Counter(
        (call.group, call.ordinal)
        for life in history.lives
        for call in life.calls
        if call.peer is None and (call.group, call.ordinal) in pending
    )


def _hangs(call: Call) -> bool:
    return call.completed is None and call.peer is None


def _rank(traced: _Traced, joined: _Joined) -> Iterator[tuple[_Fields, int | None]]:
    """The last executions of a rank, under the name of its log."""
    machine, life = traced.history.job.host_of(traced.rank), traced.history.lives[traced.rank]
    date = clocks.iso(clocks.local(machine, life.start, traced.history.job.start), digits=0, separator="_")
    name = _LOG.format(
        directory=traced.directory,
        date=date.replace(":", "-"),
        pid=traced.seat.pid,
        instance=machine.instance_id,
        rank=traced.rank,
    )
    yield {"name": "process_name", "ph": "M", "pid": traced.process, "args": {"name": name}}, None
    executions = _executions(life.calls, traced.done)
    for index, (number, calls) in enumerate(executions[-_KEPT:], start=max(len(executions) - _KEPT, 0)):
        failure = traced.failure if index == len(executions) - 1 else None
        yield from _execution(traced, number, calls, failure, joined)


def _executions(calls: Sequence[Call], done: Sequence[float]) -> list[tuple[int, Sequence[Call]]]:
    """The rank's calls by execution: those of a step are one."""
    if not done:
        return [(start // _CHUNK, calls[start : start + _CHUNK]) for start in range(0, len(calls), _CHUNK)]
    return [(step, list(part)) for step, part in groupby(calls, lambda call: bisect_left(done, call.issued))]


def _execution(
    traced: _Traced, number: int, calls: Sequence[Call], failure: ExecutionFailed | None, joined: _Joined
) -> Iterator[tuple[_Fields, int | None]]:
    """One execution's events with the fault that they state."""
    first = calls[0]
    stopped = next((call for call in calls if call.completed is None), None)
    end = None if stopped is not None else max(call.completed or 0.0 for call in calls)
    if failure is not None:
        end = failure.time
    neff = traced.neffs[min(number, 1)]
    status = failure.status if failure is not None else 0
    told = failure.fault if failure is not None and status in _TELLING else None
    about: _Fields = {"gid": traced.rank, "exec_id": number}
    returned = about | ({"ret": status} if end is not None else {})
    yield traced.event("nrt_execute", first.issued - 0.0004, end, **returned), told
    yield traced.event(f"sync_exec - {neff}", first.issued - 0.0003, end, **about), None
    ready = first.started if first.started is not None else first.issued
    waits = stopped is first and _short(traced.history, first, joined)
    yield traced.event("cc_exec_barrier", first.issued, None if waits else ready, **about), None
    if waits:
        return
    yield traced.event("nc_exec", ready, end if stopped is None else None, **about), None
    for index, call in enumerate(calls):
        if call.started is None:
            break
        args = about | {"op": _OPS[call.op], "cc_op": index}
        yield traced.event("cc_op_exec", call.started, call.completed, **args), None
        if call.completed is None:
            break
    if failure is not None and status == _NUMERICAL:
        yield traced.event("numerical_error", failure.time - 0.01, failure.time, exec_id=number), failure.fault


def _short(history: History, call: Call, joined: _Joined) -> bool:
    """Whether a member of the group has not come to this collective."""
    group = next(group for group in history.job.groups if group.name == call.group)
    return call.peer is None and joined[call.group, call.ordinal] < len(group.ranks)
