"""How many Neuron devices a host shows under /dev: what `ls /dev/neuron*` prints below its command, or what `wc -l` counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.instance_types import device_count, highest_of
from neuron_doctor.collectors.snapshot import Line, command_of, fact, first_line, from_lines, output
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: All of them are asked for; `neuron[0-9]*` leaves out what is no device.
_ASKS = regex(
    r"(?:sudo\s+)?ls(?:\s+-[\w-]+)*\s+(?:/dev/neuron(?:\*|\[0-9\]\*|\?\*?)|/dev/?\s*\|\s*grep\s+(?:-\w+\s+)*['\"]?\^?neuron\S{0,20})"
    r"(?:\s+2>\s?/dev/null)?(?P<counted>\s*\|\s*wc\s+-l)?\s*"
)
_NODE = regex(r"(?<!\S)(?:/dev/)?neuron(?P<device>\d{1,3})(?!\S)")


def _is_listing(head: bytes, _name: str) -> bool:
    return _ASKS.fullmatch(command_of(first_line(head)) or "") is not None


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """One count; none where the output is no listing, as where there is no such node."""
    asked, said = _ASKS.fullmatch(command_of(lines[0].text) or ""), output(lines)
    if asked is None or not said:
        return
    if asked["counted"]:
        if len(said) == 1 and (text := said[0].text.strip()).isdecimal() and int(text):
            yield fact(inp, said[0], "device-count", device_count(int(text), highest=highest_of(int(text))))
        return
    devices = {int(node["device"]) for line in said for node in _NODE.finditer(line.text)}
    if devices:
        yield fact(inp, said[0], "device-count", device_count(len(devices), highest=max(devices)))


COLLECTORS = (Collector("device-nodes", "nodes of devices", _is_listing, from_lines(parse)),)
