"""Reading tar archives in one pass: all dialects, torn, damaged and hostile."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.streams import Damaged
from neuron_doctor.collectors.tar import MAX_EXTENSION, is_tar, tar_members

FILES = {
    "node1/a.log": b"alpha\n" * 100,
    "node1/empty": b"",
    "node2/" + "long/" * 60 + "b.log": b"b" * 100_000,
    "grüße/ü.log": b"u" * 512,
}
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def packed(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def header(name: str = "x", size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


def read(data: bytes) -> tuple[dict[str, bytes], list[str]]:
    """What came out of each member, and what was damaged."""
    out: dict[str, bytes] = {}
    problems: list[str] = []
    try:
        for member in tar_members(io.BufferedReader(io.BytesIO(data), HEAD)):
            out[member.name] = b""
            try:
                for chunk in member.chunks:
                    out[member.name] += chunk
            except Damaged as error:
                problems.append(str(error))
    except Damaged as error:
        problems.append(str(error))
    return out, problems


@pytest.mark.parametrize("form", FORMATS)
def test_every_dialect_gives_its_files(form: str) -> None:
    files = {name: content for name, content in FILES.items() if form != "ustar" or len(name) < 100}
    assert is_tar(packed(files, FORMATS[form]))
    assert read(packed(files, FORMATS[form])) == (files, [])


def test_a_header_without_a_magic_is_known_by_its_checksum() -> None:
    block = bytearray(header("old.log", 5))
    block[257:265] = bytes(8)
    block[148:156] = b"%06o\0 " % (sum(block) - sum(block[148:156]) + 8 * 32)
    data = bytes(block) + b"hello".ljust(512, b"\0") + bytes(1024)
    assert is_tar(data)
    assert read(data) == ({"old.log": b"hello"}, [])


def test_folders_links_and_devices_are_passed_over() -> None:
    kinds = (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE)
    others = b"".join(header("other", 512, kind) for kind in kinds)
    assert read(others + packed({"x.log": b"x"})) == ({"x.log": b"x"}, [])


def test_several_tars_behind_one_another_are_read_through() -> None:
    assert read(packed({"a": b"1"}) + packed({"b": b"2"})) == ({"a": b"1", "b": b"2"}, [])


def test_members_that_are_not_read_are_skipped() -> None:
    archive = tar_members(io.BufferedReader(io.BytesIO(packed(FILES)), HEAD))
    assert [member.name for member in archive] == list(FILES)


def test_a_torn_member_gives_its_bytes_up_to_the_tear() -> None:
    whole = packed({"a.log": b"first", "b.log": b"x" * 50_000})
    torn = whole[: whole.index(b"xxxx") + 30_001]
    assert read(torn) == (
        {"a.log": b"first", "b.log": b"x" * 30_001},
        ["cut off: 30001 of 50000 bytes are there", "cut off: the tar has no end mark"],
    )


def test_an_archive_without_its_end_mark_is_told() -> None:
    whole = packed({"a.log": b"first"})
    assert read(whole[:1024]) == ({"a.log": b"first"}, ["cut off: the tar has no end mark"])


def test_a_damaged_header_ends_the_archive_there() -> None:
    data = header("a", 1) + b"1".ljust(512, b"\0") + b"no header" * 100
    files, (problem,) = read(data)
    assert files == {"a": b"1"}
    assert problem.startswith("damaged tar: the rest is lost (")


@pytest.mark.parametrize(
    "hostile",
    [
        header("L", MAX_EXTENSION + 1, tarfile.GNUTYPE_LONGNAME),
        header("x", MAX_EXTENSION + 1, tarfile.XHDTYPE),
        header("x", 12, tarfile.XHDTYPE) + b"99 path=abc\n".ljust(512, b"\0"),
        header("x", 12, tarfile.XHDTYPE) + b"0 path=abcd\n".ljust(512, b"\0"),
        header("x", 12, tarfile.XHDTYPE) + b"12 size=9x9\n".ljust(512, b"\0"),
        header("x", 300, tarfile.XHDTYPE) + b"300 size=".ljust(299, b"9").ljust(300, b"\n").ljust(512, b"\0"),
        header("x", 200, tarfile.XHDTYPE) + b"9" * 512,
    ],
    ids=["long name", "long pax", "past its end", "no advance", "no number", "huge number", "endless length"],
)
def test_headers_that_lie_end_the_archive(hostile: bytes) -> None:
    files, (problem,) = read(hostile + packed({"a": b"1"}))
    assert files == {}
    assert problem.startswith("damaged tar: the rest is lost (")


def test_a_sparse_file_is_its_data_without_the_holes() -> None:
    block = bytearray(header("core", 512, tarfile.GNUTYPE_SPARSE))
    block[482] = 1
    block[148:156] = b"%06o\0 " % (sum(block) - sum(block[148:156]) + 8 * 32)
    data = bytes(block) + bytes(504) + b"\1" + bytes(7) + bytes(512) + b"d" * 512 + bytes(1024)
    assert read(data) == ({"core": b"d" * 512}, [])


@pytest.mark.parametrize("head", [b"", b"\0" * 512, b"2026-Jan-01 00:00:00 log line\n" * 40, b"0" * 512])
def test_what_is_no_tar_is_not_taken_for_one(head: bytes) -> None:
    assert not is_tar(head)


@given(st.data())
def test_no_damage_raises_anything_but_damaged(data: st.DataObject) -> None:
    archive = bytearray(packed({"a.log": b"alpha" * 30, "n" * 120: b"b"}, tarfile.PAX_FORMAT))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, 4096))
        archive[at : at + 12] = data.draw(st.binary(max_size=12))
    read(bytes(archive[: data.draw(st.integers(0, len(archive)))]))
