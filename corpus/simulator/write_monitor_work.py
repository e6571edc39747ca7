"""What a rank's core did over an interval, as counters would show it: executions, failures, utilization."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from neuron_doctor.corpus.simulator.history import ExecutionFailed, History, StepDone

_STARTED_LATE = 5.0  # seconds after the process, when the runtime has its cores
_DEFAULT_LATENCY = 0.05
_WORKING = 0.85  # share of time that a core is in use while steps go on


@dataclass(frozen=True, slots=True)
class Work:
    """What one rank executed and when, for counting."""

    since: float
    until: float | None  # when its process ended
    completed: tuple[float, ...]
    failures: tuple[tuple[float, int], ...]  # times and statuses
    busy_since: float | None  # an execution that never ended
    latency: float

    def alive(self, t: float) -> bool:
        """Whether the runtime of the rank can be asked at `t`."""
        return self.since <= t and (self.until is None or t < self.until)

    def executions(self, since: float, until: float) -> int:
        """The executions that completed in (since, until]."""
        return bisect_right(self.completed, until) - bisect_right(self.completed, since)

    def failed(self, since: float, until: float) -> Counter[int]:
        """How often each status was returned in (since, until]."""
        return Counter(status for time, status in self.failures if since < time <= until)

    def busy(self, since: float, until: float) -> float:
        """The share of the interval in which something was on the core."""
        stuck = min(max(self.busy_since or until, since), until)  # from here on something never ends
        rest = _WORKING if self.executions(since, until) or self._between(until) else 0.0
        return (until - stuck + (stuck - since) * rest) / (until - since)

    def _between(self, t: float) -> bool:
        """Whether `t` lies in the midst of a long step."""
        return 0 < bisect_left(self.completed, t) < len(self.completed)


def works(history: History) -> tuple[Work, ...]:
    """The work of each rank, by rank."""
    failures: dict[int, list[tuple[float, int]]] = {life.rank: [] for life in history.lives}
    seconds: dict[int, list[float]] = {life.rank: [] for life in history.lives}
    for event in history.events:
        if isinstance(event, ExecutionFailed) and event.rank is not None:
            failures[event.rank].append((event.time, event.status))
        elif isinstance(event, StepDone) and event.rank is not None:
            seconds[event.rank].append(event.seconds)
    return tuple(
        Work(
            since=life.start + _STARTED_LATE,
            until=life.ended,
            completed=tuple(sorted(call.completed for call in life.calls if call.completed is not None)),
            failures=tuple(failures[life.rank]),
            busy_since=_first(call.issued for call in life.calls if call.completed is None),
            latency=fmean(seconds[life.rank]) / 4 if seconds[life.rank] else _DEFAULT_LATENCY,
        )
        for life in history.lives
    )


def _first(times: Iterable[float]) -> float | None:
    return min(times, default=None)
