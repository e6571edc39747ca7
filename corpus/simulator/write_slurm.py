"""Slurm's side of a job: sacct's table, the controller's log and the daemon's log of each host."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from random import Random

from neuron_doctor.corpus.simulator import clocks, layout
from neuron_doctor.corpus.simulator.history import End, Event, History, HostRebooted, KernelOom, SchedulerSaid, StepDone
from neuron_doctor.corpus.simulator.host_events import host_of
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.text import Lines
from neuron_doctor.corpus.simulator.truth import File

_COLUMNS = ("JobID", "JobName", "Partition", "State", "ExitCode", "Start", "End", "NodeList")
_WIDTHS = (14, 12, 10, 18, 8, 20, 20, 40)
_STATES = {
    "cancelled": ("CANCELLED by 1000", "0:15"),
    "time-limit": ("TIMEOUT", "0:0"),
    "node-fail": ("NODE_FAIL", "1:0"),
    "preempted": ("PREEMPTED", "0:0"),
}
_ENDS_OF_STEP = {
    "cancelled": "",
    "time-limit": " DUE TO TIME LIMIT",
    "node-fail": " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS",
    "preempted": " DUE TO PREEMPTION",
}
_CONTROLLER = {
    "cancelled": "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={job} uid 1000",
    "time-limit": "Time limit exhausted for JobId={job}",
    "preempted": "preempted JobId={job} has been killed to reclaim resources for JobId={other}",
}
_NOT_RESPONDING = "error: Nodes {host} not responding, setting DOWN"
_REBOOTED = "Node {host} unexpectedly rebooted boot_time={boot} last response={last}"
_KILLING = "Killing JobId={job} on failed node {host}"
_ALLOCATED = "sched: Allocate JobId={job} NodeList={nodes} #CPUs={cpus} Partition=trn"
_COMPLETE = "_job_complete: JobId={job} WEXITSTATUS {status}"
_LAUNCH = "launch task StepId={job}.0 request from UID:1000 GID:1000 HOST:10.1.0.4 PORT:{port}"
_STEP_ENDED = "error: *** STEP {job}.0 ON {host} CANCELLED AT {at}{why} ***"
_OOM = "[{job}.0] error: Detected 1 oom_kill event in StepId={job}.0. Some of the step tasks have been OOM Killed."
_DONE = "[{job}.0] done with step"
_CHATTER = (
    "Health Check run without error",
    "debug:  _slurm_rpc_ping: no error",
    "sched/backfill: _start_job: Started JobId={other} in cpu on cpu-{port}",
)
_SLOW = 60.0  # seconds after which the controller gives up on a node


@dataclass(frozen=True, slots=True)
class _Said:
    """A line of a daemon at a true time."""

    time: float
    text: str
    fault: int | None = None


def slurm_files(history: History, style: Style, random: Random) -> Iterator[File]:
    """sacct's table, the controller's log, and some sites' daemon logs."""
    history = replace(history, events=tuple(event for event in history.events if not isinstance(event, StepDone)))
    yield _sacct(history, style, parsable=random.choice((True, False)))
    controller = layout.path_for(style, history.job, source="slurm", name="slurmctld.log")
    yield _log(history, style, controller, None, [*_controller(history, random)])
    if random.choice((True, False)):
        for host in range(len(history.job.hosts)):
            path = f"slurmd/slurmd.{history.job.hosts[host].name}.log"
            yield _log(history, style, path, host, [*_daemon(history, style, host, random)])


def nodes(history: History) -> str:
    """The host list in Slurm's form: ip-10-1-2-[3-5,9]."""
    names = [host.name for host in history.job.hosts]
    prefix = names[0].rpartition("-")[0] + "-"
    numbers = [name.removeprefix(prefix) for name in names]
    if len(names) == 1 or not all(number.isdigit() for number in numbers):
        return ",".join(names)
    runs = [
        [n for _, n in run] for _, run in groupby(enumerate(sorted(map(int, numbers))), lambda pair: pair[1] - pair[0])
    ]
    return f"{prefix}[{','.join(f'{run[0]}-{run[-1]}' if len(run) > 1 else str(run[0]) for run in runs)}]"


def _end(history: History) -> tuple[str, str, float | None, int | None]:
    """The job's state, exit code, end and the fault that the state tells."""
    said = next((event for event in history.events if isinstance(event, SchedulerSaid)), None)
    if said is not None:
        state, code = _STATES[said.what]
        return state, code, said.time, None if said.what == "node-fail" else said.fault
    if any(life.end is End.HUNG for life in history.lives):
        return "RUNNING", "0:0", None, None
    ended = max((life.ended for life in history.lives if life.ended is not None), default=history.collected)
    if any(isinstance(event, KernelOom) for event in history.events):
        return "OUT_OF_MEMORY", "0:125", ended, None
    if any(isinstance(event, HostRebooted) for event in history.events):
        return "NODE_FAIL", "1:0", ended, None
    failed = any(life.end is not End.FINISHED for life in history.lives)
    return ("FAILED", "1:0", ended, None) if failed else ("COMPLETED", "0:0", ended, None)


