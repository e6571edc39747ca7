"""Cuts a stream into blocks at line ends, each with the lines around it, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader

BLOCK = 256 * 1024
#: So much of what precedes and follows a block stays in sight, for continuation lines and tables.
CONTEXT = 8 * 1024
#: A line is cut here; no log writes longer ones on purpose.
MAX_LINE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Block:
    """`data[start:end]` are the lines of this block; the rest is context. `base` is the offset of `data[0]` in the
    stream, `line` the number of the line that begins at `start`."""

    data: bytes
    start: int
    end: int
    base: int
    line: int
    last: bool

    def line_bounds(self, at: int) -> tuple[int, int]:
        """Start and end (without the newline) of the line that holds the byte at index `at` of `data`."""
        begin = self.data.rfind(b"\n", 0, at) + 1
        end = self.data.find(b"\n", at)
        return begin, len(self.data) if end < 0 else end

    def line_number(self, at: int) -> int:
        """The number of the line that begins at index `at`."""
        if at >= self.start:
            return self.line + self.data.count(b"\n", self.start, at)
        return self.line - self.data.count(b"\n", at, self.start)


def blocks(stream: BufferedReader) -> Iterator[Block]:
    """Every line of the stream stands in exactly one block's own part."""
    buffer = bytearray()
    start, base, line, last = 0, 0, 1, False
    while not last:
        chunk = stream.read(BLOCK)
        last = len(chunk) < BLOCK
        buffer += chunk
        end = _cut(buffer, start, last=last)
        if end <= start and not last:
            continue
        yield Block(bytes(buffer), start, end, base, line, last)
        line += buffer.count(b"\n", start, end)
        drop = buffer.rfind(b"\n", 0, max(0, end - CONTEXT)) + 1
        del buffer[:drop]
        base += drop
        start = end - drop


def _cut(buffer: bytearray, start: int, *, last: bool) -> int:
    """Where the block that begins at `start` ends; `start` where more must be read first."""
    if last:
        return len(buffer)
    end = buffer.rfind(b"\n", start, max(start, len(buffer) - CONTEXT)) + 1
    if end <= start and len(buffer) - start > MAX_LINE:
        return start + MAX_LINE
    return max(end, start)
