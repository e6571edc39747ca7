"""Finds candidates of all patterns in a block of bytes at once: Vectorscan where its wheel is, literals where not.

A candidate is only that: the pattern's own regex on the line decides. So both engines give the same facts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from neuron_doctor.engine.digests import blake2b
from neuron_doctor.engine.leads import spelled
from neuron_doctor.engine.loosening import required_literal, sought
from neuron_doctor.engine.patterns import Pattern

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


#: How databases are kept; the format counts up whenever `sought`, `spelled` or the flags change.
_SORT, _FORMAT = "patterns", 9


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

        searched = "\n".join(f"{p.emits} {p.search}" for p in self._patterns)
        version = getattr(hyperscan, "__version__", "")
        known = f"{_FORMAT} {version} {os.uname().machine}\n{searched}"
        key = blake2b(known.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
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
            expressions=[spelled(sought(p)).encode() for p in self._patterns],
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
        self._entries = [(required_literal(s), re.compile(s.encode(), re.MULTILINE)) for s in map(sought, patterns)]

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
