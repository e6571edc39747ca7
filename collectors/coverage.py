"""The interval that a source covers, from time stamps of some of its lines; the parts of one file add up."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from neuron_doctor.engine.facts import Clock, Instant


class Coverage(Struct):
    """How many stamps of each clock were seen, with the first and the last of them."""

    seen: dict[Clock, tuple[int, Instant, Instant]] = field(default_factory=dict)

    def add(self, instants: Iterable[Instant]) -> None:
        """Take note of some stamps."""
        for instant in instants:
            self.note(1, instant, instant)

    def interval(self) -> tuple[Instant, Instant] | None:
        """First and last stamp on the clock that most of them have."""
        most = max(Clock, key=lambda clock: self.seen[clock][0] if clock in self.seen else 0)
        return self.seen[most][1:] if most in self.seen else None

    def note(self, count: int, first: Instant, last: Instant) -> None:
        """Take note of `count` stamps of one clock, from `first` to `last`."""
        known = self.seen.get(first.clock, (0, first, last))
        self.seen[first.clock] = (known[0] + count, min(known[1], first), max(known[2], last))


def added_up(parts: Iterable[Coverage]) -> Coverage:
    """The coverage of a file from those of its extents."""
    whole = Coverage()
    for part in parts:
        for count, first, last in part.seen.values():
            whole.note(count, first, last)
    return whole
