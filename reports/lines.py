"""Lines of a terminal: wrapped by display cells, harmless to print, painted as the last step."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from neuron_doctor.engine.regexes import regex
from neuron_doctor.reports.escape import LONGEST_PROSE, shortened, visible

#: Log formats pad fields into columns, which a quotation has no room for. Indentation stays.
_PADDING = regex(r"(?<=\S) {3,}")


class Style(StrEnum):
    """What a line means; the value is its ANSI rendition (SGR parameters). Colour never says what the words do not."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    BAD = "1;31"
    WARN = "1;33"
    GOOD = "1;32"


class Line(Struct, frozen=True):
    """One line; only its first `lead` characters carry the style, all of them if `lead` is 0."""

    text: str = ""
    style: Style = Style.PLAIN
    lead: int = 0


BLANK = Line()


def joined(lines: Iterable[Line], *, colour: bool) -> str:
    """The lines as text that ends with a line end. Whatever they hold, no control character passes but the colours."""
    return "".join(_painted(line, colour=colour) + "\n" for line in lines)


def _painted(line: Line, *, colour: bool) -> str:
    text = visible(line.text).rstrip()
    if not colour or line.style is Style.PLAIN or not text:
        return text
    lead = line.lead or len(text)
    return f"\x1b[{line.style.value}m{text[:lead]}\x1b[0m{text[lead:]}"


def paragraph(
    text: str, width: int, first: str = "", rest: str | None = None, style: Style = Style.PLAIN
) -> list[Line]:
    """Prose, wrapped to `width` cells; `first` stands before its first line and alone carries the style if it is not
    blank, `rest` before the others (default: as much space)."""
    words = " ".join(shortened(visible(text), LONGEST_PROSE).split())
    indent = " " * len(first) if rest is None else rest
    pieces = wrap(words, width - cells(indent), width - cells(first))
    lead = len(first) if first.strip() else 0
    return [
        Line((indent if i else first) + piece, style if not (i and lead) else Style.PLAIN, lead)
        for i, piece in enumerate(pieces)
    ]


def labelled(label: str, text: str, width: int) -> list[Line]:
    """A field of a finding: its name in a column, its value wrapped beside it; nothing for an empty value."""
    return paragraph(text, width, f"  {label:<12}", style=Style.STRONG) if text else []


def quotation(text: str, width: int, first: str, most: int) -> list[Line]:
    """Text of a log behind bars in at most `most` lines: of a long line its start, of many lines also the last one,
    because that is where a traceback says what happened. Runs of spaces within a line are narrowed to two."""
    room = width - cells(first)
    parts = [_PADDING.sub("  ", visible(part.rstrip("\r"))) for part in text.rstrip("\n").split("\n")]
    pieces = [piece for part in parts for piece in wrap(part, room)]
    if len(pieces) > most and len(parts) > 1:
        pieces = [*pieces[: most - 2], f"[... {len(pieces) - most + 1:,} more lines]", pieces[-1]]
    elif len(pieces) > most:
        pieces = [*pieces[: most - 1], wrap(pieces[most - 1], room - 4)[0] + " ..."]
    return [Line(first + piece, Style.FAINT, len(first)) for piece in pieces]


def wrap(text: str, room: int, first: int | None = None) -> list[str]:
    """`text` in pieces of at most `room` display cells (at least 2), the first of at most `first`; broken at spaces, in a
    word if there is none."""
    return list(_pieces(text, max(room, 2), max(room if first is None else first, 2)))


def _pieces(text: str, later: int, room: int) -> Iterator[str]:
    start = 0
    while cells(text[start : start + room + 1]) > room:
        end = _fitting(text, start, room)
        space = text.rfind(" ", start, end + 1)
        if space > start and text[start:space].strip():
            yield text[start:space].rstrip()
            start = space + 1
        else:
            yield text[start:end]
            start = end
        room = later
    yield text[start:]


def _fitting(text: str, start: int, room: int) -> int:
    """The end of the longest piece from `start` that takes at most `room` cells."""
    end, used = start, 0
    while end < len(text) and (used := used + cells(text[end])) <= room:
        end += 1
    return end


def cells(text: str) -> int:
    """How many columns of a terminal printable text takes: two for wide characters, one for all others."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
