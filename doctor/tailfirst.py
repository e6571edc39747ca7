"""The ends of all files first: a provisional verdict at once, and one in time when the time is short."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import BinaryIO

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors.blocks import WHOLE
from neuron_doctor.collectors.walk import find
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Problem, Source
from neuron_doctor.engine.provisional import diagnose_part
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.pipeline import collection_of, scan_some
from neuron_doctor.plugins import engine_for
from neuron_doctor.request import Request
from neuron_doctor.scan import Scanned, given_up
from neuron_doctor.shards import Shard, comes_first, planned

#: The part of the time that is for reading; the rest is for the verdict.
READING = 0.75
_UNREAD = "not read: the time was up"
_HALF_READ = "not all of it was read: the time was up"


class OutOfTime(BaseException):
    """The time is up. No `Exception`, so that no collector takes it for damage of its input."""


class _Run(Struct):
    """What is to be read, and what was."""

    shards: Sequence[Shard]
    done: dict[int, list[Scanned]] = field(default_factory=dict)

    def chosen(self, *, first: bool) -> dict[int, Shard]:
        """The shards that a provisional verdict is made of, or the others."""
        return {number: shard for number, shard in enumerate(self.shards) if comes_first(shard) == first}

    @property
    def missing(self) -> dict[int, Shard]:
        return {number: shard for number, shard in enumerate(self.shards) if number not in self.done}

    def bytes_read(self) -> tuple[int, int]:
        """So many bytes were read, of so many."""
        total = sum(shard.size for shard in self.shards)
        return total - sum(shard.size for shard in self.missing.values()), total


#: Is told the share that was read and the provisional headline.
Watcher = Callable[[float, str], None]


def diagnose_tail_first(
    request: Request,
    rulebook: Rulebook,
    stdin: BinaryIO | None = None,
    *,
    seconds: float | None = None,
    watch: Watcher = lambda _share, _headline: None,
) -> Diagnosis:
    """The diagnosis of what the request names, within so many seconds: where they do not suffice, of what was read, not
    complete. What replaces a provisional verdict says so. Raises MissingPath."""
    ends = time.monotonic() + seconds if seconds else None
    engine = engine_for(request.packs, rulebook)
    run = _Run(planned(find(request.paths, request.labels), engine, cut=True, tails=True))
    provisional: Diagnosis | None = None
    try:
        with _alarm(seconds * READING if seconds else None):
            for _ in scan_some(run.chosen(first=True), engine, request, stdin, run.done):
                watch(_share(run), "")
            if run.missing:
                provisional = _partial(run, request, rulebook)
            for _ in scan_some(run.chosen(first=False), engine, request, stdin, run.done):
                watch(_share(run), provisional.verdict.headline if provisional else "")
    except OutOfTime:
        pass
    try:
        with _alarm(ends - time.monotonic() if ends else None):
            final = _partial(run, request, rulebook) if run.missing else _whole(run, request, rulebook)
    except OutOfTime:
        final = provisional or diagnose_part(rulebook, Collection(), left_out=_left_out(run), all_dumps=False)
        return replace(final, plugins=engine.plugins)
    return replace(_replacing(final, provisional) if seconds else final, plugins=engine.plugins)


def _share(run: _Run) -> float:
    read, total = run.bytes_read()
    return read / total if total else 1.0


def _whole(run: _Run, request: Request, rulebook: Rulebook) -> Diagnosis:
    return diagnose(rulebook, collection_of((run.done[n] for n in range(len(run.shards))), request, rulebook))


def _partial(run: _Run, request: Request, rulebook: Rulebook) -> Diagnosis:
    missing = run.missing
    scanned = [run.done[n] if n in run.done else _unread(shard) for n, shard in enumerate(run.shards)]
    cut = {shard.files[0].path for shard in missing.values() if shard.extent != WHOLE}
    collection = collection_of(scanned, request, rulebook)
    collection = replace(collection, sources=tuple(_half_read(source, cut) for source in collection.sources))
    all_dumps = all(shard.extent != WHOLE for shard in missing.values())
    return diagnose_part(rulebook, collection, left_out=_left_out(run), all_dumps=all_dumps)


def _unread(shard: Shard) -> list[Scanned]:
    """Nothing of an extent, whose file has others; of a file that it is there."""
    return [given_up(file.path, _UNREAD, WHOLE) for file in shard.files] if shard.extent == WHOLE else []


def _half_read(source: Source, cut: set[str]) -> Source:
    return replace(source, problems=(*source.problems, Problem(_HALF_READ))) if source.path in cut else source


def _left_out(run: _Run) -> str:
    read, total = run.bytes_read()
    files = {file.path for shard in run.missing.values() for file in shard.files}
    return f"{(total - read) / 1e6:.0f} of {total / 1e6:.0f} MB, in {len(files)} files, were not read"


def _replacing(final: Diagnosis, provisional: Diagnosis | None) -> Diagnosis:
    """The final verdict with the sentence that it replaces, where that was another."""
    if provisional is None or provisional.verdict.headline == final.verdict.headline:
        return final
    return replace(final, verdict=replace(final.verdict, replaces=provisional.verdict.headline))


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime after so many seconds; None: never."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
