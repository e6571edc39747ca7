"""Shortens the pickle of a dump before it is read: of its thousands of entries only those that may tell something.

What has completed long ago is needed as a number only. In the pickle that torch writes (schemas 2.1 to 2.10) an entry
that defines no string is a run of bytes by itself, whose beginning says which group and which operation it is of. So
those entries are found by a regular expression, counted, and cut out; what is left is a smaller pickle, which is audited
and loaded like any other. Nothing is taken on trust: `excerpt_of` gives None where the layout is another one, and
whoever loads the excerpt must find the records that it promises (`Excerpt.entries`), else the whole is to be read.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, compress, count, repeat
from operator import add, contains, not_

from msgspec import Struct

from neuron_doctor.engine.recorder import RECENT
from neuron_doctor.engine.regexes import regex

_HEAD = 1 << 20
_INT = rb"(?:K.|M..|J....|\x8a\x08.{8})"
_REF = rb"(?:h.|j....)"
_FRAMES = rb"\](?:\(" + _REF + rb"*+e)?"
_REFS_OF_GROUP = _REF + _REF + rb"\x86"

#: The first keys of an entry, in their order, with the bytes that their values take.
_KEYS = (
    (b"frames", _FRAMES),
    (b"record_id", _INT),
    (b"pg_id", _INT),
    (b"process_group", _REFS_OF_GROUP),
    (b"thread_name", _REF),
    (b"thread_id", _REF),
    (b"collective_seq_id", _INT),
    (b"p2p_seq_id", _INT),
    (b"op_id", _INT),
    (b"profiling_name", _REF),
)
_OPTIONAL = {b"frames", b"thread_name", b"thread_id"}
#: Which of their values tell the sort of an entry, and which number it.
_SORT, _NUMBERS = {b"process_group", b"profiling_name"}, {b"record_id", b"collective_seq_id"}
#: What `re.split` gives for each entry: the matched beginning, the two values of its sort, and the rest.
_FIELDS = 4

_COALESCED = b"coalesced"
#: The beginning of a string, which an entry that is cut out must not define.
_DEFINITION = regex(rb"X..\x00\x00", re.DOTALL)


class Left(Struct, frozen=True):
    """Entries of one group and name that were cut out: how many, the lowest of their numbers in the group, and the
    `record_id` of one that is left in."""

    example: int
    times: int
    first: int


class Excerpt(Struct, frozen=True):
    """A shorter pickle, and what was cut out of it."""

    data: bytes
    left: tuple[Left, ...]


class _Parts(Struct, frozen=True):
    """The pickle in pieces: what stands before the second entry, then for each entry its beginning, the group and the name
    that it refers to, and its rest; the last rest goes on to the end of the pickle."""

    head: bytes
    beginnings: list[bytes]
    groups: list[bytes]
    names: list[bytes]
    rests: list[bytes]


def excerpt_of(data: bytes) -> Excerpt | None:
    """The pickle without entries that completed before the last ones of their group; None where that cannot be told."""
    beginning, numbered = _beginning(data, _SORT), _beginning(data, _NUMBERS)
    state, completed = _reference(data, b"state"), _reference(data, b"completed")
    if beginning is None or numbered is None or state is None or completed is None:
        return None
    head, *fields = beginning.split(data)
    if not fields:
        return None
    parts = _Parts(head, *(fields[at::_FIELDS] for at in range(_FIELDS)))
    kept = _unusual(parts, state + completed, _closings(data))
    left = [
        Left(_numbers(numbered, parts.beginnings[last])[0], times, _numbers(numbered, parts.beginnings[first])[1])
        for first, last, times in _left_out(parts, kept)
    ]
    pieces = ((parts.beginnings[place], parts.rests[place]) for place in sorted(kept))
    return Excerpt(b"".join(chain([head], *pieces)), tuple(left))


def _unusual(parts: _Parts, done: bytes, closings: set[bytes]) -> set[int]:
    """The places of the last entry and of those that have not completed, define a string, or close a batch."""
    found = {len(parts.rests) - 1}
    found.update(compress(count(), map(not_, map(contains, parts.rests, repeat(done)))))
    with_x = compress(count(), map(contains, parts.rests, repeat(b"X")))
    found.update(place for place in with_x if _DEFINITION.search(parts.rests[place]))
    if closings:
        found.update(compress(count(), map(closings.__contains__, parts.names)))
    return found


def _left_out(parts: _Parts, kept: set[int]) -> Iterator[tuple[int, int, int]]:
    """The first and the last entry of each sort of which some are left out, and how many are. Adds to `kept` the last
    `RECENT` ones of each group, collectives and transfers apart, and the last of each sort."""
    places = defaultdict[bytes, list[int]](list)
    for place, sort in enumerate(map(add, parts.groups, parts.names)):
        places[sort].append(place)
    pools = defaultdict[bytes, list[list[int]]](list)
    for at in places.values():
        plain = at if kept.isdisjoint(at) else [place for place in at if place not in kept]
        if plain:
            is_transfer = parts.rests[plain[0]][-1:]  # the last value of an entry
            pools[parts.groups[plain[0]] + is_transfer].append(plain)
    for pool in pools.values():
        recent = sorted(chain.from_iterable(plain[-RECENT:] for plain in pool))[-RECENT:]
        for plain in pool:
            times = min(bisect_left(plain, recent[0]), len(plain) - 1)
            kept.update(plain[times:])
            if times:
                yield plain[0], plain[-1], times


def _beginning(data: bytes, wanted: set[bytes]) -> re.Pattern[bytes] | None:
    """What matches the beginning of an entry that defines nothing, from the end of the one before; it captures the
    whole and the wanted values."""
    parts = []
    for key, value in _KEYS:
        reference = _reference(data, key)
        if reference is not None:
            parts.append(re.escape(reference) + (b"(%b)" % value if key in wanted else value))
        elif key not in _OPTIONAL:
            return None
    return re.compile(b"(?s)(u}\\(%b)" % b"".join(parts))


def _numbers(numbered: re.Pattern[bytes], beginning: bytes) -> tuple[int, int]:
    """The `record_id` and the number in its group of an entry that begins like this."""
    match = numbered.match(beginning)
    return (_integer(match[2]), _integer(match[3])) if match else (-1, -1)


def _reference(data: bytes, text: bytes) -> bytes | None:
    """The instruction that fetches a string, if the first part of the pickle defines it."""
    definition = b"X" + len(text).to_bytes(4, "little") + text
    at = data.find(definition, 0, _HEAD)
    put = data[at + len(definition) : at + len(definition) + 5]
    return _get(put) if at >= 0 and put[:1] in {b"q", b"r"} else None


def _closings(data: bytes) -> set[bytes]:
    """What fetches the names of entries that close a batch."""
    found: set[bytes] = set()
    at = data.find(_COALESCED)
    while at >= 0:
        put = data[at + len(_COALESCED) : at + len(_COALESCED) + 5]
        found.add(_get(put))
        at = data.find(_COALESCED, at + 1)
    return found


def _get(put: bytes) -> bytes:
    """The instruction that fetches what `put` stores."""
    return b"h" + put[1:2] if put[:1] == b"q" else b"j" + put[1:5]


def _integer(pickled: bytes) -> int:
    return int.from_bytes(
        pickled[2 if pickled[:1] == b"\x8a" else 1 :], "little", signed=pickled[:1] in {b"J", b"\x8a"}
    )
