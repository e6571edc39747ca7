"""The events of a Chrome trace (trace-event format, array or object form), decoded block by block in constant memory.

A block is cut after an event; that it decodes proves the cut. A torn file gives what it had, a damaged event only costs
itself. Who reads a trace may decode a block in fewer words: most events of gigabytes are asked for little.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from neuron_doctor.collectors.base import UNREADABLE_JSON, Input, UnreadableInput
from neuron_doctor.engine.regexes import regex

BLOCK = 64 * 1024
#: The array of events begins within so many bytes.
_REACH = 1024 * 1024
#: When so much was read and no cut decodes, something is damaged.
_PATIENCE = 4 * BLOCK
#: So many cuts are tried before more is read: the last ones may be inside an event.
_CUTS = 8


class Args(msgspec.Struct, gc=False):
    """What is asked of an event's arguments; every program writes its own, of any type."""

    name: Any = None
    nd: Any = None
    nc: Any = None
    exec_id: Any = None
    gid: Any = None
    ret: Any = None


class Brief(msgspec.Struct, gc=False):
    """The least of an event; `ts` and `dur` in microseconds of the trace's own clock."""

    ph: str = ""
    name: str = ""
    ts: float = 0.0
    dur: float = 0.0
    pid: int | str | None = None
    tid: int | str | None = None


class Event(Brief, gc=False):
    """One event."""

    args: Args | None = None


#: Decodes an array of events to as many brief ones; None where that would not do.
InBrief = Callable[[bytes], Sequence[Brief] | None]

_EVENTS = msgspec.json.Decoder(list[Event], strict=False).decode
_EVENT = msgspec.json.Decoder(Event, strict=False).decode

_ARRAY = regex(rb'\A(?:\xef\xbb\xbf)?\s*\[|"traceEvents"\s*:\s*\[')
_BETWEEN = regex(rb"\}\s*,\s*(?=\{)")
#: How msgspec says that the array ended before the data did; the position is the one after the first byte too many.
_ENDED = regex(r"trailing characters \(byte (\d+)\)")


class Block(Struct, frozen=True, dict=True):
    """Some events in a row: `raw` are their bytes from `offset`, `line` and `column` the place of the first byte. Either
    the events are there, or they are there in `brief`."""

    events: Sequence[Event]
    raw: bytes
    offset: int
    line: int
    column: int
    brief: Sequence[Brief] = ()

    def event(self, index: int) -> Event:
        """An event, decoded now if it was only there in brief."""
        if self.events:
            return self.events[index]
        start, end = self.bounds(index)
        try:
            return _EVENT(self.raw[start:end]) if end else _EVENTS(b"[%b]" % self.raw)[index]
        except UNREADABLE_JSON:  # for something that it was not asked for in brief
            it = self.brief[index]
            return Event(it.ph, it.name, it.ts, it.dur, it.pid, it.tid)

    @cached_property
    def _starts(self) -> list[int]:
        first = len(self.raw) - len(self.raw.lstrip())
        return [first, *(found.end() for found in _BETWEEN.finditer(self.raw)), len(self.raw)]

    @cached_property
    def _newlines(self) -> list[int]:
        return [found.start() for found in re.finditer(rb"\n", self.raw)]

    def bounds(self, index: int) -> tuple[int, int]:
        """Start and end of an event in `raw`; only where the block begins where its events hold lists of objects."""
        starts = self._starts
        if len(starts) != (len(self.events) or len(self.brief)) + 1:
            return 0, 0
        start = starts[index]
        return start, self.raw.rfind(b"}", start, starts[index + 1]) + 1

    def line_and_column(self, at: int) -> tuple[int, int]:
        """Line and column, from 1, of a byte of `raw`."""
        above = bisect_left(self._newlines, at)
        if above == 0:
            return self.line, self.column + at
        return self.line + above, at - self._newlines[above - 1]


