"""Goals as ratios between commands: measured as medians over rounds, judged, and compared with what was recorded."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.processes import Cost

#: One measurement of a command, or none, by its name; and all rounds of a measure, in each of which every command ran once.
Round = Mapping[str, Cost]

#: A ratio that grew by more than this got worse.
SLACK = 1.25


@dataclass(frozen=True, slots=True)
class Goal:
    """The wall time of one command over that of another is at most `must` (and `wish` is what we really want). `work` is
    how many times as much the first one has to do."""

    of: str
    against: str
    must: float
    wish: float | None = None
    work: float = 1.0

    @property
    def name(self) -> str:
        """What is divided by what."""
        return f"{self.of} / {self.against}" + (f" / {self.work:g}" if self.work != 1 else "")


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest process of a command takes at most `must` MB."""

    of: str
    must: float
    wish: float | None = None

    @property
    def name(self) -> str:
        """What is limited."""
        return f"peak memory of {self.of}, MB"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio in wall and in CPU time."""

    wall: float
    cpu: float


def ratio(goal: Goal, rounds: Sequence[Round]) -> Ratio:
    """The median over the rounds of the ratio within each: what slows a whole round slows both."""
    pairs = [(one[goal.of], one[goal.against]) for one in rounds]
    return Ratio(
        statistics.median(a.wall / b.wall for a, b in pairs) / goal.work,
        statistics.median(a.cpu / max(b.cpu, 0.001) for a, b in pairs) / goal.work,  # the kernel counts in ticks
    )


def medians(rounds: Sequence[Round]) -> dict[str, Cost]:
    """Of each command the median times, and the highest peak."""
    return {
        name: Cost(
            statistics.median(one[name].wall for one in rounds),
            statistics.median(one[name].cpu for one in rounds),
            max(one[name].peak_mb for one in rounds),
        )
        for name in rounds[0]
    }


def verdict(measured: float, goal: Goal | Limit) -> str:
    """How a figure stands to its goal."""
    if measured > goal.must:
        return "missed"
    return "reached" if goal.wish is None or measured > goal.wish else "reached, and the wish too"


def worsened(recorded: Mapping[str, Ratio], measured: Mapping[str, Ratio]) -> Iterator[str]:
    """A line for each ratio of wall times that got worse by more than a quarter, or that is not there any more."""
    for name, before in recorded.items():
        now = measured.get(name)
        if now is None:
            yield f"{name}: recorded as {before.wall:.3f}, not measured now"
        elif now.wall > before.wall * SLACK:
            yield f"{name}: {now.wall:.3f} (CPU {now.cpu:.3f}), recorded as {before.wall:.3f} (CPU {before.cpu:.3f})"
