"""What commands listed of their machine in what a terminal or a script showed, wherever in the text it stands: the devices of
`neuron-ls`, the counters of the driver, and below commands what is on the PCI bus and in /dev, modules, packages, limits, file
systems, clocks and kernels.

A file that is nothing but one such output is read by its own collector. Who asks for help copies several, and an epilog writes
them one below the other, between lines of its own; they say the same there. The rest of the text is read as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader, BytesIO

from msgspec.structs import replace

from neuron_doctor.collectors import (
    clock_reports,
    device_nodes,
    file_systems,
    lspci,
    modules,
    neuron_ls,
    packages,
    sysfs,
    ulimit,
    uname,
)
from neuron_doctor.collectors.base import HEAD, Collector, Input, UnreadableInput
from neuron_doctor.collectors.command_lines import pipelines, tool_of
from neuron_doctor.collectors.matches import Candidate
from neuron_doctor.collectors.snapshot import Line, command_of, from_lines, lines_of
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.regexes import regex

#: The lines of a table of neuron-ls from the head on, with what neuron-ls prints above it.
_TABLE = regex(
    rb"(?m)^(?:[ \t]*(?:instance-type|instance-id|logical-neuroncore-config):[^\n]{0,200}\n){0,3}"
    rb"[ \t]*\+-[-+]+\+[ \t]*\r?\n(?=[ \t]*\|[ \t]*NEURON[ \t]*\|)(?:[ \t]*[|+][^\n]*(?:\n|\Z))+"
)
#: An array of devices, each line of it as pretty or as dense as it is written.
_ARRAY = regex(
    rb"(?m)^([ \t]*)\[(?=\s*\{[^\[\]{}]{0,200}\"neuron_device\")"
    rb"(?:[ \t]*\r?\n(?:[^\n]*\n)*?\1\][ \t]*\r?$|\{(?:[^\n]*\n)*?[^\n]*\}[ \t]*\][ \t]*\r?$)"
)
#: Who reads what these commands print.
_READERS: dict[str, tuple[Collector, ...]] = {
    "lspci": lspci.COLLECTORS,
    "lsmod": modules.COLLECTORS,
    "modinfo": modules.COLLECTORS,
    "dpkg": packages.COLLECTORS,
    "dpkg-query": packages.COLLECTORS,
    "apt": packages.COLLECTORS,
    "rpm": packages.COLLECTORS,
    "pip": packages.COLLECTORS,
    "pip3": packages.COLLECTORS,
    "ulimit": ulimit.COLLECTORS,
    "df": file_systems.COLLECTORS,
    "chronyc": clock_reports.COLLECTORS,
    "timedatectl": clock_reports.COLLECTORS,
    "ntpq": clock_reports.COLLECTORS,
    "uname": uname.COLLECTORS,
}
#: Who reads what these print, where they are asked for what is named behind them.
_READERS_OF_PATHS: tuple[tuple[str, str, tuple[Collector, ...]], ...] = (
    ("ls", "/dev", device_nodes.COLLECTORS),
    ("cat", "/sys/module/", modules.COLLECTORS),
    ("cat", "/proc/", ulimit.COLLECTORS),
    ("grep", "/proc/", ulimit.COLLECTORS),
)
#: What is looked for beside the patterns of the rules: the title of a table, a member of the array, and the name of one of these
#: commands. What stands before it is not: Vectorscan 5.4.12 loses lines for which it has to find one class behind another.
_LISTS = (
    r"\| NEURON |\"neuron_device\"|neuron_device/neuron\d|/stats/hardware/\w|_ecc_uncorrected[=:]|/dev/neuron[*\[?]"
    r"|ls /dev \| grep|cat /sys/module/|/proc/\S{1,40}/limits"
)
_COMMANDS = "|".join(sorted(_READERS, reverse=True))
LISTING = Pattern("listing", rf"{_LISTS}|[ /](?:{_COMMANDS})\b", emits="section")
#: On such a line a command stands behind a prompt, or in what a script heads an output with.
_ON_LINE = regex(rf"{_LISTS}|[$#>%+=*-] {{1,4}}(?:sudo )?(?:/\S{{1,40}}/)?(?:{_COMMANDS})\b".encode())
#: What leaves lines out, so that nothing can be counted.
_CUTS = frozenset({"head", "tail", "uniq", "wc", "awk", "cut", "sed", "column"})


def may_list(candidate: Candidate) -> bool:
    """Whether the line of a candidate for `LISTING`, in the first 64 KiB, begins a listing or shows a command that makes one."""
    begin, end = candidate.reach
    return candidate.offset < HEAD and _ON_LINE.search(candidate.lines.block.data, begin, end) is not None


def shown_listings(inp: Input) -> Iterator[Fact]:
    """The facts of the listings in the first 64 KiB, where a line `may_list`; one that may go on behind them is left out,
    for its count would be wrong."""
    head = inp.head()
    lines = list(lines_of(head))
    for begin, end in _of_devices(head):
        yield from _read(inp, [line for line in lines if begin <= line.offset < end], neuron_ls.COLLECTORS)
    for run in sysfs.captures(lines):
        if run[-1].offset + len(run[-1].raw) < HEAD:
            yield from _moved(inp, run, from_lines(sysfs.parse))
    for section, readers in _below_commands(lines):
        if section[-1].offset + len(section[-1].raw) < HEAD:
            yield from _read(inp, section, readers)


def _of_devices(head: bytes) -> list[tuple[int, int]]:
    """Where the listings of neuron-ls stand."""
    found = [match.span() for form in (_TABLE, _ARRAY) for match in form.finditer(head)]
    return sorted((begin, end) for begin, end in found if end < HEAD)


def _below_commands(lines: Iterable[Line]) -> Iterator[tuple[list[Line], tuple[Collector, ...]]]:
    """What stands from each such command to the next command, and who reads it."""
    section: list[Line] = []
    readers: tuple[Collector, ...] = ()
    for line in lines:
        command = command_of(line.text)
        if command is not None:
            if readers and len(section) > 1:
                yield section, readers
            section, readers = [], _readers_of(command)
        if readers:
            section.append(line)
    if readers and len(section) > 1:
        yield section, readers


def _readers_of(command: str) -> tuple[Collector, ...]:
    """Who reads what a command line prints that calls one thing and shows all of its lines."""
    try:
        calls = list(pipelines(command))
    except ValueError:
        return ()
    if len(calls) != 1:
        return ()
    words, filters = calls[0].words, calls[0].filters
    tool = tool_of(words)
    for asker, path, readers in _READERS_OF_PATHS:
        if tool == asker and any(word.startswith(path) for word in words[1:]):
            return readers
    return _READERS.get(tool, ()) if _CUTS.isdisjoint(filters) else ()


def _read(inp: Input, lines: Sequence[Line], readers: Iterable[Collector]) -> Iterator[Fact]:
    """The facts of the first of these collectors that knows the lines for its own."""
    text = b"".join(line.raw for line in lines)
    reader = next((reader for reader in readers if reader.sniff(text, "")), None)
    return _moved(inp, lines, reader.collect) if reader else iter(())


def _moved(inp: Input, lines: Sequence[Line], collect: Callable[[Input], Iterable[Fact]]) -> Iterator[Fact]:
    """What is read of these lines, where they stand in the whole text."""
    text = b"".join(line.raw for line in lines)
    part = Input(inp.path, inp.name, BufferedReader(BytesIO(text)), len(text), inp.place, inp.source_id)
    try:
        for fact in collect(part):
            span, first = fact.span, lines[0]
            moved = replace(span, offset=span.offset + first.offset, line=(span.line or 1) + first.number - 1)
            host = fact.place.host or first.host
            yield replace(fact, span=moved, place=replace(fact.place, host=host))
    except UnreadableInput as error:
        inp.problem(str(error))
    for problem in part.problems.values():
        inp.problem(problem.what, (problem.line or 1) + lines[0].number - 1)
