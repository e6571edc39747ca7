"""What torchrun's agent on a host prints: its warnings, the signals that it sends, and the table of failures."""

from collections.abc import Iterable, Iterator, Sequence
from signal import Signals

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.dialect import dialect_of
from neuron_doctor.corpus.simulator.history import History, HostRebooted, LauncherSaw, SchedulerSaid
from neuron_doctor.corpus.simulator.printed import Line, Printed, Voice
from neuron_doctor.corpus.simulator.style import Style

_AGENT_PID = 4211
_PACKAGE = "torch/distributed/elastic"
_THICK, _THIN = "=" * 60, "-" * 60
_OMP = (
    "",
    "*****************************************",
    (
        "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being "
        "overloaded, please further tune the variable for optimal performance in your application as needed. "
    ),
    "*****************************************",
)
_STACK = (
    "Traceback (most recent call last):",
    '  File "{bin}/torchrun", line 8, in <module>',
    "    sys.exit(main())",
    '  File "{python}/torch/distributed/elastic/multiprocessing/errors/__init__.py", line 355, in wrapper',
    "    return f(*args, **kwargs)",
    '  File "{python}/torch/distributed/run.py", line 918, in main',
    "    run(args)",
    '  File "{python}/torch/distributed/launcher/api.py", line 138, in __call__',
    "    return launch_agent(self._config, self._entrypoint, list(args))",
)
_CHILD_FAILED = (
    '  File "{python}/torch/distributed/launcher/api.py", line 269, in launch_agent',
    "    raise ChildFailedError(",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
)
_SIGNAL_GOT = "torch.distributed.elastic.multiprocessing.api.SignalException: Process {pid} got signal: 15"
_NO_TRACEBACK = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
_HEARTBEAT = (
    "The node '{name}_{pid}_0' has failed to send a keep-alive heartbeat to the rendezvous 'train' due to an error of type "
    "RendezvousConnectionError."
)


def says(history: History, style: Style, host: int) -> list[Printed]:
    """All that the agent of a host prints, until the host itself goes down."""
    down = [event.time for event in history.events if isinstance(event, HostRebooted) and event.host == host]
    said = [*_started(history, style, host), *_lost_rendezvous(history, style, host), *_ended(history, style, host)]
    return [entry for entry in said if not down or entry.time < min(down)]


def _started(history: History, style: Style, host: int) -> Iterator[Printed]:
    if len(history.job.ranks_on(host)) > 1:
        head = _head(history, style, host, history.job.start, "W", "torch/distributed/run.py:792")
        yield _printed(history.job.start, [Line(f"{head}{text}") for text in _OMP])


def _ended(history: History, style: Style, host: int) -> Iterator[Printed]:
    seen = [event for event in history.events if isinstance(event, LauncherSaw) and _host(history, event) == host]
    failed = [event for event in seen if not event.killed_by_launcher and _failure(event)]
    killed = [event for event in seen if event.killed_by_launcher]
    stopped = next((event for event in history.events if isinstance(event, SchedulerSaid)), None)
    if failed:
        time = min(event.time for event in failed)
        yield from _closes(
            history, style, host, time, [(history.job.seats[_rank(event)].pid, event.signal) for event in killed]
        )
        yield from _fails(history, style, host, failed, max((event.time for event in killed), default=time))
    elif stopped is not None and (killed or stopped.host in (None, host)):
        yield from _is_stopped(history, style, host, stopped.time)


def _failure(event: LauncherSaw) -> bool:
    return bool(event.signal) or bool(event.exit_code)


def _closes(
    history: History, style: Style, host: int, time: float, killed: Iterable[tuple[int, int | None]]
) -> Iterator[Printed]:
    """The agent ends the other processes: SIGTERM, and SIGKILL after half a minute to those that do not heed it."""
    for pid, signal in killed:
        head = _head(history, style, host, time + 0.05, "W", f"{_PACKAGE}/multiprocessing/api.py:898")
        yield _printed(time + 0.05, (Line(f"{head}Sending process {pid} closing signal SIGTERM"),))
        if signal == Signals.SIGKILL:
            late = time + 30.1
            head = _head(history, style, host, late, "W", f"{_PACKAGE}/multiprocessing/api.py:917")
            text = f"Unable to shutdown process {pid} via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL"
            yield _printed(late, (Line(f"{head}{text}"),))


