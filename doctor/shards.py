"""The work of a scan, cut into shards that can be done anywhere, in any order, and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import BinaryIO

from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.blocks import WHOLE, Extent
from neuron_doctor.collectors.coverage import Coverage, added_up
from neuron_doctor.collectors.discover import inputs_of, is_packed
from neuron_doctor.collectors.storms import CELL
from neuron_doctor.collectors.walk import Found
from neuron_doctor.engine.facts import Collection, Fact, Problem, Source
from neuron_doctor.scan import Engine, Scanned, collector_for, scan_input

#: Bytes of a shard: large enough that handing it out costs nothing beside it.
SHARD = 32 * CELL
#: Files of a shard: opening one costs about as much as scanning 32 KiB.
FILES = 512
#: Text files from this size on are cut.
CUT_FROM = 2 * SHARD


@dataclass(frozen=True, slots=True)
class Shard:
    """Files to be scanned one after the other, or an extent of a single one."""

    files: tuple[Found, ...]
    extent: Extent = WHOLE

    @property
    def size(self) -> int:
        """About so many bytes are to be read."""
        if self.extent == WHOLE:
            return sum(max(file.size, 0) for file in self.files)
        return (self.extent.end or self.files[0].size) - self.extent.begin

    @property
    def is_pipe(self) -> bool:
        """Whether only this process can read it."""
        return any(file.size < 0 and not file.problem for file in self.files)


def planned(found: Iterable[Found], engine: Engine, *, cut: bool) -> list[Shard]:
    """The shards of these files, in their order. With `cut`, large text files are divided into extents."""
    shards: list[Shard] = []
    waiting: list[Found] = []
    size = 0
    for file in found:
        apart = list(_extents(file)) if cut and file.size >= CUT_FROM and _is_divisible(file, engine) else []
        if apart or file.size < 0:
            shards += [*_closed(waiting), *(apart or _closed([file]))]
            waiting, size = [], 0
            continue
        waiting.append(file)
        size += file.size
        if size >= SHARD or len(waiting) >= FILES:
            shards += _closed(waiting)
            waiting, size = [], 0
    return [*shards, *_closed(waiting)]


def _closed(files: Sequence[Found]) -> list[Shard]:
    return [Shard(tuple(files))] if files else []


def _is_divisible(file: Found, engine: Engine) -> bool:
    try:
        with Path(file.location).open("rb") as stream:
            head = stream.read(HEAD)
    except OSError:
        return False  # whoever scans it says what is wrong
    if is_packed(head):
        return False
    collector = collector_for(head, file.path.rpartition("/")[2], engine.collectors)
    return collector is not None and collector.divisible


def _extents(file: Found) -> Iterator[Shard]:
    """Extents at multiples of the stretch within which storms are capped, so that the caps are those of the whole."""
    begins = range(0, file.size, SHARD)
    for begin in begins:
        end = begin + SHARD
        yield Shard((file,), Extent(begin, None if end >= file.size else end))


def alone(shard: Shard) -> Iterator[Shard]:
    """A shard for each of its files."""
    return (replace(shard, files=(file,)) for file in shard.files)


def scan(shard: Shard, engine: Engine, stdin: BinaryIO | None = None) -> list[Scanned]:
    """What the files of a shard say, in their order."""
    scanned = []
    for file in shard.files:
        for inp in inputs_of(file, stdin):
            inp.extent = shard.extent
            scanned.append(scan_input(inp, engine))
    return scanned


def joined(parts: Iterable[Sequence[Scanned]]) -> Collection:
    """All that was scanned, from the results of the shards in the order of the shards."""
    pieces: list[list[Scanned]] = []
    for one in chain.from_iterable(parts):
        if one.extent.begin:
            pieces[-1].append(one)
        else:
            pieces.append([one])
    sources = tuple(_whole([one.source for one in same], added_up(one.coverage for one in same)) for same in pieces)
    return Collection(sources, tuple(fact for same in pieces for fact in _renumbered(same)))


def _whole(parts: Sequence[Source], coverage: Coverage) -> Source:
    """The source of which these are the extents."""
    if len(parts) == 1:
        return parts[0]
    first, last = coverage.interval() or (None, None)
    problems: dict[str, Problem] = {}
    for before, part in zip(_lines_before(parts), parts, strict=True):
        for problem in part.problems:
            line = problem.line + before if problem.line is not None else None
            known = problems.get(problem.what, Problem(problem.what, line, 0))
            problems[problem.what] = replace(known, count=known.count + problem.count)
    return replace(
        parts[0],
        records=sum(part.records for part in parts),
        first=first,
        last=last,
        gaps=tuple(gap for part in parts for gap in part.gaps),
        problems=tuple(problems.values()),
    )


def _renumbered(parts: Sequence[Scanned]) -> Iterator[Fact]:
    """The facts of the extents of one source, with lines counted from its beginning."""
    for before, part in zip(_lines_before([part.source for part in parts]), parts, strict=True):
        yield from (_renumbered_by(before, fact) for fact in part.facts)


def _renumbered_by(before: int, fact: Fact) -> Fact:
    if not before or fact.span.line is None:
        return fact
    return replace(fact, span=replace(fact.span, line=fact.span.line + before))


def _lines_before(parts: Sequence[Source]) -> Iterator[int]:
    """How many lines precede each extent."""
    return accumulate((part.records for part in parts[:-1]), initial=0)
