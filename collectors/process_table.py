"""Tables of processes in what a terminal showed, wherever in the text they stand: `ps -ef`, `ps aux`, `ps -eo pid,...,cmd`, top.

Source: ps(1) of procps-ng 3.3 to 4.0. The header names the columns; all but the last hold no blank, but for STARTED (the
format `lstart`), which is a date of five words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.blocks import Block
from neuron_doctor.collectors.masking import without_secrets
from neuron_doctor.engine.facts import Fact, Place, span_of
from neuron_doctor.engine.regexes import regex

#: Rows are looked for in so many first bytes (the table of a host with 2,500 threads of its kernel takes a quarter of it).
_MOST = 1024 * 1024
_HEADER = regex(
    rb"(?:^|\n)[ \t]*(?:[A-Z%+:]{1,12}[ \t]+){0,16}PID[ \t](?:[A-Z%+: ]{0,160}[ \t])?(?:CMD|COMMAND)[ \t]*(?:\r?\n|$)"
)
_TITLES = frozenset({b"CMD", b"COMMAND"})
_STARTED = (b"STARTED", b"START", b"STIME")
_DAYS = frozenset({b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"})
_DATE = 5
_LONGEST = 200


class ProcessTable(Struct):
    """What is known of the table that the lines of a text stand in: its columns; none outside of one."""

    columns: Sequence[bytes] = ()

    def rows(self, block: Block, inp: Input) -> Iterator[Fact]:
        """A `process` fact for each process in the tables of a block, without the kernel's own threads."""
        at, end = block.start, min(block.end, _MOST - block.base)
        while at < end:
            begin, stop = at, block.line_bounds(at)[1]
            raw, at = block.data[begin:stop].rstrip(b"\r"), stop + 1
            words = raw.split()
            if words[-1:] and words[-1] in _TITLES and b"PID" in words:
                self.columns = words
            elif self.columns and (row := _row(raw, self.columns)):
                if not row[b"CMD"].startswith(b"["):
                    span = span_of(inp.path, raw, block.base + begin, block.line_number(begin), 1)
                    data = {name: value for name, value in _told(row).items() if value}
                    yield Fact(
                        "process", data, Place(pid=int(row[b"PID"])).over(inp.place), span, inp.source_id or inp.path
                    )
            else:
                self.columns = ()


def process_table(inp: Input) -> ProcessTable | None:
    """The reader of the tables of a text, where one stands in its first 64 KiB."""
    head = inp.head()
    return ProcessTable() if b"PID" in head and _HEADER.search(head) else None


def _row(raw: bytes, columns: Sequence[bytes]) -> dict[bytes, bytes] | None:
    """The words of a row by their columns (`CMD`: the whole command); None where the line is no row."""
    names = list(columns[:-1])
    words = raw.split(None, len(names))
    if b"STARTED" in names and (at := names.index(b"STARTED")) < len(words) and words[at] in _DAYS:
        words = raw.split(None, len(names) + _DATE - 1)
        words[at : at + _DATE] = [b" ".join(words[at : at + _DATE])]
    if len(words) != len(columns):
        return None
    row = dict(zip([*names, b"CMD"], words, strict=True))
    return row if row[b"PID"].isdigit() and len(row[b"PID"]) <= len(str(2**32)) else None


def _told(row: dict[bytes, bytes]) -> dict[str, str]:
    started = next((row[name] for name in _STARTED if name in row), b"")
    state = row.get(b"STAT") or row.get(b"S") or b""
    return {
        "command": without_secrets(row[b"CMD"].decode("utf-8", "replace"))[:_LONGEST],
        "state": state.decode("utf-8", "replace"),
        "started": started.decode("utf-8", "replace"),
        "elapsed": row.get(b"ELAPSED", b"").decode("utf-8", "replace"),
    }
