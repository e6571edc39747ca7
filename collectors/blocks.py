"""Cuts a stream into blocks at line ends, each with the lines around it, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader

from msgspec import Struct

BLOCK = 256 * 1024
#: So much of what precedes and follows a line can be looked at, for continuation lines and tables: the same wherever
#: blocks are cut.
CONTEXT = 8 * 1024
#: A line is cut here; no log writes longer ones on purpose.
MAX_LINE = 1024 * 1024
#: What is worth a copy, how much of it tells whether its lines are short, and what is short (bytes).
_MANY, _SAMPLE, _SHORT = 4096, 1024, 48


class Extent(Struct, frozen=True):
    """The part of a stream whose lines are wanted: those that begin at `begin` or later, and before `end` (None: all)."""

    begin: int = 0
    end: int | None = None


WHOLE = Extent()


class Block(Struct):
    """`data[start:end]` are the lines of this block; the rest is context. `base` is the offset of `data[0]` in the
    stream, `line` the number of the line that begins at `start`, counted from 1 at the beginning of the extent."""

    data: bytes
    start: int
    end: int
    base: int
    line: int
    last: bool
    #: How far lines have been counted, and the number of the line there: whoever asks in order counts each line once.
    _counted: int = -1
    _line: int = 0

    def line_bounds(self, at: int) -> tuple[int, int]:
        """Start and end (without the newline) of the line that holds the byte at index `at` of `data`."""
        begin = self.data.rfind(b"\n", 0, at) + 1
        end = self.data.find(b"\n", at)
        return begin, len(self.data) if end < 0 else end

    def line_number(self, at: int) -> int:
        """The number of the line that begins at index `at`."""
        if at < self.start:
            return self.line - newlines(self.data, at, self.start)
        if not self.start <= self._counted <= at:
            self._counted, self._line = self.start, self.line
        self._line += newlines(self.data, self._counted, at)
        self._counted = at
        return self._line

    def lines(self) -> int:
        """How many lines end in this block's own part."""
        return self.line_number(self.end) - self.line


def newlines(data: bytes, begin: int, end: int) -> int:
    """How many line ends stand between these indexes. Where lines are not short, taking them out of a copy takes less than half
    the time of counting: it jumps from one to the next, while counting looks at every byte."""
    if end - begin < _MANY or data.count(b"\n", begin, begin + _SAMPLE) * _SHORT > _SAMPLE:
        return data.count(b"\n", begin, end)
    part = data[begin:end]
    return len(part) - len(part.replace(b"\n", b""))


def blocks(stream: BufferedReader, extent: Extent = WHOLE) -> Iterator[Block]:
    """Every line of the extent stands in exactly one block's own part. A stream that is not at the extent's beginning
    must be seekable."""
    data = b""
    start, base, line, last = 0, 0, 1, False
    if extent.begin:
        data, start, base = _entered(stream, extent.begin)
    while not last:
        chunk = stream.read(BLOCK)
        ended = len(chunk) < BLOCK
        data += chunk
        end = _cut(data, start, last=ended)
        limit = _limit(data, extent, base)
        if limit is not None and limit <= max(end, start):
            end, ended = max(limit, start), True
        last = ended
        if end <= start and not last:
            continue
        block = Block(data, start, end, base, line, last)
        yield block
        line += block.lines()
        drop = data.rfind(b"\n", 0, max(0, end - CONTEXT)) + 1
        data = data[drop:]
        base += drop
        start = end - drop


def _entered(stream: BufferedReader, begin: int) -> tuple[bytes, int, int]:
    """What stands before the first line that begins at `begin` or later, where that line starts in it, and its offset."""
    base = stream.seek(max(0, begin - 2 * CONTEXT))
    buffer = bytearray(stream.read(begin - 1 - base))
    if base:  # the line that was entered in its middle
        del buffer[: buffer.find(b"\n", 0, CONTEXT) + 1]
    while line := stream.readline(MAX_LINE):
        buffer += line
        if line.endswith(b"\n"):
            break
        del buffer[: max(0, len(buffer) - 2 * CONTEXT)]
    return bytes(buffer), len(buffer), stream.tell() - len(buffer)


def _limit(data: bytes, extent: Extent, base: int) -> int | None:
    """The index at which the first line stands that is beyond the extent; None where that is not in sight."""
    if extent.end is None:
        return None
    newline = data.find(b"\n", max(0, extent.end - 1 - base))
    return None if newline < 0 else newline + 1


def _cut(data: bytes, start: int, *, last: bool) -> int:
    """Where the block that begins at `start` ends; `start` where more must be read first."""
    if last:
        return len(data)
    end = data.rfind(b"\n", start, max(start, len(data) - CONTEXT)) + 1
    if end <= start and len(data) - start > MAX_LINE:
        return start + MAX_LINE
    return max(end, start)
