"""Dresses what processes print as launchers and collectors do, and puts several ranks' entries into one file."""

from collections.abc import Iterable, Sequence
from random import Random

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.printed import Line, Printed, Voice
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.text import Lines

_TORN = 0.15  # share of the neighbouring lines of two processes that one writes into the other's
_TOGETHER = 0.002  # seconds within which that happens
_LAUNCHER_PID = 4211
_DRESSES = {
    "none": "",
    "torchrun": "[default{local}]:",
    "srun": "{rank:>{width}}: ",
    "mpirun": "[1,{rank}]<{stream}>:",
    "rank": "[rank{rank}]:",
}


def written(
    history: History, style: Style, host: int, entries: Iterable[Printed], random: Random, *, dressed: bool = True
) -> Lines:
    """The entries in the order in which the host's programs wrote them, dressed."""
    ordered = sorted(entries, key=lambda entry: entry.time)
    lines, position = Lines(), 0
    while position < len(ordered):
        pair = ordered[position : position + 2]
        if style.prefix == "none" and _may_tear(pair) and random.random() < _TORN:
            _write_torn(lines, *pair)
            position += 2
            continue
        _write(lines, ordered[position], _prefix(history, style, host, ordered[position]) if dressed else "")
        position += 1
    return lines


def _write(lines: Lines, entry: Printed, prefix: str) -> None:
    for line in entry.lines:
        for text in line.text.split("\n"):
            lines.part(prefix)
            lines.line(text, line.fault)


def _may_tear(pair: Sequence[Printed]) -> bool:
    first, second = pair[0], pair[-1]
    return (
        first.rank != second.rank
        and second.time - first.time < _TOGETHER
        and all(entry.stamp and len(entry.lines) == 1 and "\n" not in entry.lines[0].text for entry in pair)
    )


def _write_torn(lines: Lines, first: Printed, second: Printed) -> None:
    """The second process writes its line after the time of the first's, whose rest follows on a line of its own."""
    cut, torn = first.stamp, first.lines[0]
    lines.part(torn.text[:cut])
    lines.line(second.lines[0].text, second.lines[0].fault)
    rest = Line(torn.text[cut:], torn.fault)
    lines.line(rest.text, rest.fault)


def _prefix(history: History, style: Style, host: int, entry: Printed) -> str:
    if style.prefix in ("cri", "syslog"):
        return _collected(history, style, host, entry)
    if entry.rank is None:
        return ""  # the launcher does not dress its own lines
    return _DRESSES[style.prefix].format(
        rank=entry.rank,
        width=len(str(history.job.world - 1)),
        local=history.job.seats[entry.rank].local_rank,
        stream=_stream(entry),
    )


def _collected(history: History, style: Style, host: int, entry: Printed) -> str:
    """What a log collector on the host puts before a line."""
    machine = history.job.hosts[host]
    clock = clocks.local(machine, entry.time, history.job.start)
    if style.prefix == "cri":
        return f"{clocks.iso(clock, digits=9, zone='Z')} {_stream(entry)} F "
    pid = _LAUNCHER_PID if entry.rank is None else history.job.seats[entry.rank].pid
    program = "torchrun" if entry.rank is None else "python3"
    return f"{clocks.syslog(clock, utc_offset=style.utc_offset)} {machine.name} {program}[{pid}]: "


def _stream(entry: Printed) -> str:
    plain = entry.voice is Voice.FRAMEWORK and len(entry.lines) == 1
    return "stdout" if plain else "stderr"
