"""The forms of the runtime's and the collectives library's lines: heads, components, padding, coalescing."""

from collections.abc import Iterable
from dataclasses import dataclass

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.dialect import Form
from neuron_doctor.corpus.simulator.printed import Line, Printed, Process, Voice

_RED, _PLAIN = "\x1b[91m", "\x1b[0m"
_COLLECTIVES_VOICE = "CCOM"
_FUNCTION = 40  # columns


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the runtime. `component` CCOM is the collectives library: `function` is then its source place."""

    component: str
    function: str
    text: str
    fault: int | None = None
    level: str = "ERROR"
    threaded: bool = True  # said by the thread that executes, where there is one


def printed(process: Process, time: float, said: Iterable[Said]) -> list[Printed]:
    """The messages as the runtime writes them, one after the other, some tenths of a millisecond apart."""
    messages = tuple(said)
    if process.dialect.coalesced and _may_coalesce(messages):
        return [_coalesced(process, time, messages)]
    return [_one(process, time + 0.0003 * nth, message) for nth, message in enumerate(messages)]


def _one(process: Process, time: float, said: Said) -> Printed:
    stamp = "" if process.dialect.form is Form.BARE else _stamp(process, time, said)
    text = f"{stamp}{_body(process, said)}"
    coloured = process.dialect.colour and said.level == "ERROR" and said.component != _COLLECTIVES_VOICE
    line = Line(f"{_RED}{text}{_PLAIN}" if coloured else text, said.fault)
    return Printed(time, (line,), Voice.RUNTIME, process.rank, 0 if coloured else len(stamp.rstrip()))


def _may_coalesce(messages: tuple[Said, ...]) -> bool:
    return len(messages) > 1 and all(
        said.level == "ERROR" and said.component != _COLLECTIVES_VOICE for said in messages
    )


def _coalesced(process: Process, time: float, messages: tuple[Said, ...]) -> Printed:
    """One record for all: the first line in full, the others in compact form below it."""
    first = _one(process, time, messages[0])
    rest = tuple(Line(f"\t{said.component}:{said.function} {said.text}", said.fault) for said in messages[1:])
    return Printed(time, first.lines + rest, Voice.RUNTIME, process.rank)


def _stamp(process: Process, time: float, said: Said) -> str:
    micros = clocks.runtime(process.clock(time), utc_offset=process.style.utc_offset)
    whole = process.dialect.form is Form.MICROSECONDS and said.component != _COLLECTIVES_VOICE
    if whole:
        return f"{micros} "
    head, _, fraction = micros.partition(".")
    return f"{head}.0{fraction[:3]} "  # the old form: milliseconds in four digits


def _body(process: Process, said: Said) -> str:
    pid = process.seat.pid
    thread = pid + process.dialect.thread if said.threaded else pid
    if said.component == _COLLECTIVES_VOICE:
        return f"{pid}:{thread} [{process.seat.local_rank}] {said.function} CCOM {said.level} {said.text}"
    if process.dialect.form is Form.SINGLE_SPACE:
        return f"{pid}:{thread} {said.level} {said.component}:{said.function} {said.text}"
    function = f"{said.function:<{_FUNCTION}}" if len(said.function) < _FUNCTION else f"{said.function} "
    level = f"{said.level:>5} {said.component:>5}:{function}{said.text}"
    if process.dialect.form is Form.BARE:
        return level
    if process.dialect.form is Form.PADDED:
        return f"{pid:>5}:{thread:<5} {level}"
    return f"{pid}:{thread} {level}"
