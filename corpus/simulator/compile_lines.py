"""What the compiler's wrapper and its cache print: compilations that end, fail or are waited for."""

from collections.abc import Iterator

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.history import Compiling, WaitsForCompileLock
from neuron_doctor.corpus.simulator.printed import Line, Printed, Process

_MINUTE = 60.0
_MOST = 90  # waiting lines of one rank: an hour and a half
_DOT, _DOTS = 20, 72  # seconds of a dot, and the most in a line
_CALL = (
    "Call compiler with cmd: neuronx-cc compile --framework=XLA {work}/model.{graph}.hlo_module.pb --output "
    "{work}/model.{graph}.neff --target=trn1 --model-type=transformer --auto-cast=none --verbose=35"
)
_WORK = "/tmp/ubuntu/neuroncc_compile_workdir/8f6f5c0e-2d86-4b13-9d0c-63f1b3d3f0a1"  # noqa: S108 (text of a log)
_WAITING = "Another process must be compiling {path}, been waiting for: {minutes:.1f} minutes"
_KILLED = (
    (
        "[F137] neuronx-cc was forcibly killed - This most commonly occurs due to insufficient system memory. Using a smaller "
        "data type, dimensions, batch size, or a larger instance type may help."
    ),
    "neuronx-cc compilation failed with -9. Check compiler logs.",
)
_ICE = (
    "***************************************************************",
    " An Internal Compiler Error has occurred",
    "***************************************************************",
    "",
    "Error message:  {message}",
    "",
    "Error class:    AssertionError",
    "Error location: Unknown",
    "Command line:   /usr/local/bin/neuronx-cc compile --framework=XLA {work}/model.{graph}.hlo_module.pb",
    "",
    "Internal details:",
    '  File "neuronxcc/driver/CommandDriver.py", line 345, in neuronxcc.driver.CommandDriver.CommandDriver.run_subcommand',
    "",
)
_MESSAGES = (
    "[NCC_ITEN406] Too many partition dimensions detected at IotaDesc",
    "[NCC_EVRF007] Too many instructions after unroll for function sg0000",
    "[NCC_EVRF001] Operator not supported: custom-call",
    "[NCC_EOOM001] Combined I/O and intermediate tensors exceed HBM limit",
)
_CACHED = (
    "Got a cached failed neff at {path}. Will skip compilation, please set --retry_failed_compilation for recompilation"
)
_MEMORY_WORDS = ("oom", "kill", "memory")
_DISK_WORDS = ("disk", "space")


def compiling(process: Process, event: Compiling) -> Iterator[Printed]:
    """A compilation from its call to its end, as far as it came."""
    going_on = event.fault if event.seconds is None else None
    yield _wrapper(process, event.time, _CALL.format(work=_WORK, graph=event.graph), going_on)
    if event.seconds is None:
        yield _dots(process, event)
        return
    end = event.time + event.seconds
    if event.failed is not None:
        yield from _failed(process, event, end)
        return
    yield process.says(
        end - 0.5, (f"{_so_many(event.seconds)}Completed run_backend_driver.", "", "Compiler status PASS")
    )
    stamp = clocks.iso(process.clock(end), digits=6, separator=" ", utc_offset=process.style.utc_offset)
    success = f"Compilation Successfully Completed for model.{event.graph}.hlo_module.pb"
    yield process.says(end, (f"{stamp}:  {process.seat.pid}  [INFO]: {success}",))


def _dots(process: Process, event: Compiling) -> Printed:
    """The progress of a compilation that was still going on when the process ended or the files were gathered."""
    ends = [time for time in (process.life.ended, process.history.collected) if time is not None]
    return process.says(min(ends) - 0.1, (_so_many(min(ends) - event.time),))


def _so_many(seconds: float) -> str:
    return "." * min(max(int(seconds / _DOT), 1), _DOTS)


def compile_exception(event: Compiling) -> tuple[str, str]:
    """What the program gets when its compilation failed."""
    code = "-9" if _is_about(event, _MEMORY_WORDS) else "70"
    return "RuntimeError", f"Failed compilation: neuronx-cc compilation failed with {code} for model.{event.graph}"


def waiting(process: Process, event: WaitsForCompileLock) -> Iterator[Printed]:
    """A line a minute for as long as the lock is held."""
    ends = [time for time in (event.until, process.life.ended, process.history.collected) if time is not None]
    passed = min(ends) - event.time
    for minute in range(1, min(int(passed / _MINUTE), _MOST) + 1):
        text = _WAITING.format(path=event.path, minutes=float(minute))
        yield _cache(process, event.time + minute * _MINUTE, text, event.fault)


def _failed(process: Process, event: Compiling, end: float) -> Iterator[Printed]:
    if _is_about(event, _MEMORY_WORDS):
        yield process.says(end, [f"{_error(process)}{text}" for text in _KILLED], event.fault)
    elif event.failed == "cached":
        yield _wrapper(process, end, _CACHED.format(path=f"{_WORK}/model.{event.graph}.neff"), event.fault)
    elif _is_about(event, _DISK_WORDS):
        yield process.says(end, ("OSError: [Errno 28] No space left on device",), event.fault)
    else:
        yield process.says(end, _internal_error(process, event))


def _internal_error(process: Process, event: Compiling) -> Iterator[Line]:
    """The block of the compiler. Its message is the event's, where that is one of the compiler's."""
    given = event.failed or ""
    message = given if "NCC_" in given else _MESSAGES[sum(event.graph.encode()) % len(_MESSAGES)]
    for text in _ICE:
        states = "Internal Compiler" in text or "{message}" in text
        filled = text.format(message=message, work=_WORK, graph=event.graph)
        yield Line(f"{_error(process)}{filled}", event.fault if states else None)
    yield Line("neuronx-cc compilation failed with 70. Check compiler logs.", event.fault)


def _is_about(event: Compiling, words: tuple[str, ...]) -> bool:
    return any(word in (event.failed or "").lower() for word in words)


def _error(process: Process) -> str:
    return f"ERROR {process.seat.pid} [neuronx-cc]: "


def _wrapper(process: Process, time: float, text: str, fault: int | None = None) -> Printed:
    return process.says(time, (f"{_stamp(process, time)}INFO ||NEURON_CC_WRAPPER||: {text}",), fault)


def _cache(process: Process, time: float, text: str, fault: int | None = None) -> Printed:
    return process.says(time, (f"{_stamp(process, time)}INFO ||NEURON_CACHE||: {text}",), fault)


def _stamp(process: Process, time: float) -> str:
    """2024-01-11 05:53:27.000203:  741529  , with the milliseconds in six digits as the wrapper writes them."""
    text = clocks.iso(process.clock(time), digits=3, separator=" ", utc_offset=process.style.utc_offset)
    whole, _, millis = text.partition(".")
    return f"{whole}.000{millis}:  {process.seat.pid}  "
