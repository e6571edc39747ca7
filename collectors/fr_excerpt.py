"""Shortens the pickle of a dump before it is read: of its thousands of entries only those that may tell something.

What has completed long ago is needed as a number only. In the pickle that torch writes (schemas 2.1 to 2.10) an entry
that defines no string is a run of bytes by itself, whose beginning says which group and which operation it is of. So
those entries are found by a regular expression, counted, and cut out; what is left is a smaller pickle, which is audited
and loaded like any other. Nothing is taken on trust: `excerpt_of` gives None where the layout is another one, and
whoever loads the excerpt must find the records that it promises (`Excerpt.entries`), else the whole is to be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

#: This many completed operations of each sort are left in.
RECENT = 32

_HEAD = 1 << 20
_INT = rb"(?:K.|M..|J....|\x8a\x08.{8})"
_REF = rb"(?:h.|j....)"
_FRAMES = rb"\](?:\(" + _REF + rb"*+e)?"
_REFS_OF_GROUP = _REF + _REF + rb"\x86"

#: The first keys of an entry, in their order, with the bytes that their values take and whether those are wanted.
_KEYS = (
    (b"frames", _FRAMES, False),
    (b"record_id", _INT, True),
    (b"pg_id", _INT, False),
    (b"process_group", _REFS_OF_GROUP, True),
    (b"thread_name", _REF, False),
    (b"thread_id", _REF, False),
    (b"collective_seq_id", _INT, True),
    (b"p2p_seq_id", _INT, False),
    (b"op_id", _INT, False),
    (b"profiling_name", _REF, True),
)
_OPTIONAL = {b"frames", b"thread_name", b"thread_id"}
#: What `re.split` gives for each entry: the matched beginning, the four wanted values, and the rest.
_FIELDS = 6

_COALESCED = b"coalesced"
#: The beginning of a string, which an entry that is cut out must not define.
_DEFINITION = re.compile(rb"X..\x00\x00", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Left:
    """Entries of one group and name that were cut out: how many, the lowest of their numbers in the group, and the
    `record_id` of one that is left in."""

    example: int
    times: int
    first: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A shorter pickle, and what was cut out of it."""

    data: bytes
    left: tuple[Left, ...]


def excerpt_of(data: bytes) -> Excerpt | None:
    """The pickle without entries that completed before the last ones of their sort; None where that cannot be told."""
    beginning = _beginning(data)
    completed = _reference(data, b"completed")
    if beginning is None or completed is None:
        return None
    done = (_reference(data, b"state") or b"") + completed
    head, *fields = beginning.split(data)
    if not fields:
        return None
    closings = _closings(data)
    cores, records, groups, numbers, names, rests = (fields[at::_FIELDS][::-1] for at in range(_FIELDS))
    kept, examples = [rests[0], cores[0]], dict[bytes, bytes]()
    seen, firsts = dict[bytes, int](), dict[bytes, bytes]()
    # From the last but one to the first. This loop sees every entry, so it is spelled out.
    rows = zip(cores, records, groups, numbers, names, rests, strict=True)
    for core, record, group, number, name, rest in islice(rows, 1, None):
        if done in rest and not (b"X" in rest and _DEFINITION.search(rest)) and name not in closings:
            sort = group + name
            if sort in seen:
                seen[sort] += 1
                if seen[sort] > RECENT:
                    firsts[sort] = number
                    continue
            else:
                seen[sort], examples[sort] = 1, record
        kept += (rest, core)
    kept.append(head)
    left = tuple(
        Left(_integer(examples[sort]), seen[sort] - RECENT, _integer(number)) for sort, number in firsts.items()
    )
    return Excerpt(b"".join(reversed(kept)), left)


def _beginning(data: bytes) -> re.Pattern[bytes] | None:
    """What matches the beginning of an entry that defines nothing, from the end of the one before."""
    parts = []
    for key, value, wanted in _KEYS:
        reference = _reference(data, key)
        if reference is not None:
            parts.append(re.escape(reference) + (b"(%b)" % value if wanted else value))
        elif key not in _OPTIONAL:
            return None
    return re.compile(b"(?s)(u}\\(%b)" % b"".join(parts))


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
