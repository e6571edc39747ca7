"""JSON text read element by element: damage costs what is damaged, and each element can be quoted where it stands."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.masking import without_secrets
from neuron_doctor.collectors.prefixes import blank_escapes
from neuron_doctor.collectors.snapshot import Line
from neuron_doctor.engine.facts import Span, span_of
from neuron_doctor.engine.regexes import regex

_DECODER = json.JSONDecoder()

#: Byte offsets are known at every so many characters, and a member is looked for in so many: both keep time linear.
_STEP = 4096
_SEARCHED = 200_000

_BLANK = regex(r"[\s,]*")

#: A line of a JSON text, as a log has none: `[12.5] text` is not one.
JSON_LINE = regex(
    r"\s*(?:[\[{]\s*(?:$|[\"{\[\]}]|-?\d+\s*[,\]])|[\]}]|\"|-?\d[\d.eE+-]*\s*,?\s*$|(?:true|false|null)\b)"
)


class DamagedDocument(Exception):
    """The text stops being readable; what was yielded before it holds."""


class Element(Struct, frozen=True):
    """A value of a document with the characters `start` to `end` that it was read from."""

    value: object
    start: int
    end: int


class Document(Struct, frozen=True):
    """A decoded text that can say where its characters stand in the file: `starts` are the first characters of its
    lines, `marks` the byte offset of every _STEP-th character, `first_line` the number of its first line."""

    path: str
    text: str
    starts: Sequence[int]
    marks: Sequence[int]
    first_line: int = 1

    def span(self, start: int, end: int) -> Span:
        """The span of the characters from `start` to `end`, with secrets masked in its quotation."""
        row = bisect_right(self.starts, start) - 1
        mark = start // _STEP
        offset = self.marks[mark] + len(_bytes(self.text[mark * _STEP : start]))
        column = start - self.starts[row] + 1
        span = span_of(self.path, _bytes(self.text[start:end]), offset, self.first_line + row, column)
        return replace(span, text=without_secrets(span.text))

    def quote(self, element: Element, key: str, value: object = None) -> Span:
        """The span of `"key": value` inside the element: one member only, its neighbours may be confidential."""
        shown = r"[^\s,{}\[\]]{1,200}" if value is None else re.escape(str(value))
        member = re.compile(rf'(?<!\w)"?{re.escape(key)}"?\s{{0,8}}:\s{{0,8}}"?{shown}"?')
        found = member.search(self.text, element.start, min(element.end, element.start + _SEARCHED))
        return self.span(*found.span()) if found else self.span(element.start, element.start + 1)


def document_of(path: str, lines: Sequence[Line]) -> Document:
    """The document that these lines are; bytes that are not UTF-8 survive it. Colours are blanks (`jq -C`)."""
    texts = [blank_escapes(line.raw.decode("utf-8", "surrogateescape")) for line in lines]
    text = "".join(texts)
    sizes = (len(_bytes(text[at : at + _STEP])) for at in range(0, len(text), _STEP))
    marks = list(accumulate(sizes, initial=lines[0].offset if lines else 0))
    starts = list(accumulate(map(len, texts), initial=0))
    return Document(path, text, starts, marks, lines[0].number if lines else 1)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def elements(text: str, at: int) -> Iterator[Element]:
    """The elements of the JSON array whose first element may start at `at` (after its bracket).

    Raises DamagedDocument where the text is no JSON any more (cut off, nested too deeply, a number too long).
    """
    while True:
        at = _end_of_blank(text, at)
        if text[at : at + 1] == "]":
            return
        element = value_at(text, at)
        yield element
        at = element.end


def value_at(text: str, at: int) -> Element:
    """The one JSON value that starts at `at`; raises DamagedDocument."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise DamagedDocument(f"unreadable JSON: {type(error).__name__}") from error
    return Element(value, at, end)


def next_value(text: str, at: int, opening: str) -> int:
    """Where the next value starts, behind blanks, if it begins with this; otherwise -1."""
    at = _end_of_blank(text, at)
    return at if text.startswith(opening, at) else -1


def _end_of_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank is not None else at
