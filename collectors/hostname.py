"""`hostname`, `hostnamectl` and /etc/hostname: the name of the machine that the files beside it were taken from.

Formats: one line with the name (hostname(5)); `hostnamectl` of systemd 229 to 256 (`   Static hostname: trn-7`). Such a text is
known by the name of its file: one word alone may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.snapshot import Line, fact, from_lines, head_lines, output
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.regexes import regex

#: As collecting scripts, sosreport (sos_commands/host/hostname) and the system itself call it.
FILE = regex(r"(?:^|[/!])(?:host[-_]?name(?:ctl)?(?:_(?:-[fs]|status))?)(?:\.(?:txt|out|log))?$")
_NAME = regex(r"(?:\s*Static hostname: )?(?P<host>[A-Za-z\d](?:[A-Za-z\d.-]{0,251}[A-Za-z\d])?)\s*$")


def _sniff(head: bytes, name: str) -> bool:
    lines = head_lines(head) if FILE.search(name) else ()
    return bool(lines and _NAME.match(lines[0]) and (len(lines) == 1 or "Static" in lines[0]))


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """An `identity`."""
    for line in output(lines)[:1]:
        if found := _NAME.match(line.text):
            yield fact(inp, line, "identity", {"hostname": found["host"]}, Place(host=found["host"]))


COLLECTORS = (Collector("hostname", "name of a machine", _sniff, from_lines(parse)),)
