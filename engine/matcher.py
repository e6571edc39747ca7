"""Finds candidates of all patterns in a block of bytes at once: Vectorscan where its wheel is, literals where not.

A candidate is only that: the pattern's own regex on the line decides. So both engines give the same facts.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.regexes import regex

if TYPE_CHECKING:
    import hyperscan


class Matcher(Protocol):
    """`find(block)` gives (end offset within the block, index of the pattern) pairs, in no promised order."""

    def find(self, block: bytes) -> list[tuple[int, int]]:
        """Candidates in a block that ends at a line end."""


class Store(Protocol):
    """Keeps bytes between runs, if it can."""

    def get(self, sort: str, key: str) -> bytes | None:
        """What was put there, or None."""

    def put(self, sort: str, key: str, content: bytes) -> None:
        """Keep these bytes."""


def build_matcher(patterns: Sequence[Pattern], *, pure: bool = False, store: Store | None = None) -> Matcher:
    """The best engine that is here; `pure` asks for the one without the wheel. What it compiles is kept in the store."""
    if not pure:
        try:
            return _Vectorscan(patterns, store)
        except ImportError:
            pass
    return _Literals(patterns)


#: How databases are kept; the format counts up whenever `loosened` or the flags change.
_SORT, _FORMAT = "patterns", 1


class _Vectorscan:
    """One block-mode database. MULTILINE, so that `^` and `$` mean lines; never DOTALL; PREFILTER, so that what the
    library cannot express becomes a superset."""

    def __init__(self, patterns: Sequence[Pattern], store: Store | None) -> None:
        import hyperscan  # noqa: PLC0415, F401 - an optional wheel

        self._patterns = patterns
        self._store = store

    @cached_property
    def _database(self) -> hyperscan.Database:
        """Made for the first block of text: flight-recorder dumps and other records need none. Read back where the store has
        it for this library, machine and these patterns; the library refuses what was compiled for another processor."""
        import hyperscan  # noqa: PLC0415

        searched = "\n".join(p.search for p in self._patterns)
        version = getattr(hyperscan, "__version__", "")
        known = f"{_FORMAT} {version} {os.uname().machine}\n{searched}"
        key = hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()
        kept = self._store.get(_SORT, key) if self._store else None
        if kept:
            try:
                database = hyperscan.loadb(kept, hyperscan.HS_MODE_BLOCK)
                database.scratch = hyperscan.Scratch(database)
            except hyperscan.HyperscanError:
                pass
            else:
                return database
        database = self._compiled()
        if self._store:
            self._store.put(_SORT, key, hyperscan.dumpb(database))
        return database

    def _compiled(self) -> hyperscan.Database:
        import hyperscan  # noqa: PLC0415

        flags = hyperscan.HS_FLAG_MULTILINE | hyperscan.HS_FLAG_PREFILTER
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        database.compile(
            expressions=[loosened(p.search).encode() for p in self._patterns],
            ids=list(range(len(self._patterns))),
            elements=len(self._patterns),
            flags=[flags] * len(self._patterns),
        )
        return database

    def find(self, block: bytes) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        if not self._patterns:
            return found

        def on_match(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append((end, index))

        self._database.scan(block, match_event_handler=on_match)
        return found


class _Literals:
    """For each pattern, a literal that every match must contain; then the regex itself on the block."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._entries = [
            (required_literal(s), re.compile(s.encode(), re.MULTILINE)) for s in (loosened(p.search) for p in patterns)
        ]

    def find(self, block: bytes) -> list[tuple[int, int]]:
        return [hit for index, entry in enumerate(self._entries) for hit in self._of(block, index, entry)]

    def _of(self, block: bytes, index: int, entry: tuple[bytes, re.Pattern[bytes]]) -> Iterator[tuple[int, int]]:
        literal, regex = entry
        if not literal:
            yield from ((m.end(), index) for m in regex.finditer(block))
            return
        at = block.find(literal)
        while at >= 0:
            yield at + len(literal), index
            at = block.find(literal, at + len(literal))


