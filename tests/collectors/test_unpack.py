"""Unpacking the compressed formats: whole, in several frames, torn, damaged, with something behind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors import unpack
from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.streams import CHUNK, Damaged
from neuron_doctor.collectors.unpack import codec_of, unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstd.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
LOG = b"".join(b"2026-Jan-01 00:00:00.%06d 1:1 ERROR TDRV:f %d\n" % (n, n * 7919) for n in range(12_000))
PACKED_LOG = {name: pack(LOG) for name, pack in PACKERS.items()}


def read(packed: bytes) -> tuple[bytes, str]:
    """What came out, and what was damaged."""
    codec = codec_of(packed)
    assert codec is not None
    out = io.BytesIO()
    try:
        for chunk in unpacked(io.BufferedReader(io.BytesIO(packed), HEAD), codec):
            assert 0 < len(chunk) <= CHUNK
            out.write(chunk)
    except Damaged as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


@pytest.fixture(params=[*sorted(PACKERS), "gzip without isal"])
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A format; gzip with either library."""
    if request.param.endswith("without isal"):
        monkeypatch.setitem(sys.modules, "isal", None)
    return str(request.param.split()[0])


@pytest.mark.parametrize("text", [b"", b"x", LOG, b"\0" * 3_000_000], ids=["empty", "byte", "log", "zeros"])
def test_a_whole_file_is_unpacked_whole(name: str, text: bytes) -> None:
    assert codec_of(PACKERS[name](text)).name == name  # type: ignore[union-attr]
    assert read(PACKERS[name](text)) == (text, "")


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9, 0.9999])
def test_a_torn_file_gives_what_it_had(name: str, cut: float) -> None:
    packed = PACKED_LOG[name]
    text, problem = read(packed[: int(len(packed) * cut)])
    assert LOG.startswith(text)
    assert problem == f"cut off: the {name} data has no end"
    if name in {"gzip", "xz"}:  # the others write blocks so large that a torn one holds nothing that can be read
        assert len(text) > len(LOG) * (cut - 0.1)


@pytest.mark.parametrize("padding", [b"", b"\0" * 4, b"\0" * 70_000])
def test_frames_that_follow_one_another_are_one_text(name: str, padding: bytes) -> None:
    pack = PACKERS[name]
    assert read(PACKED_LOG[name] + padding + pack(b"tail") + padding + pack(b"")) == (LOG + b"tail", "")


@pytest.mark.parametrize("behind", [b"plain text that someone appended", b"\0\0x"])
def test_what_stands_behind_the_packed_data_is_a_problem_and_the_data_is_kept(name: str, behind: bytes) -> None:
    text, problem = read(PACKED_LOG[name] + behind)
    assert text == LOG
    assert name in problem


def test_a_damaged_middle_ends_the_text_there(name: str) -> None:
    packed = bytearray(PACKED_LOG[name])
    middle = len(packed) // 2
    packed[middle : middle + 64] = b"\xff" * 64
    text, problem = read(bytes(packed))
    assert problem.startswith(f"damaged {name} data: the rest is lost (")
    assert len(text) < len(LOG)


def test_zstd_frames_that_are_to_be_skipped_are_skipped() -> None:
    skippable = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    assert read(skippable + zstd.compress(LOG) + skippable) == (LOG, "")


def test_a_bomb_is_unpacked_in_constant_memory(name: str) -> None:
    bomb = PACKERS[name](b"\0" * 20_000_000)
    codec = codec_of(bomb)
    assert codec is not None
    list(unpacked(io.BufferedReader(io.BytesIO(PACKERS[name](b"x")), HEAD), codec))
    tracemalloc.start()
    size = sum(map(len, unpacked(io.BufferedReader(io.BytesIO(bomb), HEAD), codec)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == 20_000_000
    assert peak < 12_000_000  # of which 8 MiB are the dictionary of xz


def test_an_xz_that_asks_for_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "XZ_MEMORY", 1_000_000)
    assert read(lzma.compress(LOG, preset=9))[1].startswith("damaged xz data")


@pytest.mark.parametrize("head", [b"", b"\x1f", b"BZh9 is how this text begins", b"2026-Jan-01 ERROR", b"PK\3\4"])
def test_what_is_not_compressed_has_no_codec(head: bytes) -> None:
    assert codec_of(head) is None


@given(st.sampled_from(sorted(PACKERS)), st.binary(max_size=300), st.data())
def test_no_damage_raises_anything_but_damaged(name: str, text: bytes, data: st.DataObject) -> None:
    packed = bytearray(PACKERS[name](text))
    at = data.draw(st.integers(len(codec_of(packed).magic[0]), len(packed)))  # type: ignore[union-attr, arg-type]
    packed[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    if codec_of(bytes(packed)) is not None:
        read(bytes(packed))
