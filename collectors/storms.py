"""Message storms and signs of progress: of many records alike, some are kept for each stretch of a source."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from msgspec import Struct, field

from neuron_doctor.collectors.matches import Candidate
from neuron_doctor.engine.facts import Place

#: Bytes of a source (decompressed) that count as one stretch, so that cuts and compression change nothing.
CELL = 1024 * 1024
KEEP = 16
#: So many last signs of progress of a stretch are looked at: enough for the ranks that share a log.
KEEP_STEPS = 64
#: So many last lines of a stretch that say how long a step took: several for each of these ranks.
KEEP_TIMES = 512

_Key = tuple[str, Place]


class Storm(Struct):
    """Of the records of a pattern at a place, the first of a stretch are kept, and the last one, which counts the others.
    They come in the order of their offsets."""

    cell: int = -1
    seen: dict[_Key, int] = field(default_factory=dict)
    last: dict[_Key, Candidate] = field(default_factory=dict)

    def is_over(self, offset: int) -> bool:
        """Whether this offset lies in another stretch than the records so far."""
        return offset // CELL != self.cell

    def finished(self, offset: int | None) -> Iterator[tuple[Candidate, Place, int]]:
        """The last records of the stretch before that of `offset` (None: the source has ended), each with its place and the
        number of those between it and the first ones."""
        cell = -1 if offset is None else offset // CELL
        if cell != self.cell:
            yield from ((last, key[1], self.seen[key] - KEEP - 1) for key, last in self.last.items())
            self.last.clear()
            self.seen.clear()
            self.cell = cell

    def keeps(self, candidate: Candidate, place: Place) -> bool:
        """Whether the record is to be kept; if not, it is held as the last one for now, and counted."""
        if candidate.pattern.counted:
            return True
        key = (candidate.pattern.id, place)
        seen = self.seen[key] = self.seen.get(key, 0) + 1
        if seen > KEEP:
            self.last[key] = candidate
        return seen <= KEEP


class Steps(Struct):
    """Holds lines that may say that the job advanced (there are many, and only the last `keep` matter), by pattern."""

    keep: int = KEEP_STEPS
    cell: int = -1
    held: dict[str, deque[Candidate]] = field(default_factory=dict)
    done: list[deque[Candidate]] = field(default_factory=list)

    def add(self, candidate: Candidate) -> None:
        """Hold a line for its pattern."""
        cell = candidate.offset // CELL
        if cell != self.cell:
            self._finish()
            self.cell = cell
        self.held.setdefault(candidate.pattern.id, deque(maxlen=self.keep)).append(candidate)

    def finished(self, *, last: bool) -> Iterator[deque[Candidate]]:
        """The lines of each pattern of the stretches that are complete; of all stretches at the end of the source."""
        if last:
            self._finish()
        yield from self.done
        self.done.clear()

    def _finish(self) -> None:
        self.done.extend(held for _, held in sorted(self.held.items()))
        self.held.clear()
