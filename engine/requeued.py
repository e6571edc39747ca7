"""The loss of a node that a job got over: Slurm queued it anew, started it again, and it went on.

The controller says that it started the job again below where it lost the node. The log of the job, to which the second run is
appended, says that the step was ended for the failure of a node, and below this come further steps. Both go by what stands below
what, and by no clock: controllers and programs may print the times of two zones. Whatever ended the job afterwards is something
else, and a node that is lost again is lost below the last start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.match import Match

_CAUSE, _EVENT, _STEP = "node-lost", "job-event", "progress"


class Requeued(Struct, frozen=True):
    """Where in each source Slurm started a job for the last time, and where in each log of a job that went on after the loss of a
    node the last such loss is told of."""

    started: Mapping[str, int] = field(default_factory=dict)
    overcome: Mapping[str, int] = field(default_factory=dict)

    def cover(self, match: Match) -> bool:
        """Whether each record of this loss of a node stands above a new start, and the job went on."""
        if match.rule.cause.id != _CAUSE or not match.facts or not self.overcome:
            return False
        return all(fact.span.offset < self._last(fact.source) for fact in match.facts)

    def _last(self, source: str) -> int:
        return max(self.started.get(source, -1), self.overcome.get(source, -2) + 1)


def requeued(facts: Iterable[Fact]) -> Requeued:
    """What these facts tell of jobs that were started again."""
    events: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    steps: dict[str, int] = {}
    for fact in facts:
        at = fact.span.offset
        if fact.kind == _STEP:
            steps[fact.source] = max(at, steps.get(fact.source, -1))
        elif fact.kind == _EVENT:
            last = events[str(fact.data["what"]), str(fact.data["job_id"])]
            last[fact.source] = max(at, last.get(fact.source, -1))
    lost = {job: last for (what, job), last in events.items() if what == "interrupted"}
    went_on = {job: last for job, last in lost.items() if all(steps.get(log, -1) > at for log, at in last.items())}
    started = {source: at for job in went_on for source, at in events.get(("started", job), {}).items()}
    return Requeued(started, {log: at for last in went_on.values() for log, at in last.items()})
