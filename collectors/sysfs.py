"""The Neuron driver's sysfs: counters, device states and memory, from the files themselves or a text capture of them.

Source: Neuron documentation, tools/neuron-sys-tools/neuron-sysfs-user-guide (SDK 2.32), driver source 2.24.7.0
(neuron_sysfs_metrics.c, neuron_device.h). Driver 2.31 moved nodes, so a file is known by its own name and the nearest
neuron<N> and neuron_core<M> above it, never by its full path. `total` counts from driver load; `present`, the last
change, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import PurePosixPath

from msgspec import Struct

from neuron_doctor.collectors.base import Collector, Input, UnreadableInput
from neuron_doctor.collectors.device_counters import ECC
from neuron_doctor.collectors.instance_types import device_count
from neuron_doctor.collectors.shown_zones import shown_zones
from neuron_doctor.collectors.snapshot import (
    Line,
    anonymous,
    command_of,
    fact,
    has_form,
    head_lines,
    is_output,
    opening,
    read_lines,
)
from neuron_doctor.engine.facts import Fact, Place, Value
from neuron_doctor.engine.regexes import regex

#: Files that hold one counter, wherever they stand; reported even at 0, which is evidence of health.
_ALWAYS = frozenset({*ECC, "reset_fail_count"})

#: Counters outside `status/` that say something about health; reported when they are not 0.
_OTHER = frozenset({"reset_req_count", "health_status"})

#: The number that reading `reset` gives (enum neuron_device_state).
_STATES = {"0": "resetting", "1": "ready", "2": "invalid"}

_LEAVES = frozenset({"total", "present", "peak", "reset", "unhealthy_components", "core_count", "instance_type"})
_NAMES = _LEAVES | _ALWAYS | _OTHER

_NODE = regex(r"neuron(\d{1,4})")
_CORE = regex(r"neuron_core(\d{1,4})")
_HEADER = regex(r"==> (?P<path>[^\s:]+) <==\s*$")
_PART = r"(?:neuron_device|neuron\d+|neuron_core\d+|stats/(?:hardware|status|memory_usage|other_info|power))"
_ENTRY = regex(rf"(?P<path>(?:[^\s:=]*/)?{_PART}/[^\s:=]+)(?:\s*[:=]\s*|\s+)(?P<value>\S{{0,400}})\s*$")
#: What a script prints of each device in a row of its own: `neuron3 core_count=4 mem_ecc_uncorrected=0`.
_NAMED = "|".join(sorted(_ALWAYS | {"core_count"}, reverse=True))
_ROW = regex(
    rf"(?P<node>neuron\d{{1,4}}):?(?=[^\n]{{0,2000}}\s(?:{_NAMED})[=:] ?\d)"
    r"(?:\s{1,20}[\w.-]{1,80}[=:] ?[^\s=]{1,80}){1,40}\s*$"
)
#: A path of a device, and a command that shows one file below it.
_OF_DEVICE = regex(r"(?:neuron_device/|^|[\s/])neuron\d{1,4}/")
_SHOWS = regex(
    r"(?:sudo )?(?:cat|head|tail)(?: -n ?\+?1| -\d)? (?P<path>[^\s*?\[|;]{1,400}/neuron\d{1,4}/[^\s*?\[|;]{1,400})"
)
_CELL = regex(rf"(?P<name>{_NAMED})[=:] ?(?P<value>\d{{1,20}})(?!\S*[^\s,;])")
_ENTRY_OF_DEVICE = regex(rf"(?=\S*neuron\d){anonymous(_ENTRY)}")
_PATHED = regex(rf"==> \S*{_PART}/\S+ <==\s*$|{_ENTRY.pattern}|{anonymous(_ROW)}")
_CAPTURE = regex(rf"{_PATHED.pattern}|\S{{1,400}}\s*$")
_VALUE = regex(rb"\s*[\w,. -]{0,400}\s*")
#: A file of sysfs holds one value (bytes).
_SMALL = 512
_NOTHING = frozenset({"", "0", "none", "[]", "n/a"})


class _Reading(Struct, frozen=True):
    """The value of one sysfs file, with the line that shows it."""

    parts: tuple[str, ...]
    value: str
    line: Line


def _sniff(head: bytes, name: str) -> bool:
    if name in _NAMES:
        return len(head) < _SMALL and _VALUE.fullmatch(head) is not None and head.count(b"\n") <= 1
    if not _PATHED.match(opening(head)) or not has_form(head, _CAPTURE, 0.9):
        return False
    texts = head_lines(head)
    return 3 * sum(1 for text in texts if _PATHED.match(text)) >= len(texts)


def _collect(inp: Input) -> Iterator[Fact]:
    lines = read_lines(inp)
    if inp.name in _NAMES:
        return _from_file(inp, lines)
    return chain(parse(inp, lines), shown_zones(inp, lines))


def _from_file(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    parts = PurePosixPath(inp.path.replace("!", "/")).parts
    if inp.name not in _ALWAYS and not any(_NODE.fullmatch(part) for part in parts):
        raise UnreadableInput("named like a file of the Neuron driver, but not below a neuron<N> directory")
    if not lines:
        raise UnreadableInput("empty file of sysfs")
    yield from _facts(inp, [_Reading(parts, lines[0].text.strip(), lines[0])])


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The facts of a text capture: `path:value` lines (grep -r), `==> path <==` headings (tail, head), commands that show one
    file (cat), or rows of devices."""
    return _facts(inp, _readings(lines))


