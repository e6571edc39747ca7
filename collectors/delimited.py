"""Rows of a table whose cells a comma, semicolon or tab divides, as programs export them."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from neuron_doctor.collectors.base import Input
from neuron_doctor.engine.regexes import regex

#: No row is longer.
_LONGEST = 1 << 20
#: The labels of a series, which a script wrote between commas as Prometheus prints them, without quotes around them.
_LABELS = regex(r'\{(?:[A-Za-z_]\w{0,60}="[^"{}]{1,400}",? ?){1,40}\}')
_COMMA = "\x1f"

#: The number of a row, its offset and its text.
Row = tuple[int, int, bytes]


def rows_of(inp: Input) -> Iterator[Row]:
    """The rows that are not empty."""
    offset, number = 0, 1
    while raw := inp.stream.readline(_LONGEST):
        if line := raw.rstrip(b"\r\n"):
            yield number, offset, line
        offset, number = offset + len(raw), number + raw.endswith(b"\n")


def text_of(raw: bytes) -> str:
    """The text of a row."""
    return raw.decode("utf-8-sig", "replace")


def delimiter_of(header: str) -> str:
    """What divides the cells of a table with this head."""
    return max(",;\t", key=header.count)


def cells_of(line: str, delimiter: str = "") -> list[str]:
    """The cells of a line; none of one that is no row of a table."""
    bare = '="' in line and '"{' not in line
    told = _LABELS.sub(lambda labels: labels[0].replace(",", _COMMA), line) if bare else line
    try:
        cells = next(csv.reader([told], delimiter=delimiter or delimiter_of(told)), [])
    except csv.Error:
        return []
    return [cell.replace(_COMMA, ",") for cell in cells] if bare else cells
