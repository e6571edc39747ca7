"""The last words of a program in Python: the exception that ends it, its own or the echo of what failed below it."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from neuron_doctor.corpus.simulator.compile_lines import compile_exception
from neuron_doctor.corpus.simulator.history import (
    Compiling,
    DeviceMemoryExhausted,
    End,
    Event,
    ExceptionRaised,
    ExecutionFailed,
    PeerLost,
    SetupFailed,
    WatchdogTimeout,
)
from neuron_doctor.corpus.simulator.printed import Printed, Process
from neuron_doctor.corpus.simulator.runtime_words import SPECIFIC, SYMBOLS
from neuron_doctor.corpus.simulator.setup_words import DEFAULTS
from neuron_doctor.corpus.simulator.tracebacks import fatal_error, traceback
from neuron_doctor.corpus.simulator.watchdogs import peer_exception, timeout_exception
from neuron_doctor.corpus.simulator.write_runtime import blamed

_SIGABRT = 6
_MARKED = 0.5  # share of jobs
# By status: what the native front end and the docs call it.
_SHORT: Mapping[int, str] = {
    1: "Non-specific failure",
    2: "Invalid NEFF, instruction, or input",
    4: "Failed to allocate resource",
    5: "Operation timed out",
    6: "Hardware failure",
    101: "Execution unit is in an unrecoverable state",
    1003: "Execution was completed with numerical errors (produced NaN)",
    1004: "Execution was completed with other errors",
    1006: "Out of bound access",
    1200: "Stuck in collectives op (missing notification(s)). Possibly caused by a hardware error on another worker",
    1201: "An HBM suffered from an uncorrectable error and produced incorrect results",
    1202: "Parity error in the on-chip memory of a NeuronCore",
    1203: "DMA engine encountered an unrecoverable error",
    1204: "Software notification queue overflow",
    1205: "An HBM suffered from a repairable uncorrectable error and produced incorrect results",
    1206: "EFA network proxy failure",
}
_ECHOES = (
    'Bad StatusOr access: INTERNAL: nrt_execute: status={status}, error message="{short}"',
    "NRT EXECUTION FAILED: {short} (nrt status code {status})",
    "Failed to execute the model status={status} message={short}",
    'NRT Execution error occurred on Neuron for operation=train_step\nerror message="{short}" ({symbol})',
)
_OUT_OF_MEMORY = (
    "Could not load the model status=4 message=Allocation Failure",
    "nrt_tensor_allocate status=4",
)
_INIT_FAILED = "nrt_init failed. Status = 1"
_RUNTIME_INIT = (
    "The PyTorch Neuron Runtime could not be initialized. Neuron Driver issues are logged to your system logs."
)
# What the program says of a failed set-up, where that states the cause by itself.
_SETUP: Mapping[str, tuple[str, str]] = {
    "name-resolution-failed": ("socket.gaierror", "[Errno -2] Name or service not known: '{name}'"),
    "disk-full": ("OSError", "[Errno 28] No space left on device"),
    "collectives-root-comm-id": (
        "torch.distributed.DistNetworkError",
        (
            "The server socket has failed to listen on any local network address. port: {port}, useIpv6: false, code: -98, "
            "name: EADDRINUSE, message: address already in use"
        ),
    ),
    "runtime-library-missing": (
        "ImportError",
        "libnrt.so.1: cannot open shared object file: No such file or directory",
    ),
}


def exceptions(process: Process, events: Sequence[Event]) -> Iterator[Printed]:
    """Tracebacks: those that happened, else the one that a program which raised must have ended with."""
    own = [event for event in events if isinstance(event, ExceptionRaised)]
    for event in own:
        lines = traceback(event.frames, event.type, event.message, event.fault, _mark(process))
        yield process.says(event.time, lines)
    if process.life.ended is None or own:
        return
    gave_up = any(isinstance(event, WatchdogTimeout) for event in events)
    if process.life.end is End.RAISED or gave_up:
        yield from _echoed(process, events, process.life.ended - 0.02)
    elif process.life.end is End.ABORTED:
        yield process.says(process.life.ended - 0.02, fatal_error(_SIGABRT, process.life.standing))


def _echoed(process: Process, events: Sequence[Event], time: float) -> Iterator[Printed]:
    """The exception that passes on what failed below; the last failure is what the program sees."""
    for event in reversed(events):
        echo = _echo(process, event, events)
        if echo is not None:
            kind, message, fault = echo
            yield process.says(time, traceback(process.life.standing, kind, message, fault, _mark(process)))
            return


def _echo(process: Process, event: Event, events: Sequence[Event]) -> tuple[str, str, int | None] | None:
    """Type, message, and the fault that the message states by itself."""
    echo: tuple[str, str, int | None] | None = None
    match event:
        case ExecutionFailed():
            fault = blamed(event, events).fault if event.status in SPECIFIC else None
            echo = "RuntimeError", _execution(process, event), fault
        case DeviceMemoryExhausted():
            echo = "RuntimeError", _drawn(process, "memory").choice(_OUT_OF_MEMORY), event.fault
        case Compiling(failed=str()):
            echo = *compile_exception(event), event.fault
        case SetupFailed():
            echo = _setup(process, event)
        case PeerLost():
            echo = *peer_exception(process, event), None
        case WatchdogTimeout():
            exception = timeout_exception(process, event)
            echo = (*exception, event.fault) if exception else None
    return echo


def _execution(process: Process, event: ExecutionFailed) -> str:
    short = _SHORT.get(event.status, "Execution was completed with other errors")
    symbol = SYMBOLS.get(event.status, "NRT_FAILURE")
    return _drawn(process, "echo").choice(_ECHOES).format(status=event.status, short=short, symbol=symbol)


def _setup(process: Process, event: SetupFailed) -> tuple[str, str, int | None]:
    if event.what in _SETUP:
        kind, message = _SETUP[event.what]
        return kind, message.format_map({**DEFAULTS, **event.detail}), event.fault
    return "RuntimeError", _drawn(process, "setup").choice((_INIT_FAILED, _RUNTIME_INIT)), None


def _drawn(process: Process, what: str) -> Random:
    """All ranks of a job echo in the same words."""
    return Random(f"{what} of {process.history.job.job_id} {process.history.job.start}")


def _mark(process: Process) -> str:
    """Torch prefixes the tracebacks of distributed programs with their rank, from 2.2 on."""
    return f"[rank{process.rank}]: " if _drawn(process, "mark").random() < _MARKED else ""