def captures(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """What of a longer text shows files of the driver: runs of lines that stand together."""
    run: list[Line] = []
    below = False  # a heading
    for line in lines:
        heads = _heading(line.text) is not None
        blank = bool(run) and not line.text.strip()
        if heads or below or blank or _ENTRY_OF_DEVICE.match(line.text) or _ROW.match(line.text):
            run.append(line)
        elif run:
            yield run
            run = []
        below = heads
    if run:
        yield run


def _heading(text: str) -> str | None:
    """The path of the file that is shown below this line."""
    if header := _HEADER.match(text):
        return header["path"] if _OF_DEVICE.search(header["path"]) else None
    shown = _SHOWS.fullmatch(command_of(text) or "") if _OF_DEVICE.search(text) else None
    return shown["path"] if shown else None


def _readings(lines: Iterable[Line]) -> Iterator[_Reading]:
    heading: tuple[str, ...] | None = None
    for line in lines:
        if path := _heading(line.text):
            heading = PurePosixPath(path).parts
        elif not is_output(line.text):
            continue
        elif row := _ROW.match(line.text):
            for cell in _CELL.finditer(line.text):
                yield _Reading((row["node"], cell["name"]), cell["value"], line)
        elif entry := _ENTRY.match(line.text):
            yield _Reading(PurePosixPath(entry["path"]).parts, entry["value"].strip(), line)
        elif heading is not None:
            yield _Reading(heading, line.text.strip(), line)
            heading = None


def _facts(inp: Input, readings: Iterable[_Reading]) -> Iterator[Fact]:
    devices: set[int] = set()
    whole: Line | None = None
    for reading in readings:
        place = _place(reading.parts)
        if place.device is not None:
            devices.add(place.device)
        if reading.parts[-1] == "core_count":
            whole = reading.line  # only a capture of the whole tree shows this file, so its devices may be counted
        for kind, data in _statements(inp, reading):
            yield fact(inp, reading.line, kind, data, place)
    if whole is not None and inp.name not in _NAMES:
        yield fact(inp, whole, "device-count", device_count(len(devices), highest=max(devices, default=-1)))


def _place(parts: Sequence[str]) -> Place:
    return Place(device=_nearest(parts, _NODE), core=_nearest(parts, _CORE))


def _nearest(parts: Sequence[str], pattern: re.Pattern[str]) -> int | None:
    found = (pattern.fullmatch(part) for part in reversed(parts))
    return next((int(match[1]) for match in found if match), None)


def _statements(inp: Input, reading: _Reading) -> Iterator[tuple[str, dict[str, Value]]]:
    parts, value = reading.parts, reading.value
    leaf = parts[-1]
    name = parts[-2] if leaf == "total" and len(parts) > 1 else leaf
    if leaf == "reset":
        if value not in _STATES:
            inp.problem("an unknown state of a device", reading.line.number)
        yield "device-state", {"state": _STATES.get(value, value)}
    elif leaf == "unhealthy_components":
        for component in re.split(r"[\s,;]+", value):
            if component.lower() not in _NOTHING:
                yield "unhealthy-component", {"component": component}
    elif leaf == "instance_type" and "." in value:  # older drivers say only the family (`Trn1`)
        yield "identity", {"instance_type": value}
    elif "memory_usage" in parts and leaf in {"total", "peak"}:
        yield from _memory(inp, reading)
    elif name in _ALWAYS | _OTHER or (leaf == "total" and "status" in parts[:-1]):
        yield from _counter(inp, reading, name)


def _counter(inp: Input, reading: _Reading, name: str) -> Iterator[tuple[str, dict[str, Value]]]:
    number = _number(inp, reading)
    if number is not None and (number or name in _ALWAYS):
        yield "counter", {"name": name, "first": number, "last": number, "increase": 0, "samples": 1}


def _memory(inp: Input, reading: _Reading) -> Iterator[tuple[str, dict[str, Value]]]:
    number = _number(inp, reading)
    if number:
        below = reading.parts[reading.parts.index("memory_usage") + 1 : -1]
        name = "/".join((*below, "peak") if reading.parts[-1] == "peak" else below)
        value = float(number)
        shown = dict.fromkeys(("first", "last", "min", "max"), value)
        yield "level", {"name": name, **shown, "limit": 0.0, "samples": 1}


def _number(inp: Input, reading: _Reading) -> int | None:
    if re.fullmatch(r"-?\d{1,20}", reading.value):
        return int(reading.value)
    inp.problem("the value of a counter is not a number", reading.line.number)
    return None


COLLECTORS = (Collector("sysfs", "Neuron sysfs", _sniff, _collect),)
