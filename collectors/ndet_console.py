"""What neuron-det prints: a line for each error that it found, or that there is none.

Source: NDET guide (SDK 2.16 to 2.21):
`numerical_error (X) NC 0 @ 11762897.0 - 11906423.0: {'nd': 0, 'nc': 0, 'exec_id': 0}`, `no errors detected` and a tick.
A phase other than X (complete) says that the event never ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.ndet_events import NdetEvent, integers
from neuron_doctor.collectors.snapshot import Line, fact, head_lines, output, read_lines
from neuron_doctor.engine.facts import Fact, Place
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

#: So many other lines may stand around the output before the file is taken for a log of something else.
_OTHERS = 5
_COMPLETE = "X"


def sniff(head: bytes, _name: str) -> bool:
    """Whether the text is mainly output of neuron-det."""
    if not (_MARK in head and _WORD in head) and _NOTHING not in head:
        return False
    lines = head_lines(head)
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
    for line in output(read_lines(inp)):
        plain = _COLOUR.sub("", line.text)
        if (found := _EVENT.match(plain)) is not None:
            yield _event(inp, line, found)
        elif _CLEAN.fullmatch(plain):
            yield fact(inp, line, "ndet-clean", {})


def _event(inp: Input, line: Line, found: re.Match[str]) -> Fact:
    args = integers({arg["name"]: arg["value"] for arg in _ARG.finditer(found["args"])})
    complete = found["phase"] == _COMPLETE
    end = _time(found["end"]) if complete else None
    event = NdetEvent(found["event"], complete, _time(found["start"]), end, args)
    place = Place(rank=event.own_rank(), device=args.get("nd"), core=int(found["core"]))
    return fact(inp, line, "ndet-event", event.data(), place, event.instant())


def _time(text: str) -> float | None:
    return float(text) if _TIME.fullmatch(text) else None
