"""Whether a pod that Kubernetes could not start came up after all, or had run before: its own log shows when it spoke, and a
listing that its containers have ended, which were never started again: they came up once, whatever kept them from it first.

A volume that is not mounted at the first try is tried again, and the event of the first try stays. An image that could not be
pulled is that of one container, and another one of the pod may run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Source, pod_of

#: What tells of a container that does not come up; and what keeps all of a pod from it.
OF_STARTS = frozenset({"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "Failed"})
_OF_ALL = OF_STARTS - {"Failed"}
#: How a container is shown that has run to an end. (One that could not be run at all is `StartError` or `ContainerCannotRun`.)
_ENDED = frozenset({"Error", "OOMKilled", "Completed", "Succeeded"})


def with_starts_made_good(facts: Sequence[Fact], sources: Iterable[Source]) -> Sequence[Fact]:
    """The facts, in which events of starts that failed are `resolved` where the pod's log begins after them, or its only start is
    shown to have come to an end, and `again` where the log began before. Clocks that cannot be compared tell nothing."""
    if not any(map(_is_open, facts)):
        return facts
    logs: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.kind == "log" and source.records and source.place.container:
            logs[pod_of(source.place.container)].append(source)
    ended = _ended_at_once(facts)
    return [_told(fact, logs, ended) if _is_open(fact) else fact for fact in facts]


def _ended_at_once(facts: Iterable[Fact]) -> frozenset[str]:
    """The pods of which all that is listed shows containers that ran to an end and were started once."""
    shown: dict[str, bool] = {}
    for fact in facts:
        if fact.kind == "pod":
            name, how = str(fact.data["name"]), fact.data["reason"] or fact.data["phase"]
            shown[name] = shown.get(name, True) and how in _ENDED and not fact.data["restarts"]
    return frozenset(name for name, ended in shown.items() if ended)


def _is_open(fact: Fact) -> bool:
    told = fact.data
    return fact.kind == "k8s-event" and told["reason"] in _OF_ALL and not told["resolved"] and "again" not in told


def _told(event: Fact, logs: Mapping[str, Sequence[Source]], ended: Collection[str]) -> Fact:
    when, pod = event.instant, pod_of(event.place.container)
    begun = [
        log.first.ns - when.ns for log in logs.get(pod, ()) if when and log.first and log.first.clock is when.clock
    ]
    if not begun and pod not in ended:
        return event
    name = "again" if begun and min(begun) < 0 else "resolved"
    return replace(event, data={**event.data, name: True})
