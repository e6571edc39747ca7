"""What neuron-det prints: a line for each error that it found, or that there is none.

Source: NDET guide (SDK 2.16 to 2.21):
`numerical_error (X) NC 0 @ 11762897.0 - 11906423.0: {'nd': 0, 'nc': 0, 'exec_id': 0}`, `no errors detected` and a tick.
A phase other than X (complete) says that the event never ended. A script that calls it for each log puts the name of this above
what it prints (`ip-10-0-0-1 ndet_2024-02-03_04-05-06_1672_i-0aaaabbbbccccddd0.txt (GIDs: [0])`): the events are of that process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.hints import has_shape_of_host
from neuron_doctor.collectors.ndet_events import LOG_OF_PROCESS, NdetEvent, integers, ranks_named
from neuron_doctor.collectors.snapshot import Line, fact, head_lines, read_lines
from neuron_doctor.engine.facts import NOWHERE, Fact, Place
from neuron_doctor.engine.regexes import regex

_COLOUR = regex(r"\x1b\[[\d;]{0,16}m")
_EVENT = regex(
    r"\s*(?P<event>\S[^\n]{0,400}?) \((?P<phase>\w)\) NC (?P<core>\d{1,6}) @ (?P<start>\S{1,32}) - (?P<end>\S{1,32}?): "
    r"(?P<args>\{[^\n]{0,2000})"
)
#: What stands in every line of its output. A single character is found far sooner than a word, and few logs have this one.
_MARK, _WORD, _NOTHING = b"@", b") NC ", b"no errors detected "
_TIME = regex(r"-?\d{1,18}(?:\.\d{0,9})?")
#: One integer of the dictionary that stands for the arguments.
_ARG = regex(r"['\"](?P<name>\w{1,64})['\"]: (?P<value>-?\d{1,19})(?!\d)")
#: The tick may have been lost with the encoding of the terminal.
_CLEAN = regex(r"\s*no errors detected (?:\u2713|\\u2713|\u00e2\S{1,3}|\?{1,3}|\ufffd{1,3})\s*")

#: A log whose name stands alone, or behind that of a host or a sign, before its ranks or nothing.
_HEADING = regex(
    r"(?:[#=>*-]{1,8} ?)?(?:(?P<host>[A-Za-z][\w.-]{1,200}):? )?(?:[\w./-]{0,200}/)?"
    rf"{LOG_OF_PROCESS.pattern}(?:\.txt)?"
    r":?(?: (?:- )?\(GIDs: \[[\d, ]{0,2000}\]\))?:?(?: ?[#=<*-]{1,8})?\s*"
)

#: So many other lines may stand around the output before the file is taken for a log of something else.
_OTHERS = 5
_COMPLETE = "X"


def sniff(head: bytes, _name: str) -> bool:
    """Whether the text is mainly output of neuron-det."""
    if not (_MARK in head and _WORD in head) and _NOTHING not in head:
        return False
    lines = [line for line in head_lines(head) if not _HEADING.fullmatch(line)]
    others = 0
    for line in lines:
        others += not _is_ours(line)
        if others > max(_OTHERS, (len(lines) - others) // 10):
            return False
    return others < len(lines)


def _is_ours(text: str) -> bool:
    plain = _COLOUR.sub("", text)
    return bool(_EVENT.match(plain) or _CLEAN.fullmatch(plain))


def collect(inp: Input) -> Iterator[Fact]:
    """Facts of the kinds ndet-event and ndet-clean."""
    process = NOWHERE
    for line in read_lines(inp):
        plain = _COLOUR.sub("", line.text)
        if (found := _EVENT.match(plain)) is not None:
            yield _event(inp, line, found, process)
        elif (heading := _HEADING.fullmatch(plain)) is not None:
            process = _process(heading)
        elif _CLEAN.fullmatch(plain):
            yield fact(inp, line, "ndet-clean", {})


def _process(heading: re.Match[str]) -> Place:
    """The process whose log a heading names, its rank if it has one alone."""
    host, ranks = heading["host"], ranks_named(heading[0])
    return Place(
        host=host if host and has_shape_of_host(host) else None,
        instance_id=heading["instance"],
        pid=int(heading["pid"]),
        rank=ranks[0] if len(ranks) == 1 else None,
    )


def _event(inp: Input, line: Line, found: re.Match[str], process: Place) -> Fact:
    args = integers({arg["name"]: arg["value"] for arg in _ARG.finditer(found["args"])})
    complete = found["phase"] == _COMPLETE
    end = _time(found["end"]) if complete else None
    event = NdetEvent(found["event"], complete, _time(found["start"]), end, args)
    place = Place(rank=event.own_rank(), device=args.get("nd"), core=int(found["core"]))
    return fact(inp, line, "ndet-event", event.data(), place.over(process), event.instant())


def _time(text: str) -> float | None:
    return float(text) if _TIME.fullmatch(text) else None
