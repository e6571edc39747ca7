"""`lspci` (plain, -D, -n, -nn, -v, -t): the Neuron devices and EFA interfaces that the PCI bus shows.

Device ids: Neuron 1d0f:7064 to 7067 (Inf1), 7164 (Trn1), 7264 (Inf2), 7364 (Trn2), 7564 and 7565 (Trn3), driver source
neuron_device.h; EFA 1d0f:efa0 and following, EFA driver source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.instance_types import device_count
from neuron_doctor.collectors.snapshot import (
    Line,
    command_of,
    fact,
    first_line,
    from_lines,
    has_form,
    head_lines,
    opening,
    output,
)
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

_PLAIN = regex(r"(?P<bdf>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]) (?P<what>\S.*)$")
_TREE = regex(r"[ \t]*[-+|\\][-+| \\\[\]0-9a-f:.]*(?:$|(?<=\d) +\S.*$)")
_PLAIN_OR_DETAIL = regex(rf"{_PLAIN.pattern}|\s+\S")
_TREE_BUS = regex(r"\[(?P<bus>(?:[0-9a-f]{4}:)?[0-9a-f]{2})(?:-[0-9a-f]{2})?\]")
_TREE_SLOT = regex(r"(?P<slot>[01][0-9a-f]\.[0-7])  +(?P<what>\S.*)$")

_KINDS = (
    ("neuron", regex(r"NeuronDevice|\b1d0f:7(?:06[4-7]|164|264|364|56[45])\b")),
    ("efa", regex(r"Elastic Fabric Adapter|\(EFA\)|\b1d0f:efa[0-9a-f]\b")),
)
#: The command in a shell's line, and so many lines of a text in which several are looked for.
_COMMAND = regex(r"(?:sudo )?(?:/\S{1,40}/)?lspci\b")
_LINES_OF_COMMANDS = 400
#: All bits of the configuration space read as ones: the device does not answer any more.
_GONE = regex(r"\(rev ff\)")


def _sniff(head: bytes, _name: str) -> bool:
    first = opening(head)
    if (called := _called(head)) is not None:
        return called
    if _PLAIN.match(first):
        return has_form(head, _PLAIN_OR_DETAIL, 0.95) and any(_PLAIN.match(text) for text in head_lines(head))
    return "[" in first and has_form(head, _TREE, 0.95)


def _called(head: bytes) -> bool | None:
    """Whether the first of several commands, whose outputs stand below each other, is lspci; None where there is one or none.
    `lspci | grep -c EFA` prints a number, and `ls /dev/infiniband` behind it no device."""
    if command_of(first_line(head)) is None:
        return None
    texts = head.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()[:_LINES_OF_COMMANDS]
    commands = [command for text in texts if (command := command_of(text)) is not None]
    if len(commands) <= 1:
        return None
    return bool(_COMMAND.match(commands[0])) and any(_PLAIN.match(text) for text in texts)


def _own(lines: Sequence[Line]) -> list[Line]:
    """The lines that lspci printed, each device once: those below other commands are not of it."""
    own: list[Line] = []
    printed = True
    seen: set[str] = set()
    for line in lines:
        if (command := command_of(line.text)) is not None:
            printed = bool(_COMMAND.match(command))
        elif printed and line.text not in seen:
            own.append(line)
            seen.update({line.text} if _PLAIN.match(line.text) else ())
    return own


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """Each device of interest, and how many there are of each; -1 for a kind that a filtered listing does not show."""
    counts = {"neuron": 0, "efa": 0}
    others, last = 0, None
    for line, bdf, what in _devices(output(_own(lines))):
        last = line
        kind = next((kind for kind, pattern in _KINDS if pattern.search(what)), None)
        if kind is None:
            others += 1
            continue
        counts[kind] += 1
        yield fact(inp, line, "pci-device", {"bdf": bdf, "kind": kind, "gone": bool(_GONE.search(what))})
    if last is not None:
        shown = {kind: n if n or others else -1 for kind, n in counts.items()}
        yield fact(inp, last, "device-count", device_count(shown["neuron"], efa=shown["efa"]))


def _devices(lines: Sequence[Line]) -> Iterator[tuple[Line, str, str]]:
    bus = ""
    for line in lines:
        if plain := _PLAIN.match(line.text):
            yield line, plain["bdf"], plain["what"]
        elif _TREE.match(line.text):
            for found in _TREE_BUS.finditer(line.text):
                bus = found["bus"] if ":" in found["bus"] or not bus else f"{bus.split(':', 1)[0]}:{found['bus']}"
            if slot := _TREE_SLOT.search(line.text):
                yield line, f"{bus}:{slot['slot']}", slot["what"]


COLLECTORS = (Collector("lspci", "PCI devices", _sniff, from_lines(parse)),)
