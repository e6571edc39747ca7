"""The work of a scan, cut into shards that can be done anywhere, in any order, and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.blocks import WHOLE, Extent
from neuron_doctor.collectors.coverage import added_up
from neuron_doctor.collectors.discover import inputs_of, is_packed
from neuron_doctor.collectors.storms import CELL
from neuron_doctor.collectors.urls import is_url
from neuron_doctor.collectors.walk import Found
from neuron_doctor.engine.facts import Collection, Fact, Problem, Source
from neuron_doctor.engine.readings import Reading, gathered, merged
from neuron_doctor.part_mark import is_part
from neuron_doctor.scan import Engine, Scanned, collector_for, scan_input, scan_part

#: Bytes of a shard: large enough that handing it out costs nothing beside it.
SHARD = 32 * CELL
#: Files of a shard: opening one costs about as much as scanning 32 KiB.
FILES = 512
#: Text files from this size on are cut.
CUT_FROM = 2 * SHARD
#: Of text files that are not small, so much at the end is read first.
SMALL, TAIL = 4 * CELL, CELL
#: Less than this (bytes, files) is done sooner by one process than processes are started.
WORTH_BYTES, WORTH_FILES = 48 << 20, 4096


class Shard(Struct, frozen=True):
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
        return any(file.size < 0 and not file.problem and not is_url(file.location) for file in self.files)


def planned(found: Iterable[Found], engine: Engine, *, cut: bool = False, tails: bool = False) -> list[Shard]:
    """The shards of these files, in their order. With `cut`, large text files are divided into extents; with `tails`, the
    end of every text file that is not small is an extent of its own, and large files of other kinds are shards of theirs."""
    shards: list[Shard] = []
    waiting: list[Found] = []
    size = 0
    for file in found:
        apart = _apart(file, engine, cut=cut, tails=tails)
        if apart:
            shards += [*_closed(waiting), *apart]
            waiting, size = [], 0
            continue
        waiting.append(file)
        size += file.size
        if size >= SHARD or len(waiting) >= FILES:
            shards += _closed(waiting)
            waiting, size = [], 0
    return [*shards, *_closed(waiting)]


def comes_first(shard: Shard) -> bool:
    """Whether a shard of a plan with `tails` is among those that a provisional verdict is made of: small files, and the
    ends of the others."""
    return all(0 <= file.size < SMALL for file in shard.files) or (shard.extent != WHOLE and shard.extent.end is None)


def _apart(file: Found, engine: Engine, *, cut: bool, tails: bool) -> list[Shard]:
    """The shards of a file that does not go with others; none for one that does."""
    if file.size < 0 or is_url(file.location):
        return [Shard((file,))]
    long, large = cut and file.size >= CUT_FROM, tails and file.size >= SMALL
    if (long or large) and _is_divisible(file, engine):
        return list(_extents(file, SHARD if cut else file.size, TAIL if tails else 0))
    return [Shard((file,))] if large else []


def _closed(files: Sequence[Found]) -> list[Shard]:
    return [Shard(tuple(files))] if files else []


def _is_divisible(file: Found, engine: Engine) -> bool:
    try:
        with Path(file.location).open("rb") as stream:
            head = stream.read(HEAD)
    except OSError:
        return False  # whoever scans it says what is wrong
    if is_packed(head) or is_part(head):
        return False
    collector = collector_for(head, file.path.rpartition("/")[2], engine.collectors)
    return collector is not None and collector.divisible


def _extents(file: Found, size: int, tail: int) -> Iterator[Shard]:
    """Extents of about `size` bytes, and a last one of `tail` or more. They end at multiples of the stretch within which
    storms are capped, so that the caps are those of the whole."""
    last = (file.size - tail) // CELL * CELL if tail else file.size
    step = max(CELL, -(-size // CELL) * CELL)
    ends = [*range(step, last, step), *([last] if tail else [])]
    for begin, end in pairwise([0, *ends, None]):
        yield Shard((file,), Extent(begin or 0, end))


def is_worth_it(shards: Sequence[Shard], jobs: int) -> bool:
    """Whether several processes are sooner done with these shards than one."""
    if jobs < 2 or len(shards) < 2:  # noqa: PLR2004 - nothing to share
        return False
    return sum(s.size for s in shards) >= WORTH_BYTES or sum(len(s.files) for s in shards) >= WORTH_FILES


def alone(shard: Shard) -> Iterator[Shard]:
    """A shard for each of its files."""
    return (replace(shard, files=(file,)) for file in shard.files)


def scan(shard: Shard, engine: Engine, stdin: BinaryIO | None = None) -> list[Scanned]:
    """What the files of a shard say, in their order."""
    scanned: list[Scanned] = []
    for file in shard.files:
        for inp in inputs_of(file, stdin):
            inp.extent = shard.extent
            scanned += scan_part(inp) if is_part(inp.head()) else [scan_input(inp, engine)]
    return scanned


def joined(parts: Iterable[Sequence[Scanned]]) -> Collection:
    """All that was scanned, from the results of the shards in the order of the shards."""
    return gathered(merged(readings(parts)))


def readings(parts: Iterable[Sequence[Scanned]]) -> Iterator[Reading]:
    """What each source says, from the results of the shards in the order of the shards. Of a file some extents may be
    missing: then its lines have no numbers from there on."""
    pieces: list[list[Scanned]] = []
    for one in chain.from_iterable(parts):
        if one.extent.begin and pieces and pieces[-1][0].source.path == one.source.path:
            pieces[-1].append(one)
        else:
            pieces.append([one])
    for same in pieces:
        yield Reading(_whole(same), tuple(_renumbered(same)))


def _whole(parts: Sequence[Scanned]) -> Source:
    """The source of which these are extents."""
    first = parts[0].source
    if len(parts) == 1:
        return first
    interval = added_up(part.coverage for part in parts).interval() or (None, None)
    problems: dict[str, Problem] = {}
    for before, part in zip(_lines_before(parts), parts, strict=True):
        for problem in part.source.problems:
            line = None if problem.line is None or before is None else problem.line + before
            known = problems.get(problem.what, Problem(problem.what, line, 0, problem.about))
            problems[problem.what] = replace(known, count=known.count + problem.count)
    return replace(
        first,
        records=sum(part.source.records for part in parts),
        first=interval[0],
        last=interval[1],
        gaps=tuple(gap for part in parts for gap in part.source.gaps),
        problems=tuple(problems.values()),
        unended=parts[-1].source.unended,
    )


def _renumbered(parts: Sequence[Scanned]) -> Iterator[Fact]:
    """The facts of the extents of one source, with lines counted from its beginning."""
    for before, part in zip(_lines_before(parts), parts, strict=True):
        yield from (_renumbered_by(before, fact) for fact in part.facts)


def _renumbered_by(before: int | None, fact: Fact) -> Fact:
    if before == 0 or fact.span.line is None:
        return fact
    return replace(fact, span=replace(fact.span, line=None if before is None else fact.span.line + before))


def _lines_before(parts: Sequence[Scanned]) -> Iterator[int | None]:
    """How many lines precede each extent; None where one before it is missing."""
    lines: int | None = 0
    end: int | None = 0
    for part in parts:
        lines = lines if part.extent.begin == end else None
        yield lines
        lines = lines if lines is None else lines + part.source.records
        end = part.extent.end
