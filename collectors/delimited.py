"""Rows of a table whose cells a comma, semicolon or tab divides, as programs export them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import islice

from msgspec import Struct

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.timestamps import read_iso, read_milliseconds, read_unix
from neuron_doctor.engine.facts import Instant
from neuron_doctor.engine.regexes import regex

#: What a column of times is called.
TIME = frozenset({"time", "timestamp", "ts", "date", "datetime", "_time", "@timestamp"})
#: No row is longer.
_LONGEST = 1 << 20
#: The labels of a series, which a script wrote between commas as Prometheus prints them, without quotes around them.
_LABELS = regex(r'\{(?:[A-Za-z_]\w{0,60}="[^"{}]{1,400}",? ?){1,40}\}')
_COMMA = "\x1f"
_LABEL = regex(r'([A-Za-z_]\w{0,60})="((?:[^"\\]|\\.){0,400})"')
#: The head of a table is one of so many first lines: above it may stand the command that was asked.
_COMMAND = 2
#: So many lines at the beginning of a file are looked at.
_LOOKED_AT = 512

#: What the library of tables treats as more than a character of a cell; it refuses cells that are longer.
_SPECIAL = regex(r'["\r\n\0]')
_LONGEST_CELL = 1 << 17

#: The number of a row, its offset and its text.
Row = tuple[int, int, bytes]


class Beginning(Struct, frozen=True):
    """The first lines of a table: its columns, what divides them, and the lines below."""

    columns: Sequence[str]
    delimiter: str
    lines: Sequence[bytes]

    def rows(self, most: int) -> list[list[str]]:
        """The cells of its first rows; none of them where one has another number than the head."""
        rows = [cells_of(_text(line), self.delimiter) for line in self.lines[:most]]
        return rows if all(len(row) == len(self.columns) for row in rows) else []


def beginning_of(head: bytes, is_head: Callable[[Sequence[str]], bool]) -> Beginning | None:
    """The table that begins so, if one of its first lines is the head of one; without a line that is cut off."""
    for above, (header, columns) in enumerate(_first_rows(head), 1):
        if is_head(columns):
            below = list(islice(_lines(head), above, above + _LOOKED_AT))
            is_cut = len(below) > 1 and not below[-1].endswith(b"\n")
            return Beginning(columns, delimiter_of(header), below[: -1 if is_cut else None])
    return None


@lru_cache(maxsize=1)
def _first_rows(head: bytes) -> tuple[tuple[str, Sequence[str]], ...]:
    """The lines that may be the head of a table, with their cells. Several collectors ask for those of the same input."""
    return tuple((text, _columns(text)) for text in map(_text, islice(_lines(head), _COMMAND)))


def _lines(head: bytes) -> Iterator[bytes]:
    return (line for line in BytesIO(head) if line.strip())


def table_of(
    inp: Input, is_head: Callable[[Sequence[str]], bool]
) -> tuple[Sequence[str], Iterator[tuple[Row, list[str]]]]:
    """The columns of a table and its rows with their cells; no columns where it has no head. A row with other cells than it has
    columns is a problem of the input."""
    rows = _rows(inp)
    for row in islice(rows, _COMMAND):
        if is_head(columns := _columns(header := _text(row[2]))):
            return columns, _whole(inp, rows, len(columns), delimiter_of(header))
    return (), iter(())


def _whole(inp: Input, rows: Iterator[Row], count: int, delimiter: str) -> Iterator[tuple[Row, list[str]]]:
    for row in rows:
        cells = cells_of(_text(row[2]), delimiter)
        if len(cells) != count:
            inp.problem("a row of the table has another number of columns than its head", row[0])
            continue
        inp.records += 1
        yield row, cells


def _columns(header: str) -> list[str]:
    return [name.strip() for name in cells_of(header)]


def labels_of(series: str) -> dict[str, str]:
    """The labels of a series as Prometheus writes them."""
    return dict(_LABEL.findall(series)) if '="' in series else {}


def moment_of(text: str) -> Instant | None:
    """When a row was, by whatever clock."""
    return read_iso(text.replace(" ", "T", 1)) or read_milliseconds(text) or read_unix(text)


def without_port(host: str) -> str:
    """The host of an `instance`: where its exporter is asked."""
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _rows(inp: Input) -> Iterator[Row]:
    """The rows that are not empty."""
    offset, number = 0, 1
    while raw := inp.stream.readline(_LONGEST):
        if line := raw.rstrip(b"\r\n"):
            yield number, offset, line
        offset, number = offset + len(raw), number + raw.endswith(b"\n")


def _text(raw: bytes) -> str:
    """The text of a row."""
    return raw.rstrip(b"\r\n").decode("utf-8", "replace").removeprefix("\ufeff")


def delimiter_of(header: str) -> str:
    """What divides the cells of a table with this head."""
    return max(",;\t", key=header.count)


def cells_of(line: str, delimiter: str = "") -> list[str]:
    """The cells of a line; none of one that is no row of a table."""
    bare = '="' in line and '"{' not in line
    told = _LABELS.sub(lambda labels: labels[0].replace(",", _COMMA), line) if bare else line
    cells = _split(told, delimiter or delimiter_of(told))
    return [cell.replace(_COMMA, ",") for cell in cells] if bare else cells


def _split(line: str, delimiter: str) -> list[str]:
    if line and len(line) < _LONGEST_CELL and not _SPECIAL.search(line):
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []
