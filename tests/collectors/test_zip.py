"""Reading zip archives in one pass: whole, streamed, torn, damaged and hostile."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.streams import Damaged
from neuron_doctor.collectors.zip import is_zip, zip_members

FILES = {
    "node1/a.log": b"alpha\n" * 20_000,
    "empty": b"",
    "grüße/b.log": bytes(range(256)) * 1000,
}


class Pipe(io.RawIOBase):
    """Takes a zip that cannot go back to write sizes, as from `zip -r - dir | ...`."""

    def __init__(self) -> None:
        self.written = b""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.written += bytes(data)
        return len(data)


def packed(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, *, pipe: bool = False) -> bytes:
    out = Pipe() if pipe else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:  # type: ignore[arg-type]
        for name, content in files.items():
            archive.writestr(name, content)
    return out.written if isinstance(out, Pipe) else out.getvalue()


def read(data: bytes) -> tuple[dict[str, bytes], list[str]]:
    """What came out of each member, and what was damaged."""
    out: dict[str, bytes] = {}
    problems: list[str] = []
    try:
        for member in zip_members(io.BufferedReader(io.BytesIO(data), HEAD)):
            out[member.name] = b""
            try:
                for chunk in member.chunks:
                    out[member.name] += chunk
            except Damaged as error:
                problems.append(str(error))
    except Damaged as error:
        problems.append(str(error))
    return out, problems


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_whole_zip_gives_its_files(method: int) -> None:
    assert is_zip(packed(FILES, method))
    assert read(packed(FILES, method)) == (FILES, [])


def test_a_zip_that_was_written_into_a_pipe_is_read_too() -> None:
    assert read(packed(FILES, pipe=True)) == (FILES, [])


def test_a_zip_with_64_bit_sizes_is_read() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a", "w", force_zip64=True) as file:
        file.write(b"wide" * 1000)
    assert read(out.getvalue()) == ({"a": b"wide" * 1000}, [])


def test_folders_are_passed_over() -> None:
    assert read(packed({"node1/": b"", "node1/a": b"1"})) == ({"node1/a": b"1"}, [])


def test_an_empty_zip_is_a_zip() -> None:
    assert is_zip(packed({}))
    assert read(packed({})) == ({}, [])


def test_members_that_are_not_read_are_skipped() -> None:
    for pipe in (True, False):
        archive = zip_members(io.BufferedReader(io.BytesIO(packed(FILES, pipe=pipe)), HEAD))
        assert [member.name for member in archive] == list(FILES)


def test_a_torn_zip_gives_what_it_had() -> None:
    whole = packed({"a": b"first", "b": bytes(n * 7919 % 251 for n in range(200_000))}, zipfile.ZIP_STORED)
    files, problems = read(whole[:100_000])
    assert files["a"] == b"first"
    assert len(files["b"]) > 99_000
    assert problems == [
        f"cut off: {len(files['b'])} of 200000 bytes are there",
        "damaged or cut off: the zip has no directory at its end",
    ]


def test_one_damaged_member_does_not_lose_the_next() -> None:
    data = bytearray(packed({"a": b"alpha" * 5000, "b": b"beta"}))
    data[31:39] = b"\xff" * 8  # behind the header and the name
    files, problems = read(bytes(data))
    assert files["b"] == b"beta"
    assert [problem[:16] for problem in problems] == ["damaged zip data"]


def test_what_cannot_be_read_is_named_and_the_next_is_read() -> None:
    encrypted = bytearray(packed({"a": b"1", "b": b"2"}))
    encrypted[6] |= 1  # bit 0 of the flags in the first header
    assert read(bytes(encrypted)) == ({"a": b"", "b": b"2"}, ["encrypted: not read"])
    lzma = packed({"a": b"1"}, zipfile.ZIP_LZMA)
    assert read(lzma) == ({"a": b""}, ["compressed by zip method 14, which is not supported: not read"])


def test_a_member_without_a_known_end_is_named() -> None:
    files, problems = read(packed({"a": b"stored in a pipe"}, zipfile.ZIP_STORED, pipe=True))
    assert files == {"a": b""}
    assert problems[0] == "stored in the zip without its size: not read"


@given(st.data())
def test_no_damage_raises_anything_but_damaged(data: st.DataObject) -> None:
    archive = bytearray(packed({"a.log": b"alpha" * 30, "b": b"b"}, pipe=data.draw(st.booleans())))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(archive)))
        archive[at : at + 12] = data.draw(st.binary(max_size=12))
    read(bytes(archive[: data.draw(st.integers(0, len(archive)))]))
