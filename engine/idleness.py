"""Tells a job that stands still outside of all collectives from one that is well: its processes live on, its cores idle.

Dumps in which nothing is outstanding look alike in both. A job that is well goes on, or its processes end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.elapsed import unmoved_ns
from neuron_doctor.engine.facts import Clock, Fact, Source

#: So long no job leaves all its cores idle between two steps; it is the default time-out of process groups.
_LONG_NS = 600 * 10**9
_MINUTE_NS = 60 * 10**9
_CORES = "neuroncore_utilization"


def standing_still(
    collectives: Iterable[Fact], facts: Sequence[Fact], sources: Iterable[Source] = ()
) -> Iterator[Fact]:
    """The `collective` facts; those that say that nothing is outstanding, as a hang elsewhere where the job stands still.
    One that answers requests stands still where none comes: only one of which a training step is told does so in vain."""
    idle = idle_ns(facts)
    still = max(idle, unmoved_ns(facts, sources)) if _trains(facts) else 0
    for fact in collectives:
        if still >= _LONG_NS and fact.data.get("verdict") == "healthy" and fact.data.get("witness") == "recorder":
            told = (
                f"{fact.data['description']}; since the last one their processes have lived on for "
                f"{still // _MINUTE_NS} minutes{' and left all cores idle' if idle == still else ''}"
            )
            yield replace(fact, data={**fact.data, "verdict": "outside", "description": told})
        else:
            yield fact


def idle_ns(facts: Sequence[Fact]) -> int:
    """How long the processes of a training have lived on with idle cores, in nanoseconds; 0 where nothing tells."""
    steps = [fact for fact in facts if fact.kind == "progress"]
    return max(_dated_ns(facts, steps), _counted_ns(facts)) if _trains(facts) else 0


def _trains(facts: Iterable[Fact]) -> bool:
    """Whether steps are told of, and none is an answer to a request."""
    served = [fact.data.get("served") for fact in facts if fact.kind == "progress"]
    return bool(served) and not any(served)


def _counted_ns(facts: Iterable[Fact]) -> int:
    """How long all cores have been idle by reports without a date, each of which is about a period; 0 where one is not,
    or never computed: then it may be another job's."""
    cores = [fact for fact in _cores(facts) if fact.instant is None]
    if not cores or any(fact.data["last"] != 0 or fact.data["max"] == 0 for fact in cores):
        return 0
    return min(int(float(str(f.data["held"])) * float(str(f.data.get("period_s", 0))) * 10**9) for f in cores)


def _dated_ns(facts: Sequence[Fact], steps: Iterable[Fact]) -> int:
    """How long all cores had been idle when their processes were last seen; 0 where the job got on, or where they idled
    long after the dumps only."""
    issued = [ns for fact in facts if fact.kind == "fr-rank" and isinstance(ns := fact.data["last_ns"], int)]
    of_processes = [f for f in facts if f.kind == "level" and f.place.pid is not None and _utc_ns(f) is not None]
    cores = list(_cores(of_processes))
    if not issued or not cores or any(fact.data["last"] != 0 for fact in cores):
        return 0
    began = max(_utc_ns(fact) or 0 for fact in cores)
    moved = any((_utc_ns(fact) or 0) > max(issued) for fact in steps)
    if moved or not -_LONG_NS < began - max(issued) < _LONG_NS:
        return 0
    return max(_utc_ns(fact) or 0 for fact in of_processes) - max(began, *issued)


def _cores(facts: Iterable[Fact]) -> Iterator[Fact]:
    return (f for f in facts if f.kind == "level" and f.place.pid is not None and f.data["name"] == _CORES)


def _utc_ns(fact: Fact) -> int | None:
    return fact.instant.ns if fact.instant and fact.instant.clock is Clock.UTC else None
