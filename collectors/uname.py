"""`uname -a`, `uname -r` and /proc/version: the running kernel, and the name of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import Line, fact, from_lines, head_lines, opening, output
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.regexes import regex

_RELEASE = r"(?P<release>\d{1,2}\.\d{1,3}\.\d{1,4}[\w.+~-]*)"
_FORMS = (
    regex(rf"Linux (?P<host>[\w.-]{{1,255}}) {_RELEASE} #"),
    regex(rf"Linux version {_RELEASE} \("),
    regex(rf"{_RELEASE}\s*$"),
)


def _read(text: str) -> re.Match[str] | None:
    return next((found for form in _FORMS if (found := form.match(text))), None)


def _sniff(head: bytes, _name: str) -> bool:
    found = _read(opening(head))
    # A bare `6.8.0` may be the version of anything: a kernel release has a dash.
    return found is not None and "-" in found["release"] and len(head_lines(head)) == 1


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """The version of the component `kernel`, and an `identity` where the host's name is shown."""
    for line in output(lines):
        if found := _read(line.text):
            host = found.groupdict().get("host")
            place = Place(host=host)
            yield fact(inp, line, "version", {"component": "kernel", "version": found["release"]}, place)
            if host:
                yield fact(inp, line, "identity", {"hostname": host}, place)


COLLECTORS = (Collector("uname", "kernel release", _sniff, from_lines(parse)),)
