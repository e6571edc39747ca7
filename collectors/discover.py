"""Opens what is under the given paths as inputs: files, and what is packed in them, streamed, one after the other. What many
hosts printed into one file counts as packed, and so do the streams in an export of CloudWatch and the outputs of a notebook;
tables of a cluster in what a terminal shows, and what each host printed behind its name, are inputs beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader, BytesIO, FileIO
from typing import BinaryIO

from msgspec import Struct

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.export_rows import has_rows
from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.host_blocks import is_of_blocks, members_of_blocks
from neuron_doctor.collectors.insights import members_of_export
from neuron_doctor.collectors.labelled_outputs import labelled_outputs
from neuron_doctor.collectors.log_events import is_of_events, members_of_events
from neuron_doctor.collectors.notebooks import is_notebook, members_of_notebook
from neuron_doctor.collectors.shown_tables import shown_tables
from neuron_doctor.collectors.streams import CHUNK, ChunkStream, Damaged, Member, digest, streamed
from neuron_doctor.collectors.unpack import Codec, codec_of, unpacked
from neuron_doctor.collectors.urls import is_url, opened
from neuron_doctor.collectors.utf16 import as_utf8, is_utf16
from neuron_doctor.collectors.walk import STDIN, Found, find, printable
from neuron_doctor.collectors.zip import is_zip, zip_members

#: What holds members without being compressed: how it begins, and what reads it.
_DOCUMENTS: tuple[tuple[Callable[[bytes], bool], Callable[[BufferedReader], Iterator[Member]]], ...] = (
    (is_zip, zip_members),
    (is_of_blocks, members_of_blocks),
    (is_of_events, members_of_events),
    (is_notebook, members_of_notebook),
    (has_rows, members_of_export),
)
#: Layers of packing in one file: a .log.gz in a .tar.gz in a .zip is five.
MAX_LAYERS = 8
MAX_MEMBERS = 200_000
_TAR_HEADER = 512
#: What one file may unpack to, in bytes: a bomb costs no more time than this, and gzip cannot pack 1,100 times.
MAX_GROWTH, ALWAYS_ALLOWED = 2_000, 1 << 30


class Budget(Struct):
    """What may still come out of one file on disk: bytes and members, over all its layers."""

    bytes: int
    members: int


def discover(
    paths: Sequence[str], *, labels: Mapping[str, str] | None = None, stdin: BinaryIO | None = None
) -> Iterator[Input]:
    """The inputs in and under `paths`, in a fixed order; `labels` as in `find`, `stdin` is read for `-`.

    The stream of an input stands at its start and is valid until the next input is asked for. What cannot be read is
    an input with an empty stream and a problem. Raises MissingPath before anything is yielded.
    """
    return (inp for found in find(paths, labels) for inp in inputs_of(found, stdin))


def inputs_of(found: Found, stdin: BinaryIO | None = None) -> Iterator[Input]:
    """What is in one file that `find` found; for a worker, which gets no open streams from another process."""
    budget = Budget(ALWAYS_ALLOWED + MAX_GROWTH * max(found.size, 0), MAX_MEMBERS)
    if found.problem or (found.location == STDIN and stdin is None):
        yield unread(found.path, found.problem or "there is no standard input")
        return
    try:
        if found.size < 0 or is_url(found.location):
            with _pipe(found, stdin) as pipe:
                chunks = _piped(pipe, budget)
                yield from _unpacked(streamed(found.path, _name(found.path), chunks, found.size), budget)
        else:
            file: BufferedReader = BufferedReader(FileIO(found.location), HEAD)
            with file:
                yield from _unpacked(Input(found.path, _name(found.path), file, found.size), budget)
    except OSError as error:
        yield unread(found.path, f"cannot be read: {error.strerror}")


def _pipe(found: Found, stdin: BinaryIO | None) -> AbstractContextManager[BinaryIO]:
    if found.location == STDIN and stdin is not None:
        return nullcontext(stdin)  # not ours to close
    if is_url(found.location):
        return opened(found.location)
    return open(found.location, "rb")


def _piped(pipe: BinaryIO, budget: Budget) -> Iterator[bytes]:
    """The chunks of a pipe. How much may come out of it grows with what goes in."""
    while data := pipe.read(CHUNK):
        budget.bytes += MAX_GROWTH * len(data)
        yield data


def _unpacked(inp: Input, budget: Budget, layers: int = 0) -> Iterator[Input]:
    """The input itself, or what is packed in it."""
    head = inp.head()
    codec = codec_of(head)
    members = None if codec else _members_of(head)
    if layers == MAX_LAYERS and (codec or members):
        inp.problem(f"packed in more than {MAX_LAYERS} layers: not unpacked")
        codec = members = None
    if codec:
        yield from _unpacked(_decompressed(inp, codec, budget), budget, layers + 1)
    elif members:
        yield from _members(inp, members(inp.stream), budget, layers + 1)
    elif is_utf16(head):
        yield from _unpacked(_reencoded(inp, budget), budget, layers + 1)
    else:
        _identify(inp, head)
        yield inp
        for member in (*shown_tables(head), *labelled_outputs(head)):
            yield from _unpacked(
                streamed(f"{inp.path}!{member.name}", member.name, member.chunks, member.size), budget, MAX_LAYERS
            )


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so has other text in it than its own bytes: compressed, an archive, UTF-16."""
    return bool(codec_of(head) or _members_of(head)) or is_utf16(head)