def _fails(history: History, style: Style, host: int, failed: Sequence[LauncherSaw], after: float) -> Iterator[Printed]:
    first = next((event for event in failed if event.first), min(failed, key=lambda event: event.time))
    seat, time = history.job.seats[_rank(first)], max(after, first.time) + 0.2
    dialect = dialect_of(history, style)
    binary = f"{_bin(dialect.python)}/python3"
    head = _head(history, style, host, time, "E", f"{_PACKAGE}/multiprocessing/api.py:870")
    text = f"failed (exitcode: {_code(first)}) local_rank: {seat.local_rank} (pid: {seat.pid}) of binary: {binary}"
    yield _printed(time, (Line(f"{head}{text}", first.fault),))
    stack = [Line(line.format(python=dialect.python, bin=_bin(dialect.python))) for line in _STACK + _CHILD_FAILED]
    yield _printed(time + 0.1, (*stack, *_table(history, style, dialect.script, first, failed)))


def _table(
    history: History, style: Style, script: str, first: LauncherSaw, failed: Sequence[LauncherSaw]
) -> Iterable[Line]:
    others = [event for event in failed if event is not first]
    yield from (Line(_THICK), Line(f"{script} FAILED"), Line(_THIN), Line("Failures:"))
    if not others:
        yield Line("  <NO_OTHER_FAILURES>")
    for number, event in enumerate(others, start=1):
        yield from _row(history, style, number, event)
    yield from (Line(_THIN), Line("Root Cause (first observed failure):"))
    yield from _row(history, style, 0, first)
    yield Line(_THICK)


def _row(history: History, style: Style, number: int, event: LauncherSaw) -> Iterable[Line]:
    seat, host = history.job.seats[_rank(event)], history.job.host_of(_rank(event))
    local = clocks.local(host, event.time, history.job.start)
    stamp = clocks.iso(local, digits=0, separator="_", utc_offset=style.utc_offset)
    died = f"Signal {event.signal} ({Signals(event.signal).name}) received by PID {seat.pid}" if event.signal else None
    yield from (Line(f"[{number}]:"), Line(f"  time      : {stamp}"), Line(f"  host      : {host.pod or host.name}"))
    yield Line(f"  rank      : {event.rank} (local_rank: {seat.local_rank})")
    yield Line(f"  exitcode  : {_code(event)} (pid: {seat.pid})", event.fault)
    yield Line("  error_file: <N/A>")
    yield Line(f"  traceback : {died or _NO_TRACEBACK}", event.fault if died else None)


def _is_stopped(history: History, style: Style, host: int, time: float) -> Iterator[Printed]:
    """Somebody sends the agent SIGTERM: it passes it on and ends with an exception of its own."""
    head = _head(history, style, host, time, "W", f"{_PACKAGE}/agent/server/api.py:719")
    yield _printed(time, (Line(f"{head}Received 15 death signal, shutting down workers"),))
    yield from _closes(
        history, style, host, time, [(seat.pid, None) for seat in history.job.seats if seat.host == host]
    )
    python = dialect_of(history, style).python
    stack = [Line(line.format(python=python, bin=_bin(python))) for line in _STACK]
    yield _printed(time + 1.2, (*stack, Line(_SIGNAL_GOT.format(pid=_AGENT_PID))))


def _lost_rendezvous(history: History, style: Style, host: int) -> Iterator[Printed]:
    """The rendezvous lives on the first host: with it gone, the other agents cannot renew their leases."""
    for event in history.events:
        if isinstance(event, HostRebooted) and event.host == 0 and host != 0:
            time = event.time + 8.0 + 0.1 * host
            head = _head(history, style, host, time, "W", f"{_PACKAGE}/rendezvous/dynamic_rendezvous.py:1276")
            name = history.job.hosts[host].name
            yield _printed(time, (Line(f"{head}{_HEARTBEAT.format(name=name, pid=_AGENT_PID)}"),))


def _head(history: History, style: Style, host: int, time: float, level: str, place: str) -> str:
    local = clocks.local(history.job.hosts[host], time, history.job.start)
    return f"{level}{clocks.glog(local, utc_offset=style.utc_offset)[:-3]}000 {_AGENT_PID} site-packages/{place}] "


def _printed(time: float, lines: Iterable[Line]) -> Printed:
    return Printed(time, tuple(lines), Voice.LAUNCHER)


def _code(event: LauncherSaw) -> int:
    return -event.signal if event.signal else event.exit_code or 0


def _rank(event: LauncherSaw) -> int:
    return 0 if event.rank is None else event.rank


def _host(history: History, event: LauncherSaw) -> int:
    return history.job.seats[_rank(event)].host if event.host is None else event.host


def _bin(python: str) -> str:
    """/opt/venv/lib/python3.10/site-packages lies beside /opt/venv/bin."""
    return f"{python.partition('/lib/')[0]}/bin"
