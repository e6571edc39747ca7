"""Python's texts of stacks: tracebacks of exceptions, and what its fault handler prints when a process dies of a signal."""

from collections.abc import Iterable, Sequence

from neuron_doctor.corpus.simulator.history import Frame
from neuron_doctor.corpus.simulator.printed import Line

FATAL: dict[int, str] = {
    4: "Illegal instruction",
    6: "Aborted",
    7: "Bus error",
    8: "Floating point exception",
    11: "Segmentation fault",
}
_THREAD = "0x00007f3c8e7fc740"


def traceback(
    frames: Sequence[Frame], kind: str, message: str, fault: int | None = None, mark: str = ""
) -> Iterable[Line]:
    """An uncaught exception with its stack, whose last line states it. `mark` precedes every line ("[rank3]: ")."""
    yield Line(f"{mark}Traceback (most recent call last):")
    outermost_first = tuple(reversed(frames))
    for position, frame in enumerate(outermost_first):
        yield Line(f'{mark}  File "{frame.file}", line {frame.line}, in {frame.function}')
        if position + 1 < len(outermost_first):
            yield Line(f"{mark}    {_source(outermost_first[position + 1].function)}")
    *first, last = f"{kind}: {message}".split("\n")
    for text in first:
        yield Line(f"{mark}{text}")
    yield Line(f"{mark}{last}", fault)


def fatal_error(signal: int, frames: Sequence[Frame], fault: int | None = None) -> Iterable[Line]:
    """What the fault handler prints of the thread that got the signal."""
    yield Line(f"Fatal Python error: {FATAL.get(signal, 'Aborted')}", fault)
    yield Line("")
    yield Line(f"Current thread {_THREAD} (most recent call first):")
    for frame in frames:
        yield Line(f'  File "{frame.file}", line {frame.line} in {frame.function}')
    if not frames:
        yield Line("  <no Python frame>")


def _source(called: str) -> str:
    """A line of source from which the next frame may have been called."""
    return "main()" if called in ("<module>", "main") else f"return {called}(*args, **kwargs)"
