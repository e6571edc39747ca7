"""Part files: what one machine's sources say, small enough to be sent and joined where all parts come together.

A part is a magic number, a version, and frames: each the lengths of its packed and unpacked bytes, then zstd. The first frame
is a header in JSON: the schema, the version of the tool that wrote it, and by digest what each rulebook looked for whose
readings are in it. The others are collections (`engine.portable`). A frame of length 0 is the end: a part without it is torn.

A part has facts and sources as they were collected, before anything was concluded of them. Equal readings give equal bytes.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BufferedReader
from itertools import groupby

import msgspec
from msgspec.structs import replace

from neuron_doctor.__about__ import VERSION
from neuron_doctor.collectors.streams import Damaged, exactly
from neuron_doctor.collectors.unpack import zstd
from neuron_doctor.collectors.walk import printable
from neuron_doctor.engine.facts import Collection, Fact, Searched, Source
from neuron_doctor.engine.portable import NotPortable, packed, unpacked
from neuron_doctor.engine.readings import Reading, gathered, merged, readings_of
from neuron_doctor.engine.searched import searched_for
from neuron_doctor.part_mark import MAGIC

SCHEMA = "neuron-doctor/part/1"
_VERSION = b"\x01"
_LENGTHS = struct.Struct(">II")
_END = _LENGTHS.pack(0, 0)
#: Facts and sources of a frame: whoever reads it holds one frame at a time beside what it has read.
_FACTS, _SOURCES = 4096, 2048
#: A frame is divided beyond so many bytes, and refused beyond those.
_LARGE, _TOO_LARGE = 8 << 20, 64 << 20
#: How much a part may unpack to in all.
_GROWTH, _ALWAYS_ALLOWED = 2_000, 64 << 20
_LEVEL = 9


class _Pack(msgspec.Struct, frozen=True):
    """What a rulebook looked for: patterns and kinds by name, each with a digest of its definition."""

    digest: str
    names: dict[str, str]


class _Header(msgspec.Struct, frozen=True):
    """What is said of a part before its facts."""

    schema: str
    tool: str
    packs: list[_Pack]


# --- out


def part_of(readings: Iterable[Reading], searched: Searched) -> Iterator[bytes]:
    """The bytes of the part with these readings; `searched` is what was looked for in those that do not say."""
    ready = merged(_stamped(reading, searched) for reading in readings)
    by_pack = sorted(ready, key=_digest)
    packs = {_digest(reading): reading.source.searched for reading in by_pack}
    header = _Header(SCHEMA, VERSION, [_Pack(s.digest, dict(s.names)) for s in packs.values() if s])
    yield MAGIC + _VERSION + _frame(msgspec.json.encode(header))
    for _, some in groupby(by_pack, key=_digest):
        for chunk in _chunks(map(_nameless, some)):
            yield from _frames(chunk)
    yield _END


def _digest(reading: Reading) -> str:
    return reading.source.searched.digest if reading.source.searched else ""


def _stamped(reading: Reading, searched: Searched) -> Reading:
    return reading if reading.source.searched else replace(reading, source=replace(reading.source, searched=searched))


def _nameless(reading: Reading) -> Reading:
    """The names stand in the header once."""
    return replace(reading, source=replace(reading.source, searched=Searched(_digest(reading))))


def _chunks(readings: Iterable[Reading]) -> Iterator[list[Reading]]:
    """Readings for a frame each; one with very many facts goes on in the next."""
    chunk: list[Reading] = []
    facts = 0
    for reading in readings:
        rest = reading
        while facts + len(rest.facts) > _FACTS:
            room = _FACTS - facts
            yield [*chunk, replace(rest, facts=rest.facts[:room])]
            chunk, facts, rest = [], 0, replace(rest, facts=rest.facts[room:])
        chunk.append(rest)
        facts += len(rest.facts)
        if len(chunk) == _SOURCES:
            yield chunk
            chunk, facts = [], 0
    if chunk:
        yield chunk


def _frames(chunk: Sequence[Reading]) -> Iterator[bytes]:
    """The frame of a chunk, or those of its halves where it is too large for one."""
    data = packed(gathered(chunk))
    halves = _halves(chunk) if len(data) > _LARGE else ()
    if halves:
        for half in halves:
            yield from _frames(half)
    else:
        yield _frame(data)


def _halves(chunk: Sequence[Reading]) -> tuple[Sequence[Reading], ...]:
    if len(chunk) > 1:
        return chunk[: len(chunk) // 2], chunk[len(chunk) // 2 :]
    facts = chunk[0].facts
    halves = (facts[: len(facts) // 2], facts[len(facts) // 2 :])
    return tuple([replace(chunk[0], facts=half)] for half in halves) if len(facts) > 1 else ()


def _frame(data: bytes) -> bytes:
    compressed = _compressed(data)
    return _LENGTHS.pack(len(compressed), len(data)) + compressed


def _compressed(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as library  # noqa: PLC0415
    else:
        from backports import zstd as library  # noqa: PLC0415
    parameter = library.CompressionParameter
    return library.compress(data, options={parameter.compression_level: _LEVEL, parameter.checksum_flag: 1})


# --- back


def read_part(stream: BufferedReader) -> Iterator[Reading]:
    """The readings of a part. Raises Damaged after the last that is whole."""
    if stream.read(len(MAGIC)) != MAGIC:
        raise Damaged("not a part")
    if (version := stream.read(1)) != _VERSION:
        raise Damaged(f"a part of version {version.hex() or 'none'}: this neuron-doctor reads version {_VERSION.hex()}")
    frames = _read_frames(stream)
    packs = _read_header(next(frames, b""))
    held: Reading | None = None
    for data in frames:
        for reading in _read_collection(data, packs):
            if held and _continues(held, reading):
                held = replace(held, facts=held.facts + reading.facts)
            else:
                yield from (held,) if held else ()
                held = reading
    yield from (held,) if held else ()


def _continues(held: Reading, reading: Reading) -> bool:
    return (held.source.id, held.source.path, held.source.searched) == (
        reading.source.id,
        reading.source.path,
        reading.source.searched,
    )


def _read_frames(stream: BufferedReader) -> Iterator[bytes]:
    allowed = _ALWAYS_ALLOWED
    while True:
        lengths = stream.read(_LENGTHS.size)
        if lengths == _END:
            return
        if len(lengths) < _LENGTHS.size:
            raise Damaged("cut off: the part has no end")
        compressed, size = _LENGTHS.unpack(lengths)
        allowed += _GROWTH * compressed - size
        if size > _TOO_LARGE or allowed < 0:
            raise Damaged(f"a frame that unpacks to {size} bytes: the rest of the part is not read")
        yield _decompressed(b"".join(exactly(stream, compressed)), size)


def _decompressed(data: bytes, size: int) -> bytes:
    method = zstd()
    decoder = method.decoder()
    try:
        text = decoder.decompress(data, size + 1)
    except (method.error, EOFError) as error:
        raise Damaged(f"damaged zstd data: the rest of the part is lost ({error})") from error
    if len(text) != size or not decoder.eof or decoder.unused_data:
        raise Damaged("a frame that is not of the length that it states: the rest of the part is lost")
    return text


def _read_header(data: bytes) -> Mapping[str, Searched]:
    try:
        header = msgspec.json.decode(data, type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Damaged(f"the header of the part is damaged: {error}") from error
    if header.schema != SCHEMA:
        raise Damaged(f"a part of the schema {printable(header.schema)[:80]}: this neuron-doctor reads {SCHEMA}")
    searched = {pack.digest: searched_for(pack.names) for pack in header.packs}
    if any(digest != one.digest for digest, one in searched.items()):
        raise Damaged("the header of the part is damaged: its digests are of other patterns")
    return searched


def _read_collection(data: bytes, packs: Mapping[str, Searched]) -> list[Reading]:
    try:
        collection = unpacked(data)
    except NotPortable as error:
        raise Damaged(f"the part is damaged: {error}") from error
    readings = []
    for reading in readings_of(_shown(collection)):
        searched = packs.get(_digest(reading))
        if searched is None:
            raise Damaged("the part is damaged: a source of which the header does not say what was looked for in it")
        readings.append(replace(reading, source=replace(reading.source, searched=searched)))
    return readings


def _shown(collection: Collection) -> Collection:
    """The same with paths that no terminal obeys. Those of a part that was written by us are so already."""
    paths = {source.path for source in collection.sources}
    if all(path.isprintable() for path in paths):
        return collection
    return Collection(tuple(map(_shown_source, collection.sources)), tuple(map(_shown_fact, collection.facts)))


def _shown_source(source: Source) -> Source:
    return replace(source, path=printable(source.path))


def _shown_fact(fact: Fact) -> Fact:
    return replace(fact, span=replace(fact.span, path=printable(fact.span.path)))
