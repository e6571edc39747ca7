"""What Open MPI's mpirun prints about the ends of its processes and about lost nodes."""

from collections.abc import Iterable, Iterator

from neuron_doctor.corpus.simulator.history import History, HostRebooted, LauncherSaw, SchedulerSaid
from neuron_doctor.corpus.simulator.printed import Line, Printed, Voice

_RULE = "-" * 74
_NAMES = {4: "Illegal instruction", 6: "Aborted", 7: "Bus error", 8: "Floating point exception", 9: "Killed",
          11: "Segmentation fault", 15: "Terminated"}  # fmt: skip
_PRIMARY = (
    _RULE,
    "Primary job  terminated normally, but 1 process returned",
    "a non-zero exit code. Per user-direction, the job has been aborted.",
    _RULE,
)
_DETECTED = (
    _RULE,
    "mpirun detected that one or more processes exited with non-zero status, thus causing",
    "the job to be terminated. The first process to do so was:",
    "",
    "  Process name: [[{family},1],{rank}]",
    "  Exit code:    {code}",
    _RULE,
)
_NOTICED = (
    _RULE,
    "mpirun noticed that process rank {rank} with PID {pid} on node {node} exited on signal {signal} ({name}).",
    _RULE,
)
_LOST = (
    _RULE,
    "ORTE has lost communication with a remote daemon.",
    "",
    "  HNP daemon   : [[{family},0],0] on node {first}",
    "  Remote daemon: [[{family},0],{daemon}] on node {node}",
    "",
    "This is usually due to either a failure of the TCP network",
    "connection to the node, or possibly an internal failure of",
    "the daemon itself. We cannot recover from this failure, and",
    "therefore will terminate the job.",
    _RULE,
)


def says(history: History) -> list[Printed]:
    """Only the first process that failed is reported; mpirun ends the others without a word.

    It runs on the first host, and says nothing once that is gone.
    """
    down = [event.time for event in history.events if isinstance(event, HostRebooted) and event.host == 0]
    said = [*_first_failure(history), *_others(history)]
    return [entry for entry in said if not down or entry.time < min(down)]


def _first_failure(history: History) -> Iterator[Printed]:
    seen = [event for event in history.events if isinstance(event, LauncherSaw) and not event.killed_by_launcher]
    failed = [event for event in seen if event.signal or event.exit_code]
    if not failed:
        return
    first = min(failed, key=lambda event: event.time)
    seat = history.job.seats[first.rank or 0]
    fields = {
        "family": str(_family(history)),
        "rank": str(seat.rank),
        "pid": str(seat.pid),
        "node": history.job.hosts[seat.host].name,
        "code": str(first.exit_code),
        "signal": str(first.signal),
        "name": _NAMES.get(first.signal or 0, "Unknown signal"),
    }
    if first.signal:
        yield _block(first.time + 0.5, _NOTICED, fields, first.fault, "noticed")
    else:
        yield _block(first.time + 0.2, _PRIMARY, fields, None, "")
        yield _block(first.time + 0.6, _DETECTED, fields, first.fault, "Exit code")


def _others(history: History) -> Iterator[Printed]:
    for event in history.events:
        if isinstance(event, SchedulerSaid):
            yield Printed(event.time, (Line("mpirun: Forwarding signal 15 to job"),), Voice.LAUNCHER)
        elif isinstance(event, HostRebooted):
            host = event.host or 0
            fields = {
                "family": str(_family(history)),
                "first": history.job.hosts[0].name,
                "daemon": str(host),
                "node": history.job.hosts[host].name,
            }
            yield _block(event.time + 20.0, _LOST, fields, event.fault, "lost communication")


def _block(time: float, lines: Iterable[str], fields: dict[str, str], fault: int | None, states: str) -> Printed:
    """The lines filled in; the one that holds `states` tells of the fault."""
    written = tuple(Line(text.format_map(fields), fault if states and states in text else None) for text in lines)
    return Printed(time, written, Voice.LAUNCHER)


def _family(history: History) -> int:
    return 10000 + history.job.job_id % 50000
