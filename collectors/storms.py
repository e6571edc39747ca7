"""Message storms: the first records of a kind and the last one are kept for each place and stretch of a source, the
others are counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.patterns import Pattern

#: Bytes of a source (decompressed) that count as one stretch, so that cuts and compression change nothing.
CELL = 1024 * 1024
KEEP = 16

_Key = tuple[str, Place]


@dataclass(slots=True)
class Storm:
    """Lets facts of one source through, in the order of their offsets."""

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
        if pattern.emits == "progress":
            self.last[key] = fact
        elif pattern.counted or seen <= KEEP:
            yield fact
        else:
            held = self.last.get(key)
            self.last[key] = replace(fact, repeats=held.repeats + 1 if held else 0)

    def flush(self) -> Iterator[Fact]:
        """What was held back."""
        yield from self.last.values()
        self.last.clear()
        self.seen.clear()
