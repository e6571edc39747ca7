"""Pickles of plain data load; whatever else a pickle can do is refused before it is done."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import struct
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.safe_pickle import UnsafePickle, audit, load

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=30,
)


@given(plain, st.sampled_from([2, 3, 4, 5]))
def test_plain_data_comes_back_as_it_was(value: Any, protocol: int) -> None:
    assert load(pickle.dumps(value, protocol)) == value


@given(plain, st.data())
def test_a_cut_pickle_is_refused_in_plain_words(value: Any, data: st.DataObject) -> None:
    whole = pickle.dumps(value, 2)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(UnsafePickle, match="it "):
        load(cut)


def test_a_number_of_more_than_64_bits_may_be_cut_anywhere() -> None:
    whole = pickle.dumps(2**63, 2)
    for end in range(2, len(whole)):
        with pytest.raises(UnsafePickle, match="it ends before"):
            load(whole[:end])


@given(st.binary(max_size=200))
def test_any_bytes_load_or_are_refused_and_nothing_else_happens(tail: bytes) -> None:
    with contextlib.suppress(UnsafePickle):
        assert _is_plain(load(b"\x80\x02" + tail))


def _is_plain(value: Any) -> bool:
    """Only the top is looked at: the parts may be shared a million times."""
    return isinstance(value, dict | list | tuple | str | int | float | bool | None)


class Runs:
    """An object whose pickle runs a command when it is loaded."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_runs_a_command_does_not_run_it(protocol: int, tmp_path: Any) -> None:
    mark = tmp_path / "ran"
    with pytest.raises(UnsafePickle):
        load(pickle.dumps({"entries": Runs(f"touch {mark}")}, protocol))
    assert not mark.exists()


@pytest.mark.parametrize(
    "opcode", [b"c", b"R", b"b", b"o", b"i", b"\x81", b"\x92", b"\x93", b"P", b"Q", b"\x82", b"B", b"\x8e"]
)
def test_every_instruction_that_builds_more_than_plain_data_is_refused(opcode: bytes) -> None:
    with pytest.raises(UnsafePickle):
        audit(b"\x80\x02](" + opcode + b"os\nsystem\n" + b"e.")


@pytest.mark.parametrize(
    "bomb",
    [
        b"\x80\x02]r\xff\xff\xff\x7f.",  # LONG_BINPUT 2**31-1: 32 GiB of memo
        b"\x80\x02]r\x00\x00\x00\x04.",
        b"\x80\x02X\xff\xff\xff\xffabc.",  # a string of 4 GiB
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",  # a frame of 8 EiB
        b"\x80\x02\x8a\xff" + b"\x7f" * 255 + b".",  # an integer of 2,040 bits
    ],
)
def test_a_few_bytes_cannot_ask_for_much_memory(bomb: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(UnsafePickle):
        load(bomb)
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()


def test_tuples_that_share_their_parts_load_in_an_instant() -> None:
    shared = b"\x80\x02)q\x00" + b"".join(b"h%ch%c\x86q%c" % (n, n, n + 1) for n in range(60)) + b"."
    assert isinstance(load(shared), tuple)


def test_a_hundred_thousand_nested_lists_load_without_recursion() -> None:
    depth = 100_000
    value = load(b"\x80\x02" + b"]" * depth + b"a" * (depth - 1) + b".")
    assert isinstance(value, list)


def test_memo_indexes_up_to_the_size_of_the_file_are_fine() -> None:
    out = io.BytesIO(b"\x80\x02](")
    out.seek(0, io.SEEK_END)
    for index in range(70_000):
        name = b"%d" % index
        put = b"q" + bytes([index]) if index < 256 else b"r" + struct.pack("<I", index)
        out.write(b"X" + struct.pack("<I", len(name)) + name + put)
    out.write(b"e.")
    value = load(out.getvalue())
    assert isinstance(value, list)
    assert value[-1] == "69999"


def test_the_audit_is_linear() -> None:
    def seconds(size: int) -> float:
        data = pickle.dumps([{"name": "x", "line": n} for n in range(size)], 2)
        begin = time.process_time()
        audit(data)
        return time.process_time() - begin

    small = min(seconds(5_000) for _ in range(3))
    assert min(seconds(50_000) for _ in range(3)) < 40 * small + 0.01
