"""Chunks of bytes as the stream that a collector reads, and the digest by which copies of a source are known."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.engine.digests import blake2b
from neuron_doctor.engine.facts import Place

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: How much a layer (decompressor, archive member, pipe) hands on at once.
CHUNK = 256 * 1024


class Damaged(Exception):
    """What is left of a stream cannot be read; the message says why, in plain words."""


class Member(Struct, frozen=True):
    """A file in an archive: its name as it stands there, its size (-1: not known), its content."""

    name: str
    size: int
    chunks: Iterator[bytes]


class Sample(Struct):
    """What the digest of a source looks at: the first and the last `HEAD` bytes, and the size."""

    size: int = 0
    head: bytes = b""
    _tail: deque[bytes] = field(default_factory=deque)
    _tail_size: int = 0

    def add(self, chunk: bytes) -> None:
        """Take note of the next bytes. The last chunks are held, not copied."""
        if len(self.head) < HEAD:
            self.head += chunk[: HEAD - len(self.head)]
        self.size += len(chunk)
        self._tail.append(chunk)
        self._tail_size += len(chunk)
        while self._tail_size - len(self._tail[0]) >= HEAD:
            self._tail_size -= len(self._tail.popleft())

    @property
    def tail(self) -> bytes:
        """The last `HEAD` bytes."""
        return b"".join(self._tail)[-HEAD:]


class ChunkStream(io.RawIOBase):
    """An iterator of chunks, to be read through a BufferedReader. Every read fills its buffer as far as there is data,
    so `peek` shows a whole head. Chunks that raise Damaged or OSError end the stream, and `damaged` is told."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.sample = Sample()
        self.damaged: Callable[[str], None] | None = None
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill `buffer`; fewer bytes than it holds mean the end."""
        view = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(view) and (self._rest or self._advance()):
            count = min(len(self._rest), len(view) - filled)
            view[filled : filled + count] = self._rest[:count]
            self._rest = self._rest[count:]
            filled += count
        return filled

    def _advance(self) -> bool:
        try:
            chunk = next(self._chunks, b"")
        except Damaged as error:
            return self._end(str(error))
        except OSError as error:  # of the disk below
            return self._end(f"cannot be read: {error.strerror}")
        if chunk:
            self.sample.add(chunk)
        self._rest = memoryview(chunk)
        return bool(chunk)

    def _end(self, why: str) -> bool:
        if self.damaged:
            self.damaged(why)
        return False


def streamed(path: str, name: str, chunks: Iterator[bytes], size: int = -1) -> Input:
    """The input that reads `chunks`, with what damages them as its problems."""
    raw = ChunkStream(chunks)
    inp = Input(path, name, io.BufferedReader(raw, HEAD), size)
    raw.damaged = inp.problem
    return inp


def exactly(source: io.BufferedReader, size: int) -> Iterator[bytes]:
    """The next `size` bytes of `source`. Raises Damaged where it ends before."""
    left = size
    while left:
        data = source.read(min(left, CHUNK))
        if not data:
            raise Damaged(f"cut off: {size - left} of {size} bytes are there")
        left -= len(data)
        yield data


def skip(chunks: Iterator[bytes]) -> None:
    """Read what is left and forget it. Raises Damaged."""
    for _ in chunks:
        pass


def digest(place: Place, size: int, head: bytes, tail: bytes) -> str:
    """The id of a source: equal for copies under any name and compression, if their places are. `tail` counts where
    `head` is not already all. Hashing all of it would cost as much as the scan."""
    summary = blake2b(f"{size} {place.known()}".encode(), digest_size=16)
    summary.update(head)
    if size > len(head):
        summary.update(tail)
    return summary.hexdigest()


def finish(inp: Input) -> str:
    """Set and return the final `source_id`, and the `size` where it was not known: reads what the collector left.

    Before that, the id of an input that is a file on disk is final already; that of any other is its path.
    """
    raw = inp.stream.raw
    if isinstance(raw, ChunkStream):
        while inp.stream.read(CHUNK):
            pass
        inp.size = raw.sample.size
        inp.source_id = digest(inp.place, inp.size, raw.sample.head, raw.sample.tail)
    return inp.source_id
