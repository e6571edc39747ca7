"""What a command printed on many hosts, each line behind the name of its host: lists of packages, devices, modules, limits, and
counters of the driver.

Formats: `pdsh`, and `clush` without `-b` (`host: line`), GNU parallel with `--tag` (`host<TAB>line`), below its command or not.
The text is read as ever, for most of what is so shown are lines of logs; what a collector of snapshots knows for one of its
own is an input beside it, of the host: `dpkg.txt!nodes/rb-6/8` is what `rb-6` printed from line 8 on. (What `dshbak` has put
together is split by `host_blocks`.)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from neuron_doctor.collectors import clock_reports, file_systems, lspci, modules, packages, sysfs, ulimit, uname
from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.snapshot import Line, command_of, lines_of
from neuron_doctor.collectors.streams import Member
from neuron_doctor.engine.regexes import regex

_COLLECTORS = (
    *packages.COLLECTORS,
    *lspci.COLLECTORS,
    *modules.COLLECTORS,
    *uname.COLLECTORS,
    *ulimit.COLLECTORS,
    *file_systems.COLLECTORS,
    *clock_reports.COLLECTORS,
    *sysfs.COLLECTORS,
)
#: A host, one with a number in it: a word before a colon may be anything. A tab is part of what `lspci` prints.
_LABELLED = regex(rb"(?=[^\n\t :]{0,252}\d)(?P<host>[A-Za-z][\w.-]{0,252})(?::(?: |(?=\r?\n|$))|\t)(?P<said>[^\n]*\n?)")
#: What a parallel shell says itself of a host.
_OF_THE_SHELL = regex(rb"(?:pdsh|clush)(?:@[\w.-]{1,253})?: ")
#: So many lines show at once whether all are behind the name of a host.
_FIRST = 4
_SHELLS = (b"pdsh ", b"clush ", b"--tag")


def labelled_outputs(head: bytes) -> Iterator[Member]:
    """What each host printed in a text that `head` holds as a whole."""
    if len(head) >= HEAD or not (_is_labelled(head) or any(shell in head for shell in _SHELLS)):
        return
    for lines in _outputs(head):
        printed = _by_host(lines)
        for host, said in printed.items() if len(printed) > 1 else ():
            text = b"".join(part for _, part in said)
            if any(collector.sniff(text, "") for collector in _COLLECTORS):
                yield Member(f"nodes/{host}/{said[0][0]}", len(text), iter([text]))


def _is_labelled(head: bytes) -> bool:
    """Whether the first lines are: most logs begin with a word and a colon once, and few go on so."""
    return all(
        _LABELLED.match(line) or _OF_THE_SHELL.match(line) for line in head.split(b"\n", _FIRST)[:_FIRST] if line
    )


def _outputs(head: bytes) -> Iterator[list[Line]]:
    """The lines of each output, without those of its command."""
    lines: list[Line] = []
    for line in lines_of(head):
        if command_of(line.text) is None:
            lines.append(line)
            continue
        yield lines
        lines = []
    yield lines


def _by_host(lines: Iterable[Line]) -> dict[str, list[tuple[int, bytes]]]:
    """The numbers of the lines of each host, and what stands behind its name; nothing where a line has no such name."""
    printed: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    for line in lines:
        if not line.raw.strip() or _OF_THE_SHELL.match(line.raw):
            continue
        labelled: re.Match[bytes] | None = _LABELLED.match(line.raw)
        if labelled is None:
            return {}
        printed[labelled["host"].decode()].append((line.number, labelled["said"]))
    return printed
