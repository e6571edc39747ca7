"""The compressed formats: told by their first bytes, unpacked chunk by chunk in constant memory."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import Protocol, cast

from msgspec import Struct

from neuron_doctor.collectors.streams import CHUNK, Damaged

#: An .xz that asks for a larger dictionary is refused (`xz -9` asks for 65 MiB).
XZ_MEMORY = 128 * 1024 * 1024
GZIP_WBITS = 31
RAW_DEFLATE_WBITS = -15


class Decoder(Protocol):
    """One frame's decompressor, in the shape that bz2, lzma and zstd share."""

    @property
    def eof(self) -> bool: ...  # noqa: D102
    @property
    def needs_input(self) -> bool: ...  # noqa: D102
    @property
    def unused_data(self) -> bytes: ...  # noqa: D102
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...  # noqa: D102


class Method(Struct, frozen=True):
    """A way to decompress: a decoder for each frame, and what it raises over damaged data."""

    decoder: Callable[[], Decoder]
    error: type[Exception]


class ZlibDecoder(Protocol):
    """A decompressor of zlib or isal."""

    @property
    def eof(self) -> bool: ...  # noqa: D102
    @property
    def unconsumed_tail(self) -> bytes: ...  # noqa: D102
    @property
    def unused_data(self) -> bytes: ...  # noqa: D102
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...  # noqa: D102


class Inflate:
    """zlib's decompressor in the shape of the others."""

    def __init__(self, decompressor: ZlibDecoder) -> None:
        self._decompressor = decompressor

    @property
    def eof(self) -> bool:
        """Whether the frame has ended."""
        return self._decompressor.eof

    @property
    def needs_input(self) -> bool:
        """Whether more output needs more input."""
        return not self._decompressor.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        """What was given and lies behind the frame."""
        return self._decompressor.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """At most `max_length` bytes of output."""
        return self._decompressor.decompress(self._decompressor.unconsumed_tail + data, max_length)


# The libraries are imported when the first file needs them: isal and zstd cost 10 ms each.


def _inflate(wbits: int) -> Method:
    try:
        from isal import isal_zlib  # noqa: PLC0415
    except ImportError:
        return Method(lambda: Inflate(zlib.decompressobj(wbits)), zlib.error)
    error = cast("type[Exception]", isal_zlib.IsalError)
    return Method(lambda: Inflate(isal_zlib.decompressobj(wbits)), error)


def _gzip() -> Method:
    return _inflate(GZIP_WBITS)


def deflate() -> Method:
    """The method of zip members."""
    return _inflate(RAW_DEFLATE_WBITS)


def zstd() -> Method:
    """Zstandard (RFC 8878)."""
    if sys.version_info >= (3, 14):
        from compression import zstd as library  # noqa: PLC0415
    else:
        from backports import zstd as library  # noqa: PLC0415
    return Method(library.ZstdDecompressor, library.ZstdError)


def _xz() -> Method:
    import lzma  # noqa: PLC0415

    return Method(lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY), lzma.LZMAError)


def bzip2() -> Method:
    """bzip2."""
    import bz2  # noqa: PLC0415

    return Method(bz2.BZ2Decompressor, OSError)


class Codec(Struct, frozen=True):
    """A compressed format: the first bytes of a file of it, and what its file names end in."""

    name: str
    magic: tuple[bytes, ...]
    suffix: str
    method: Callable[[], Method]


_ZSTD_SKIPPABLE = tuple(bytes((0x50 + n, 0x2A, 0x4D, 0x18)) for n in range(16))
#: The level, then the mark of a block or of the end.
_BZIP2 = tuple(b"BZh%d%b" % (n, mark) for n in range(1, 10) for mark in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"))

#: gzip: RFC 1952. zstd: RFC 8878. xz: the .xz file format 1.1. bzip2: as its source has it, 1.0.8.
CODECS = (
    Codec("gzip", (b"\x1f\x8b\x08",), ".gz", _gzip),
    Codec("zstd", (b"\x28\xb5\x2f\xfd", *_ZSTD_SKIPPABLE), ".zst", zstd),
    Codec("xz", (b"\xfd7zXZ\x00",), ".xz", _xz),
    Codec("bzip2", _BZIP2, ".bz2", bzip2),
)
_ANY_MAGIC = tuple(magic for codec in CODECS for magic in codec.magic)


def codec_of(head: bytes) -> Codec | None:
    """The compressed format that a file with these first bytes has."""
    if not head.startswith(_ANY_MAGIC):
        return None
    return next(codec for codec in CODECS if head.startswith(codec.magic))


def one_frame(source: BufferedReader, method: Method, name: str) -> Iterator[bytes]:
    """What the frame at the start of `source` holds; leaves `source` right behind it. Raises Damaged."""
    decoder = method.decoder()
    held = 0
    while not decoder.eof:
        asked, data = decoder.needs_input, b""
        if asked:
            source.read(held)
            data = source.peek()
            held = len(data)
        try:
            text = decoder.decompress(data, CHUNK)
        except (method.error, EOFError) as error:
            raise Damaged(f"damaged {name} data: the rest is lost ({error})") from error
        if text:
            yield text
        elif asked and not data:
            raise Damaged(f"cut off: the {name} data has no end")
    source.read(held - len(decoder.unused_data))


def unpacked(source: BufferedReader, codec: Codec) -> Iterator[bytes]:
    """What all frames of `source` hold. Raises Damaged after the last that can be read."""
    method = codec.method()
    yield from one_frame(source, method, codec.name)
    while following := _after_padding(source):
        if not following.startswith(codec.magic) and len(following) >= max(map(len, codec.magic)):
            raise Damaged(f"bytes that are not {codec.name} follow the {codec.name} data: not read")
        yield from one_frame(source, method, codec.name)


def _after_padding(source: BufferedReader) -> bytes:
    """Skip zero bytes (tapes and xz pad with them); what then is in sight, empty at the end."""
    while data := source.peek():
        rest = data.lstrip(b"\0")
        source.read(len(data) - len(rest))
        if rest:
            return rest
    return b""
