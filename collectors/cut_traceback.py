"""A log that ends in the middle of a Python traceback: who wrote it raised, and the line that says what was not collected.

Format: `traceback` of Python 3.8 to 3.14: frames (`  File "x.py", line 1, in f`), each with its code and marks below it, all
indented, between the heading and the exception. The lines may have the prefixes of launchers and loggers. An excerpt may have
lost the heading, too: then frames are all that there is of it, up to its beginning or to the fence of a quotation, and one of
them raises (a stack that was only asked for does not). IPython names the class in the heading and again below the last frame,
with the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.blocks import CONTEXT, Block
from neuron_doctor.collectors.lines import decoded
from neuron_doctor.collectors.prefixes import peel
from neuron_doctor.engine.facts import NOWHERE, Fact, Instant, Place, Value, span_of
from neuron_doctor.engine.regexes import regex

#: Only if a frame stands in so many last bytes, the traceback is looked for (as far as every cut of a file shows).
_FRAME_AND_CODE = 1024
_MAY_BE_CUT = regex(
    rb'File "[^"\n]{1,300}", line \d{1,7}, in [^\n]{1,200}(?:\n[^\n]{0,300}){0,2}\Z|\(most recent call last\):\Z'
    rb'|\n[^\n]{0,80} File "[^"\n]{0,300}\Z'  # cut in a frame
)
_MARK = b" Traceback (most recent call last)"
_HEADING = regex(r"\s{0,8}Traceback \(most recent call last\):\s*$")
_FRAME = regex(r'\s{1,12}File "(?P<file>[^"]{1,300})", line (?P<line>\d{1,7}), in (?P<function>[^\n]{1,200})')
_INDENTED = regex(r"\s")
_RAISES = regex(r"\s{2,80}raise\b")
#: The heading of IPython, a whole line.
_OF_A_NOTEBOOK = regex(
    rb"^(?P<name>[A-Za-z_][\w.]{0,80}(?:Error|Exception)) {3,90}Traceback \(most recent call last\)[ \t\r]*$",
    re.MULTILINE,
)
#: What a quotation begins with.
_OPENS = regex(r"(?:```|~~~|<pre>)")


def cut_traceback(block: Block, inp: Input) -> Iterator[Fact]:
    """The `cut-traceback` fact of the last block of an input, if that ends in one: it stands on the last frame."""
    data = block.data[: block.end].rstrip()
    if notebook := _cut_in_a_notebook(data):
        yield _fact(block, inp, (*notebook, {}), NOWHERE, None)
        return
    if not _MAY_BE_CUT.search(data, max(0, len(data) - _FRAME_AND_CODE)):
        return
    last: tuple[int, int, dict[str, Value]] | None = None
    end, place, instant, raises = len(data), NOWHERE, None, False
    while end > max(0, len(data) - CONTEXT):
        begin = data.rfind(b"\n", 0, end) + 1
        line = peel(decoded(data[begin:end]))
        record = line.records[-1]
        message = line.text[record.start : record.end]
        place, instant = place.over(record.place), instant or record.instant
        if _HEADING.match(message) or (last and raises and _OPENS.match(message)):
            yield _fact(block, inp, last or (begin, end, {}), place, instant)
            return
        if frame := _FRAME.match(message):
            told: dict[str, Value] = {"file": frame["file"], "line": int(frame["line"]), "function": frame["function"]}
            last = last or (begin, end, told)
        elif not _INDENTED.match(message):
            return
        raises = raises or _RAISES.match(message) is not None
        end = max(begin - 1, 0)
    if last is not None and raises and not begin and not block.base:
        yield _fact(block, inp, last, place, instant)


def _cut_in_a_notebook(data: bytes) -> tuple[int, int] | None:
    """The bounds of the last heading of IPython near the end, if no line below it names its exception again."""
    headings = list(_OF_A_NOTEBOOK.finditer(data, max(0, len(data) - CONTEXT))) if _MARK in data[-CONTEXT:] else []
    if not headings:
        return None
    last = headings[-1]
    name = last["name"].rpartition(b".")[2]
    told = any(line.split(b":")[0].rpartition(b".")[2].strip() == name for line in data[last.end() :].split(b"\n"))
    return None if told else last.span()


def _fact(
    block: Block, inp: Input, at: tuple[int, int, dict[str, Value]], place: Place, instant: Instant | None
) -> Fact:
    begin, end, told = at
    raw = block.data[begin:end].rstrip(b"\r")
    span = span_of(inp.path, raw, block.base + begin, block.line_number(begin), 1)
    return Fact("cut-traceback", told, place.over(inp.place), span, inp.source_id or inp.path, instant)