def _sacct(history: History, style: Style, *, parsable: bool) -> File:
    job = history.job
    state, code, ended, fault = _end(history)
    start = clocks.iso(job.start - 20, digits=0, utc_offset=style.utc_offset)
    end = "Unknown" if ended is None else clocks.iso(ended + 4, digits=0, utc_offset=style.utc_offset)
    step = "CANCELLED" if state.startswith("CANCELLED") else state
    rows = [
        (str(job.job_id), job.name, "trn", state, code, start, end, nodes(history)),
        (f"{job.job_id}.batch", "batch", "", step, code, start, end, job.hosts[0].name),
        (f"{job.job_id}.0", job.name, "", step, code, start, end, nodes(history)),
    ]
    lines = Lines()
    lines.line(_row(_COLUMNS, parsable=parsable))
    if not parsable:
        lines.line(" ".join("-" * width for width in _WIDTHS))
    for row in rows:
        lines.line(_row(row, parsable=parsable), fault)
    path = layout.path_for(style, job, source="slurm", name="sacct.txt")
    return lines.file(path, "slurm")


def _row(cells: tuple[str, ...], *, parsable: bool) -> str:
    if parsable:
        return "|".join(cells)
    return " ".join(f"{cell[:width]:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))


def _controller(history: History, random: Random) -> Iterator[_Said]:
    job = history.job
    about: dict[str, object] = {"job": job.job_id, "other": job.job_id + random.randrange(3, 90)}
    about["port"] = random.randrange(30000, 60000)
    yield _Said(job.start - 20, _ALLOCATED.format(job=job.job_id, nodes=nodes(history), cpus=128 * len(job.hosts)))
    for _ in range(random.randrange(2, 10)):
        yield _Said(random.uniform(job.start, history.collected), random.choice(_CHATTER).format_map(about))
    for event in history.events:
        if isinstance(event, SchedulerSaid) and event.what in _CONTROLLER:
            yield _Said(event.time, _CONTROLLER[event.what].format_map(about), event.fault)
    yield from _lost(history)
    state, code, ended, _ = _end(history)
    if ended is not None and state in ("FAILED", "COMPLETED"):
        yield _Said(ended + 4, _COMPLETE.format(job=job.job_id, status=code.partition(":")[0]))


def _lost(history: History) -> Iterator[_Said]:
    """Nodes that did not answer, or came back with a new boot: told once, whoever says so."""
    told: set[int] = set()
    for event in history.events:
        if event.host is None or event.host in told:
            continue
        name = history.job.hosts[event.host].name
        about = {"job": history.job.job_id, "host": name}
        if isinstance(event, HostRebooted) and event.back is not None:
            text = _REBOOTED.format(host=name, boot=int(event.back), last=int(event.time))
            yield _Said(event.back + 40, text, event.fault)
            yield _Said(event.back + 40.1, _KILLING.format_map(about), event.fault)
        elif isinstance(event, HostRebooted) or _node_failed(event):
            at = event.time + (_SLOW if isinstance(event, HostRebooted) else 0.0)
            yield _Said(at, _NOT_RESPONDING.format_map(about), event.fault)
            yield _Said(at + 0.1, _KILLING.format_map(about), event.fault)
        else:
            continue
        told.add(event.host)


def _node_failed(event: Event) -> bool:
    return isinstance(event, SchedulerSaid) and event.what == "node-fail"


def _daemon(history: History, style: Style, host: int, random: Random) -> Iterator[_Said]:
    job, machine = history.job, history.job.hosts[host]
    yield _Said(job.start - 5, _LAUNCH.format(job=job.job_id, port=random.randrange(30000, 60000)))
    down = min((event.time for event in history.events if _down(event, host)), default=None)
    for event in history.events:
        if isinstance(event, SchedulerSaid) and (down is None or event.time < down):
            at = clocks.iso(clocks.local(machine, event.time, job.start), digits=0, utc_offset=style.utc_offset)
            text = _STEP_ENDED.format(job=job.job_id, host=machine.name, at=at, why=_ENDS_OF_STEP[event.what])
            yield _Said(event.time + random.uniform(0.0, 0.4), text, None if event.what == "node-fail" else event.fault)
        elif isinstance(event, KernelOom) and host_of(event, job) == host:
            yield _Said(event.time + 1.0, _OOM.format(job=job.job_id))
    ends = [history.lives[rank].ended for rank in job.ranks_on(host)]
    if down is None and ends and all(end is not None for end in ends):
        yield _Said(max(end for end in ends if end is not None) + 2.0, _DONE.format(job=job.job_id))


def _down(event: Event, host: int) -> bool:
    return isinstance(event, HostRebooted) and event.host == host


def _log(history: History, style: Style, path: str, host: int | None, said: list[_Said]) -> File:
    """A daemon's log in time order: the controller's clock is right, a host's is its own."""
    lines = Lines()
    for line in sorted(said, key=lambda line: line.time):
        if line.time > history.collected:
            continue
        wall = line.time
        if host is not None:
            wall = clocks.local(history.job.hosts[host], line.time, history.job.start)
        lines.line(f"[{clocks.iso(wall, digits=3, utc_offset=style.utc_offset)}] {line.text}", line.fault)
    return lines.file(path, "slurm", host)