class _Cutter(Struct):
    """What was read and not yet decoded, and where it stands."""

    inp: Input
    buffer: bytearray
    offset: int = 0
    line: int = 1
    column: int = 1

    def drop(self, length: int) -> None:
        self._pass(bytes(memoryview(self.buffer)[:length]))

    def _pass(self, gone: bytes) -> None:
        length = len(gone)
        self.offset += length
        if b"\n" in gone:  # quicker than to count
            self.line += gone.count(b"\n")
            self.column = length - gone.rfind(b"\n")
        else:
            self.column += length
        del self.buffer[:length]

    def block(self, found: _Found) -> Block:
        """The block of the events, whose bytes are dropped with the comma after them."""
        raw = bytes(memoryview(self.buffer)[: found.length])
        block = Block(found.events, raw, self.offset, self.line, self.column, found.brief)
        self._pass(raw)
        if self.buffer.startswith(b","):
            self.drop(1)
        return block


def blocks(inp: Input, in_brief: InBrief | None = None) -> Iterator[Block]:
    """All events of the input in the order of the file; notes damage as problems.

    Raises UnreadableInput where no array of events begins.
    """
    cutter = _Cutter(inp, bytearray())
    _to_array(cutter)
    while chunk := inp.stream.read(BLOCK):
        cutter.buffer += chunk
        found = _longest(cutter.buffer, b"},", in_brief)
        if found.length:
            yield cutter.block(found)
        elif len(cutter.buffer) > _PATIENCE:
            yield from _one_by_one(cutter, cutter.buffer.rfind(b"},") + 1 or len(cutter.buffer))
        if found.ended:
            return
    yield from _end(cutter)


def _to_array(cutter: _Cutter) -> None:
    while (found := _ARRAY.search(cutter.buffer)) is None:
        chunk = cutter.inp.stream.read(BLOCK)
        if not chunk or len(cutter.buffer) > _REACH:
            raise UnreadableInput("no array of trace events begins in it")
        cutter.buffer += chunk
    cutter.drop(found.end())


class _Found(NamedTuple):
    """The events in the first `length` bytes of a buffer, and whether the array ended there."""

    events: Sequence[Event] = ()
    length: int = 0
    ended: bool = False
    brief: Sequence[Brief] = ()


def _longest(buffer: bytearray, mark: bytes, in_brief: InBrief | None = None) -> _Found:
    """As many whole events as there are, cut after a brace where `mark` stands; none where no cut decodes."""
    cut = len(buffer)
    for _ in range(_CUTS):
        cut = buffer.rfind(mark, 0, cut)
        if cut < 0:
            break
        text = b"".join((b"[", memoryview(buffer)[: cut + 1], b"]"))
        if in_brief is not None and (brief := in_brief(text)):
            return _Found((), cut + 1, brief=brief)
        try:
            return _Found(_EVENTS(text), cut + 1)
        except UNREADABLE_JSON as error:
            end = _ENDED.search(str(error))
        if end is not None:
            length = int(end[1]) - 1
            return _Found(_EVENTS(text[:length]), length - 1, ended=True)
    return _Found()


def _one_by_one(cutter: _Cutter, length: int) -> Iterator[Block]:
    """The readable ones of the events in the first `length` bytes, where together they are not."""
    begins = [found.end() for found in _BETWEEN.finditer(cutter.buffer, 0, length)]
    for start, end in pairwise([0, *begins, length]):
        piece = bytes(cutter.buffer[: end - start])
        following = cutter.offset + len(piece)
        event, read = _leading(piece)
        if event is None:
            cutter.inp.problem("an event of the trace is not readable", cutter.line)
        else:
            yield cutter.block(_Found([event], read))
            if cutter.buffer.lstrip().startswith(b"]"):
                return
        cutter.drop(max(0, following - cutter.offset))  # the comma after the last one may be gone already


def _leading(piece: bytes) -> tuple[Event | None, int]:
    """The event with which the bytes begin, and its length."""
    try:
        return _EVENT(piece), len(piece)
    except UNREADABLE_JSON as error:
        end = _ENDED.search(str(error))
    if end is None:
        return None, 0
    read = int(end[1]) - 1
    return _EVENT(piece[:read]), read


def _end(cutter: _Cutter) -> Iterator[Block]:
    """What the last block leaves: the last events, and the end of the array if it was written."""
    found = _longest(cutter.buffer, b"}")
    if found.length:
        yield cutter.block(found)
    elif b"}" in cutter.buffer:
        yield from _one_by_one(cutter, cutter.buffer.rfind(b"}") + 1)
    if not found.ended and not cutter.buffer.lstrip().startswith(b"]"):
        cutter.inp.problem("the trace is cut off: its last events are missing", cutter.line)
