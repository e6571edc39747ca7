"""How far the clock of a host is from true time: `chronyc tracking`, `timedatectl timesync-status`, `ntpq -c rv`.

Formats: chronyc(1) of chrony 3.5 to 4.5 ("System time : 0.000003331 seconds slow of NTP time"); timedatectl(1) of systemd
245 to 255 ("Offset: -1.2ms": what the clock has to be moved by); ntpq(8) ("offset=-0.123", in milliseconds, the same way).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.shown_zones import shown_zones
from neuron_doctor.collectors.snapshot import Line, fact, from_lines, has_form, opening, output
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

_FIRST = regex(r"Reference ID\s{1,8}: [0-9A-F]{8}\b|\s{0,16}Server: \S+ \(\S+\)\s*$|associd=0 status=[0-9a-f]{4} ")
_FORM = regex(rf"{_FIRST.pattern}|\s{{0,16}}[A-Z][\w ()]{{2,24}}: |\w{{1,20}}=.*(?:,|\d)\s*$")
_CHRONY = regex(r"System time\s{1,8}: (?P<ahead>\d{1,10}\.\d{1,9}) seconds (?P<way>slow|fast) of NTP time")
_TIMEDATECTL = regex(r"\s{0,16}Offset: (?P<move>[+-]?(?:\d{1,6}(?:\.\d{1,9})?(?:min|us|ms|s) ?){1,3})\s*$")
_PART = regex(r"(\d{1,6}(?:\.\d{1,9})?)(min|us|ms|s)")
_NTPQ = regex(r"(?:^|[\s,])offset=(?P<move>[+-]?\d{1,12}(?:\.\d{1,9})?)")
_SECONDS = {"min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}


def _sniff(head: bytes, _name: str) -> bool:
    return _FIRST.match(opening(head)) is not None and has_form(head, _FORM)


def parse(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """A `clock-error` fact: by how many seconds the clock of the host is ahead of true time."""
    yield from shown_zones(inp, lines)
    for line in output(lines):
        ahead = _ahead(line.text)
        if ahead is not None:
            yield fact(inp, line, "clock-error", {"ahead_s": ahead})


def _ahead(text: str) -> float | None:
    if chrony := _CHRONY.match(text):
        return float(chrony["ahead"]) * (1 if chrony["way"] == "fast" else -1)
    if found := _TIMEDATECTL.match(text):
        return -_signed(found)
    if found := _NTPQ.search(text):
        return -float(found["move"]) * _SECONDS["ms"]
    return None


def _signed(found: re.Match[str]) -> float:
    size = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(found["move"]))
    return -size if found["move"].startswith("-") else size


COLLECTORS = (Collector("clock-report", "state of a host's clock", _sniff, from_lines(parse)),)