#: What may follow an atom to make it optional or repeated, and what is no literal character.
_QUANTIFIER = regex(r"[*?]|\{\d*,?\d*\}")
_PLUS = regex(r"\+")
_SPECIAL = set(".^$*+?{}[]\\|()")


def _split_atoms(regex: str) -> Iterator[str]:
    """The atoms of a regex at its top level: single characters, escapes, classes, whole groups, and their quantifiers."""
    i = 0
    while i < len(regex):
        end = _atom_end(regex, i)
        yield regex[i:end]
        i = end


def _atom_end(regex: str, i: int) -> int:
    if regex[i] == "\\":
        return i + 2
    if regex[i] == "[":
        end = i + 2 if regex[i + 1 : i + 2] not in ("^", "]") else i + 3
        while regex[end - 1] != "]" or regex[end - 2] == "\\":
            end += 1
        return end
    if regex[i] == "(":
        return _group_end(regex, i)
    quantifier = _QUANTIFIER.match(regex, i) or _PLUS.match(regex, i)
    return quantifier.end() if quantifier else i + 1


def _group_end(regex: str, i: int) -> int:
    depth, end = 1, i + 1
    while depth and end < len(regex):
        step = _atom_end(regex, end) if regex[end] in "\\[" else end + 1
        depth += {"(": 1, ")": -1}.get(regex[end], 0)
        end = step
    return end


def required_literal(regex: str) -> bytes:
    """The longest run of plain characters that every match contains; empty where none is sure (alternatives at the top
    level, ignored case)."""
    atoms = list(_split_atoms(regex))
    if "|" in atoms or "(?i" in regex:
        return b""
    runs, run = [""], ""
    for atom, following in zip(atoms, [*atoms[1:], ""], strict=True):
        character = _literal_of(atom)
        optional = bool(following) and bool(_QUANTIFIER.fullmatch(following))
        repeated = following == "+"
        run = run + character if character and not optional else ""
        runs.append(run)
        if atom[0] == "(" and not optional and (inner := _PLAIN_GROUP.match(atom)):
            runs.append(required_literal(atom[inner.end() : -1]).decode())
        if repeated:
            run = ""
    return max(runs, key=len).encode()


_PLAIN_GROUP = regex(r"\((?:\?:|\?P<\w+>|(?!\?))")


def _literal_of(atom: str) -> str:
    if len(atom) == 1 and atom not in _SPECIAL:
        return atom
    return atom[1] if len(atom) == 2 and atom[0] == "\\" and not atom[1].isalnum() else ""  # noqa: PLR2004 - an escape


#: A trailing capture of many characters only makes events: its first character proves as much.
_TAIL: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (regex(r"\((?:\?P<\w+>)?(\\d|\\S|\.|\[[^\]\\]+\])\+\)$"), lambda m: m[1]),
    (regex(r"\((?:\?P<\w+>)?\.\*\)$"), lambda _: ""),
)


#: A gap of so many characters. The database counts bytes, and an open gap is cheaper there than a counted one.
_GAP = regex(r"(?:(?<!\\)(?:\.|\\S)|\[\^[^\]\\]*(?:\\.[^\]\\]*)*\])\{\d+,\d+\}")


#: `^` where an alternative begins, `$` where one ends.
_ANCHOR = regex(r"(?:(?<=[|(:>])|\A)\^|(?<!\\)\$(?=[|)]|\Z)")


def loosened(regex: str) -> str:
    """The expression for the database: the same lines, far fewer events. An anchor to the message's start or end goes
    too, because prefixes and colours stand around the message."""
    regex = _ANCHOR.sub("", regex)
    regex = _GAP.sub(".*", regex)
    for tail, replacement in _TAIL:
        if tail.search(regex) and "|" not in list(_split_atoms(regex)):
            regex = tail.sub(replacement, regex)
    return regex
