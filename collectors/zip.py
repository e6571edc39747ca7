"""The files in a zip, read in one pass over a stream, by the headers before the members (APPNOTE 6.3.10, section 4.3).

The directory at the end is not needed, so a zip in a pipe or in another archive is read like any other, one that was
cut off gives what it has, and members cannot overlap.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from io import BufferedReader

from msgspec import Struct

from neuron_doctor.collectors.streams import CHUNK, ChunkStream, Damaged, Member, exactly, skip
from neuron_doctor.collectors.unpack import Method, bzip2, deflate, one_frame, zstd

#: version, flags, method, time, date, CRC, packed size, size, length of the name, length of the extra field
_LOCAL = struct.Struct("<HHHHHIIIHH")
_MEMBER = b"PK\3\4"
#: What may stand behind the last member: the directory, its end (empty zip), its 64-bit end, signature, extra data.
_AFTER_MEMBERS = (b"PK\1\2", b"PK\5\6", b"PK\6\6", b"PK\5\5", b"PK\6\x08")
_ENCRYPTED, _SIZES_FOLLOW, _UTF8 = 0x1, 0x8, 0x800
_DESCRIPTOR = b"PK\7\x08"
#: The extra field with 64-bit sizes (size, packed size), which count where the 32-bit ones are all ones.
_ZIP64, _IN_ZIP64 = 1, 0xFFFFFFFF
_STORED = 0
_METHODS: dict[int, Callable[[], Method]] = {8: deflate, 12: bzip2, 93: zstd}


class Entry(Struct, frozen=True):
    """The header before a member. `packed` is -1 where the sizes follow the content; `wide` tells 64-bit sizes."""

    name: str
    encrypted: bool
    method: int
    packed: int
    size: int
    wide: bool


def is_zip(head: bytes) -> bool:
    """Whether a zip begins here."""
    return head.startswith((_MEMBER, b"PK\5\6"))


def zip_members(source: BufferedReader) -> Iterator[Member]:
    """The files. What a caller leaves of one is skipped. Raises Damaged where the zip cannot be followed further."""
    while (signature := source.read(4)) == _MEMBER:
        entry = _entry(source)
        packed = exactly(source, max(entry.packed, 0))
        content = _content(source if entry.packed < 0 else BufferedReader(ChunkStream(packed), CHUNK), entry)
        if not entry.name.endswith("/"):
            yield Member(entry.name, entry.size, content)
        if entry.packed < 0:
            skip(content)
            _skip_descriptor(source, entry)
        skip(packed)
    if signature not in _AFTER_MEMBERS:
        raise Damaged("damaged or cut off: the zip has no directory at its end")


def _entry(source: BufferedReader) -> Entry:
    fixed = source.read(_LOCAL.size)
    if len(fixed) < _LOCAL.size:
        raise Damaged("cut off: in the header of a zip member")
    _, flags, method, _, _, _, packed, size, name_length, extra_length = _LOCAL.unpack(fixed)
    name = source.read(name_length).decode("utf-8" if flags & _UTF8 else "cp437", "surrogateescape")
    wide = _zip64(source.read(extra_length))
    sizes = iter(wide)
    size = next(sizes, size) if size == _IN_ZIP64 else size
    packed = next(sizes, packed) if packed == _IN_ZIP64 else packed
    follow = bool(flags & _SIZES_FOLLOW and not packed)
    return Entry(name, bool(flags & _ENCRYPTED), method, -1 if follow else packed, -1 if follow else size, bool(wide))


def _zip64(extra: bytes) -> tuple[int, ...]:
    """The 64-bit numbers of an extra field, () where it has none."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == _ZIP64:
            field = extra[at + 4 : at + 4 + length]
            return struct.unpack(f"<{len(field) // 8}Q", field[: len(field) // 8 * 8])
        at += 4 + length
    return ()


def _content(source: BufferedReader, entry: Entry) -> Iterator[bytes]:
    method = _METHODS.get(entry.method)
    if entry.encrypted:
        raise Damaged("encrypted: not read")
    if method is not None:
        yield from one_frame(source, method(), "zip")
    elif entry.method != _STORED:
        raise Damaged(f"compressed by zip method {entry.method}, which is not supported: not read")
    elif entry.packed < 0:
        raise Damaged("stored in the zip without its size: not read")
    else:
        yield from exactly(source, entry.packed)


def _skip_descriptor(source: BufferedReader, entry: Entry) -> None:
    """Pass over the CRC and the sizes behind a member; their signature is optional."""
    signed = source.read(4) == _DESCRIPTOR
    source.read((4 if signed else 0) + (16 if entry.wide else 8))
