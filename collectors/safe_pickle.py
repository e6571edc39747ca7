"""Loads the pickle of a diagnostic dump as plain data: no class is resolved and no length field is believed.

A pickle can name any callable, and a nine-byte one can ask for gigabytes (a memo index of 2**31). So the opcodes are
audited first, at the speed of the regular-expression engine, and only those that build plain data within the size of
the file are let through to the C unpickler. Nested tuples may still share their parts: whoever walks the result must
look only at what it knows, and never hash, compare or format a value of unknown type.
"""

from __future__ import annotations

import gc
import io
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import NoReturn

from neuron_doctor.engine.regexes import regex

_HEADER = regex(rb"(?s:\x80[\x02-\x05])")
_STOP, _FRAME = b".", b"\x95"

#: Opcodes that a length follows, and how many bytes that length has: BINUNICODE, SHORT_BINUNICODE.
_STRINGS = {b"X": 4, b"\x8c": 1}

#: How long the opcodes with an operand of fixed length are, and the longest LONG1 that is let through.
_LENGTHS = {b"q": 2, b"h": 2, b"K": 2, b"M": 3, b"J": 5, b"j": 5, b"r": 5, b"G": 9, b"\x8a": 11}

# Runs of the opcodes of fixed length that torch's C++ pickler writes, or Python's own when plain data is saved again:
# EMPTY_DICT EMPTY_LIST MARK TUPLE SETITEMS APPENDS TUPLE1-3 NONE NEWTRUE NEWFALSE EMPTY_TUPLE APPEND SETITEM MEMOIZE,
# BINPUT BINGET BININT1, BININT2, BININT LONG_BINGET, LONG_BINPUT, LONG1 of at most 9 bytes (64 bits), BINFLOAT.
_RUN = (
    rb"(?s:(?:[}\](tue\x85-\x87N\x88\x89)as\x94]*+(?:[qhK].)*+"
    rb"(?:M..|[Jj]....|r..[\x00-\x%02x][\x00-\x%02x]|\x8a\x08.{8}|G.{8}|%b)?+)*+)"
)
_LONG1 = b"|".join(rb"\x8a\x%02x.{%d}" % (size, size) for size in (*range(8), 9))


class UnsafePickle(Exception):
    """The bytes are no complete pickle of plain data; the message says why, in plain words."""


class TornPickle(UnsafePickle):
    """What there is of it is plain data, and it ends before it is complete."""

    def __init__(self) -> None:
        super().__init__("it ends before it is complete")


class _PlainDataUnpickler(pickle.Unpickler):
    """The second lock: it resolves nothing, even if the audit had a hole."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise UnsafePickle(f"it names code to run ({module_name[:80]}.{global_name[:80]}); nothing was run")

    def persistent_load(self, _pid: object, /) -> NoReturn:
        raise UnsafePickle("it refers to objects outside itself")


def load(data: bytes) -> object:
    """The plain data of a pickle: dicts, lists, tuples, strings, numbers, booleans and None. Raises UnsafePickle."""
    audit(data)
    # Over a bare BytesIO, which has no `peek`, the C unpickler makes a Python call for every field.
    stream = io.BufferedReader(io.BytesIO(data), buffer_size=1 << 20)
    try:
        with without_cycle_collection():
            return _PlainDataUnpickler(stream).load()
    except (pickle.UnpicklingError, EOFError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise UnsafePickle("it is damaged: its instructions do not fit together") from error


def audit(data: bytes) -> None:
    """Raise UnsafePickle unless `data` starts with one whole pickle of plain data whose lengths fit into it.

    Linear in the size: one pass of a regular expression over everything but the strings.
    """
    header = _HEADER.match(data)
    if header is None:
        raise UnsafePickle("it does not start like a pickle")
    run, position = _run_of_opcodes((len(data) >> 16).bit_length()), header.end()
    while True:
        match = run.match(data, position)
        position = match.end() if match else position
        opcode = data[position : position + 1]
        if opcode == _STOP:
            return
        position = _after_string(data, position, opcode)


@lru_cache(maxsize=32)
def _run_of_opcodes(bits: int) -> re.Pattern[bytes]:
    """Matches a run of opcodes of fixed length whose memo indexes are below 2 ** (16 + bits): about the file's size."""
    highest = (1 << bits) - 1
    return re.compile(_RUN % (min(highest, 255), highest >> 8, _LONG1))


def _after_string(data: bytes, position: int, opcode: bytes) -> int:
    """Where the opcode after the string (or the frame header) at `position` stands."""
    width = 8 if opcode == _FRAME else _STRINGS.get(opcode)
    if width is None:
        if not opcode or position + _LENGTHS.get(opcode, 1) > len(data):
            raise TornPickle
        what = f"instruction 0x{opcode.hex()} at byte {position}"
        raise UnsafePickle(f"{what} is none that a dump needs, or asks for too much")
    start = position + 1 + width
    end = start + int.from_bytes(data[position + 1 : start], "little")
    if end > len(data):
        raise TornPickle
    return start if opcode == _FRAME else end


@contextmanager
def without_cycle_collection() -> Iterator[None]:
    """For what builds many objects that are all alive, or all free, in the end: the cycle collector would look at them
    again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
