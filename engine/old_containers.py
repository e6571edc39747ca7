"""Containers of which `docker inspect` or Kubernetes tells that they ended before the run began: a host keeps those that nobody
removed, and a pod tells of its last restart for as long as it lives."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from msgspec.structs import replace

from neuron_doctor.engine.facts import DATED, Fact, Source
from neuron_doctor.engine.job_logs import job_logs
from neuron_doctor.engine.wallclock import date_of

#: The clock of the container is in UTC, and that of the logs in whatever zone.
_ZONES = timedelta(days=1)
#: What states the day of an end.
_ENDS = frozenset({"launcher-failure", "pod"})


def without_old_containers(facts: Sequence[Fact], sources: Sequence[Source]) -> Sequence[Fact]:
    """The facts without failures that state a day on which no log of the job had begun yet."""
    if not any("day" in fact.data for fact in facts if fact.kind in _ENDS):
        return facts
    begun = [s.first for s in job_logs(sources, facts) if s.first and s.first.clock in DATED]
    if not begun:
        return facts
    first = date_of(min(instant.ns for instant in begun)).date() - _ZONES
    return [
        _without_end(fact) if _is_before(fact, first) and fact.data.get("ready") is not False else fact
        for fact in facts
        if not _is_over(fact, first)
    ]


def _is_before(fact: Fact, first: date) -> bool:
    day = fact.data.get("day") if fact.kind in _ENDS else None
    return isinstance(day, str) and day < first.isoformat()


def _is_over(fact: Fact, first: date) -> bool:
    return fact.kind == "launcher-failure" and _is_before(fact, first)


def _without_end(pod: Fact) -> Fact:
    """The pod as it is now: where it runs is known of it as before."""
    return replace(pod, data={**pod.data, "reason": "", "exit_code": 0, "signal": 0})
