"""Message storms and signs of progress: of many records alike, some are kept for each stretch of a source."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors.blocks import Block
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.patterns import Pattern

#: Bytes of a source (decompressed) that count as one stretch, so that cuts and compression change nothing.
CELL = 1024 * 1024
KEEP = 16
#: So many last signs of progress of a stretch are looked at: enough for the ranks that share a log.
KEEP_STEPS = 64

_Key = tuple[str, Place]


class Storm(Struct):
    """Lets the first facts of a pattern at a place through and the last one of a stretch, which counts the others.
    Facts of one source come in the order of their offsets."""

    cell: int = -1
    seen: dict[_Key, int] = field(default_factory=dict)
    last: dict[_Key, Fact] = field(default_factory=dict)

    def offer(self, fact: Fact, pattern: Pattern) -> Iterator[Fact]:
        """The facts that can go on now; `fact` itself may be held back as the last of its kind."""
        cell = fact.span.offset // CELL
        if cell != self.cell:
            yield from self.flush()
            self.cell = cell
        key = (pattern.id, fact.place)
        seen = self.seen[key] = self.seen.get(key, 0) + 1
        if pattern.counted or seen <= KEEP:
            yield fact
        else:
            held = self.last.get(key)
            self.last[key] = replace(fact, repeats=held.repeats + 1 if held else 0)

    def flush(self) -> Iterator[Fact]:
        """What was held back."""
        yield from self.last.values()
        self.last.clear()
        self.seen.clear()


class Steps(Struct):
    """Holds lines that may say that the job advanced (there are many, and only the last ones matter), by pattern."""

    cell: int = -1
    held: dict[int, deque[tuple[Block, int, int]]] = field(default_factory=dict)
    done: list[tuple[int, deque[tuple[Block, int, int]]]] = field(default_factory=list)

    def add(self, index: int, block: Block, begin: int, end: int) -> None:
        """Hold a line for the pattern number `index`."""
        cell = (block.base + begin) // CELL
        if cell != self.cell:
            self._finish()
            self.cell = cell
        self.held.setdefault(index, deque(maxlen=KEEP_STEPS)).append((block, begin, end))

    def finished(self, *, last: bool) -> Iterator[tuple[int, deque[tuple[Block, int, int]]]]:
        """The patterns and lines of the stretches that are complete; all of them at the end of the source."""
        if last:
            self._finish()
        yield from self.done
        self.done.clear()

    def _finish(self) -> None:
        self.done.extend(sorted(self.held.items(), key=lambda item: item[0]))
        self.held.clear()