def _members_of(head: bytes) -> Callable[[BufferedReader], Iterator[Member]] | None:
    if members := next((members for is_of, members in _DOCUMENTS if is_of(head)), None):
        return members
    if not _may_be_tar(head):
        return None
    from neuron_doctor.collectors.tar import is_tar, tar_members  # noqa: PLC0415 - the library of tars, for few inputs

    return tar_members if is_tar(head) else None


def _may_be_tar(head: bytes) -> bool:
    """Whether the digits of a checksum stand where a tar has them, or its name: plain text, which has no NUL, is refused without
    more ado."""
    if head[257:262] == b"ustar":
        return True
    return len(head) >= _TAR_HEADER and b"\0" in head[:_TAR_HEADER] and not head[148:154].strip(b"01234567 \0")


def _decompressed(inp: Input, codec: Codec, budget: Budget) -> Input:
    """The input under the compression; both report into the same problems."""
    chunks = _within(budget, unpacked(inp.stream, codec))
    inner = streamed(inp.path, inp.name.removesuffix(codec.suffix), chunks)
    inner.problems = inp.problems
    return inner


def _reencoded(inp: Input, budget: Budget) -> Input:
    """The input in UTF-8."""
    inner = streamed(inp.path, inp.name, _within(budget, as_utf8(inp.stream)))
    inner.problems = inp.problems
    return inner


def _members(inp: Input, members: Iterator[Member], budget: Budget, layers: int) -> Iterator[Input]:
    """What is in the members; at the end the archive itself, if anything was wrong with it."""
    try:
        for member in members:
            _spend(budget, members=1)
            name = printable(member.name.removeprefix("./"))
            chunks = _within(budget, member.chunks)
            yield from _unpacked(streamed(f"{inp.path}!{name}", _name(name), chunks, member.size), budget, layers)
    except Damaged as error:
        inp.problem(str(error))
    if inp.problems:
        yield unread(inp.path, *inp.problems)


def _within(budget: Budget, chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        _spend(budget, size=len(chunk))
        yield chunk


def _spend(budget: Budget, *, size: int = 0, members: int = 0) -> None:
    budget.bytes -= size
    budget.members -= members
    if budget.bytes < 0:
        raise Damaged(f"unpacks to more than {MAX_GROWTH} times its size: the rest is not read")
    if budget.members < 0:
        raise Damaged(f"more than {MAX_MEMBERS} files in it: the rest is not read")


def _identify(inp: Input, head: bytes) -> None:
    """Set the place that the path hints at and the id, which for a stream is not known before its end."""
    inp.place = place_of_path(inp.path)
    if isinstance(inp.stream.raw, ChunkStream):
        inp.source_id = inp.path
        return
    if len(head) < HEAD:
        inp.size = len(head)  # what is there, not what is stated: sysfs states 4,096 bytes for every value
    tail = os.pread(inp.stream.fileno(), HEAD, inp.size - HEAD) if inp.size > HEAD else b""
    inp.source_id = digest(inp.place, inp.size, head, tail)


def unread(path: str, *problems: str) -> Input:
    """An empty input that says what is wrong. Its id is of its path, for there is no content to tell it by."""
    inp = Input(path, _name(path), BufferedReader(BytesIO()), 0, place_of_path(path), path)
    for problem in problems:
        inp.problem(problem)
    return inp


def _name(path: str) -> str:
    return path.rpartition("/")[2]
