"""Whether the shell of a host shows the time in UTC: what `date` printed below its command, and what timedatectl says.

Formats: date(1) of coreutils in the C and English locales (`Sun Aug 30 08:02:55 UTC 2026`, `... AM UTC 2026`); timedatectl(1)
(`Time zone: Etc/UTC (UTC, +0000)`). `date -u` shows UTC anywhere, so the command must be there to be seen; other zones have
summer times, and what they show today says nothing of the day of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.snapshot import Line, command_of, fact
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

_COMMAND = regex(r"(?:^|[;&|(] {0,4})date {0,4}(?:$|[;&|)])")
_DATE = regex(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:[AP]M )?UTC \d{4}\s*$")
_ZONE = regex(r"\s{1,20}Time zone: (?:Etc/)?UTC \(UTC, \+0000\)\s*$")


def shown_zones(inp: Input, lines: Iterable[Line]) -> Iterator[Fact]:
    """A `utc-host` fact where these lines show it."""
    asked = False
    for line in lines:
        command = command_of(line.text)
        if command is not None:
            asked = _COMMAND.search(command) is not None
        elif (asked and _DATE.match(line.text)) or _ZONE.match(line.text):
            yield fact(inp, line, "utc-host", {})
            return
