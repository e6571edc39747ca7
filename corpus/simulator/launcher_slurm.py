"""What srun and slurmstepd print in the output of a job step: ends of tasks, cancellations, lost nodes."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.history import Event, History, HostRebooted, KernelOom, LauncherSaw, SchedulerSaid
from neuron_doctor.corpus.simulator.printed import Line, Printed, Voice
from neuron_doctor.corpus.simulator.style import Style

_ENDS = {
    4: "Illegal instruction (core dumped)",
    6: "Aborted (core dumped)",
    7: "Bus error (core dumped)",
    8: "Floating point exception (core dumped)",
    9: "Killed",
    11: "Segmentation fault (core dumped)",
    15: "Terminated",
}
_REASONS = {
    "cancelled": "",
    "time-limit": " DUE TO TIME LIMIT",
    "preempted": " DUE TO PREEMPTION",
    "node-fail": " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS",
}
_WAITING = "srun: Job step aborted: Waiting up to 32 seconds for job step to finish."
_OOM = "slurmstepd: error: Detected 1 oom_kill event in StepId={step}. Some of the step tasks have been OOM Killed."


def says(history: History, style: Style) -> list[Printed]:
    """All that is printed beside the tasks' own output."""
    seen = [event for event in history.events if isinstance(event, LauncherSaw) and _bad(event)]
    return [*_ends(history, seen), *_abort(history, style, seen), *_others(history, style)]


def _bad(event: LauncherSaw) -> bool:
    return bool(event.signal) or bool(event.exit_code)


def _ends(history: History, seen: Sequence[LauncherSaw]) -> Iterator[Printed]:
    """Tasks of a host that end alike within a second are reported in one line."""
    starved = {event.rank for event in history.events if isinstance(event, KernelOom)}

    def alike(event: LauncherSaw) -> tuple[int, str, int, int]:
        return _host(history, event), _how(event, starved), int(event.time), -1 if event.fault is None else event.fault

    for (host, how, _, _), events in groupby(sorted(seen, key=alike), key=alike):
        tasks = list(events)
        name = history.job.hosts[host].name
        text = f"srun: error: {name}: {_tasks(sorted(_rank(event) for event in tasks))}: {how}"
        yield _printed(max(event.time for event in tasks), Line(text, tasks[0].fault))


def _how(event: LauncherSaw, starved: set[int | None]) -> str:
    if event.signal is not None:
        return "Out Of Memory" if event.rank in starved else _ENDS.get(event.signal, f"Signal {event.signal}")
    return f"Exited with exit code {event.exit_code}"


def _abort(history: History, style: Style, seen: Sequence[LauncherSaw]) -> Iterator[Printed]:
    """With --kill-on-bad-exit the step ends when a task does."""
    killed = [event for event in seen if event.killed_by_launcher]
    stopped = any(isinstance(event, SchedulerSaid) for event in history.events)
    if not killed or stopped:
        return
    time = min(event.time for event in killed) - 0.3
    yield _printed(time, Line(f"srun: Terminating StepId={_step(history)}"))
    yield _printed(time + 0.1, Line(_cancelled(history, style, time, _host(history, killed[0]), "")))
    yield _printed(time + 0.15, Line(_WAITING))


def _others(history: History, style: Style) -> Iterator[Printed]:
    for event in history.events:
        match event:
            case SchedulerSaid():
                host = event.host or 0
                text = _cancelled(history, style, event.time, host, _REASONS.get(event.what, ""))
                yield _printed(event.time, Line(text, event.fault))
                yield _printed(event.time + 0.05, Line(_WAITING))
            case KernelOom():
                yield _printed(event.time + 0.4, Line(_OOM.format(step=_step(history)), event.fault))
            case HostRebooted():
                name = history.job.hosts[event.host or 0].name
                yield _printed(event.time + 60.0, Line(f"srun: error: Node failure on {name}", event.fault))


def _cancelled(history: History, style: Style, time: float, host: int, reason: str) -> str:
    machine = history.job.hosts[host]
    local = clocks.local(machine, time, history.job.start)
    stamp = clocks.iso(local, digits=0, utc_offset=style.utc_offset)
    return f"slurmstepd: error: *** STEP {_step(history)} ON {machine.name} CANCELLED AT {stamp}{reason} ***"


def _tasks(ranks: Sequence[int]) -> str:
    """task 3, or tasks 0-2,5."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and runs[-1][-1] == rank - 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    text = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"task {text}" if len(ranks) == 1 else f"tasks {text}"


def _step(history: History) -> str:
    return f"{history.job.job_id}.0"


def _printed(time: float, line: Line) -> Printed:
    return Printed(time, (line,), Voice.LAUNCHER)


def _rank(event: Event) -> int:
    return 0 if event.rank is None else event.rank


def _host(history: History, event: Event) -> int:
    return history.job.seats[_rank(event)].host if event.host is None else event.host
