"""The files in a tar, read in one pass over a stream: nothing is sought, nothing is written to disk.

POSIX.1-2024 pax, ustar, GNU and v7 headers, decoded by the standard library. Its own stream reader is not used, for it
swallows the last blocks of a member that was cut off and takes a damaged header for the end.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from io import BufferedReader

from neuron_doctor.collectors.streams import Damaged, Member, exactly, skip

#: A tar is made of blocks of this size; a header is one.
BLOCK = 512
#: A long name or pax header that claims to be longer is refused.
MAX_EXTENSION = 1024 * 1024
#: Digits of a number in a pax header.
MAX_DIGITS = 20
#: Where an old GNU sparse map says that it goes on: in the header, in each further block.
SPARSE_GOES_ON, SPARSE_BLOCK_GOES_ON = 482, 504

_EXTENSIONS = {tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE}
_IGNORED = {tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK}


def is_tar(head: bytes) -> bool:
    """Whether a header with the right checksum begins here."""
    try:
        tarfile.TarInfo.frombuf(head[:BLOCK], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def tar_members(source: BufferedReader) -> Iterator[Member]:
    """The regular files, of several tars written behind one another too; links and devices are passed over.

    What a caller leaves of a member is skipped. Raises Damaged where the archive cannot be followed further.
    """
    said: dict[str, str] = {}
    ended = False
    while block := source.read(BLOCK):
        if not block.strip(b"\0"):
            ended = True
            continue
        header = _header(block)
        size = int(said.get("size", header.size))
        content = exactly(source, size if _has_content(header) else 0)
        if header.type in _EXTENSIONS:
            said |= _extension(header.type, size, content)
        elif header.type not in _IGNORED:
            if header.type == tarfile.GNUTYPE_SPARSE:
                _skip_sparse_map(source, block)
            if header.isreg():
                yield Member(said.get("path", header.name), size, content)
            said = {}
        skip(content)
        if _has_content(header):
            source.read(-size % BLOCK)
    if not ended:
        raise Damaged("cut off: the tar has no end mark")


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise _lost(str(error)) from error
    if header.size < 0:
        raise _lost("negative size")
    return header


def _lost(why: str) -> Damaged:
    return Damaged(f"damaged tar: the rest is lost ({why})")


def _has_content(header: tarfile.TarInfo) -> bool:
    """Whether the size of the header counts: folders and links may state one and have no content."""
    return header.type not in {
        tarfile.LNKTYPE,
        tarfile.SYMTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.DIRTYPE,
        tarfile.FIFOTYPE,
    }


def _extension(kind: bytes, size: int, content: Iterator[bytes]) -> dict[str, str]:
    """What a header of its own says about the next member: `path`, `size`."""
    if size > MAX_EXTENSION:
        raise _lost(f"a header of {size} bytes")
    data = b"".join(content)
    if kind == tarfile.GNUTYPE_LONGNAME:
        return {"path": data.rstrip(b"\0").decode("utf-8", "surrogateescape")}
    said = {key: value for key, value in _pax_records(data) if key in {"path", "size"}}
    if not _is_number(said.get("size", "0").encode("utf-8", "surrogateescape")):
        raise _lost("a size that is no number")
    return said


def _is_number(digits: bytes) -> bool:
    return digits.isdigit() and len(digits) <= MAX_DIGITS


def _pax_records(data: bytes) -> Iterator[tuple[str, str]]:
    """The `LENGTH key=value` lines of a pax header; LENGTH counts the whole line in bytes."""
    at = 0
    while at < len(data):
        blank = data.find(b" ", at, at + MAX_DIGITS)
        if not _is_number(data[at : max(blank, at)]):
            raise _lost("pax header")
        end = at + int(data[at:blank])
        if not blank < end <= len(data):
            raise _lost("pax header")
        key, _, value = data[blank + 1 : end].removesuffix(b"\n").decode("utf-8", "surrogateescape").partition("=")
        yield key, value
        at = end


def _skip_sparse_map(source: BufferedReader, header: bytes) -> None:
    """Pass over the further blocks of an old GNU sparse map; the member is then its data, without the holes."""
    goes_on = header[SPARSE_GOES_ON]
    while goes_on and len(block := source.read(BLOCK)) == BLOCK:
        goes_on = block[SPARSE_BLOCK_GOES_ON]
