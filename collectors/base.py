"""What every collector has in common: the input that it is handed, and the shape of a collector."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import BufferedReader

import msgspec
from msgspec import Struct, field

from neuron_doctor.collectors.blocks import WHOLE, Extent
from neuron_doctor.collectors.coverage import Coverage
from neuron_doctor.engine.facts import NOWHERE, About, Fact, Gap, Instant, Place, Problem

#: This much of an input is looked at to find out what it is.
HEAD = 64 * 1024

#: What msgspec's JSON decoders raise: malformed, cut off, or of other types; not UTF-8; nested too deeply.
UNREADABLE_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class UnreadableInput(Exception):
    """The input is of this kind and nothing at all could be read from it; the message says why, in plain words."""


class SniffFailed(Exception):
    """A collector that is not ours could not say whether an input is of its kind; the message says why."""


class Input(Struct):
    """One input on its way through a collector.

    `path` is what reports show; `name` the last part of it; `stream` is positioned at the start, has `peek`, and can be
    read once; `size` is -1 where it is not known beforehand; `place` is what the path hints at. A collector adds
    `problems` as it meets them, sets `records`, and `first`, `last` and `gaps` where its format has times; it may refine
    `kind`, which is its own at first. Of `extent`, a divisible collector is to read only that part, and to count lines
    from there; `coverage` is what it saw of times. `unended`: the last line of a text has no end. `ranks`: those that it is
    known to be from, beside what facts tell.
    """

    path: str
    name: str
    stream: BufferedReader
    size: int = -1
    place: Place = NOWHERE
    source_id: str = ""
    records: int = 0
    kind: str = ""
    first: Instant | None = None
    last: Instant | None = None
    gaps: list[Gap] = field(default_factory=list)
    problems: dict[str, Problem] = field(default_factory=dict)
    unended: bool = False
    ranks: frozenset[int] = frozenset()
    extent: Extent = WHOLE
    coverage: Coverage = field(default_factory=Coverage)
    _head: bytes | None = None

    def head(self) -> bytes:
        """The first `HEAD` bytes. Many ask for them, and the stream copies them each time. The first must ask before it reads."""
        if self._head is None:
            self._head = self.stream.peek(HEAD)[:HEAD]
        return self._head

    def problem(self, what: str, line: int | None = None, about: About = About.OTHER) -> None:
        """Count one more occurrence of `what`; the first line is kept."""
        seen = self.problems.get(what)
        self.problems[what] = Problem(what, *((line, 1) if seen is None else (seen.line, seen.count + 1)), about)


class Collector(Struct, frozen=True):
    """A kind of source: `sniff(head, name)` tells from the first `HEAD` bytes whether an input is of this kind (the
    name is a hint at most); `collect` yields its facts and may raise UnreadableInput. A `divisible` one gives the same facts
    when the extents of a file are collected apart."""

    kind: str
    title: str
    sniff: Callable[[bytes, str], bool]
    collect: Callable[[Input], Iterable[Fact]]
    divisible: bool = False
