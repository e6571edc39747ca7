"""Whether a pod that Kubernetes could not start came up after all, or had run before: its own log shows when it spoke.

A volume that is not mounted at the first try is tried again, and the event of the first try stays. An image that could not be
pulled is that of one container, and another one of the pod may run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Source, pod_of

#: What tells of a container that does not come up; and what keeps all of a pod from it.
OF_STARTS = frozenset({"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "Failed"})
_OF_ALL = OF_STARTS - {"Failed"}


def with_starts_made_good(facts: Sequence[Fact], sources: Iterable[Source]) -> Sequence[Fact]:
    """The facts, in which events of starts that failed are `resolved` where the pod's log begins after them, and `again` where it
    began before. Clocks that cannot be compared tell nothing."""
    if not any(map(_is_open, facts)):
        return facts
    logs: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.kind == "log" and source.records and source.place.container:
            logs[pod_of(source.place.container)].append(source)
    return [_told(fact, logs) if _is_open(fact) else fact for fact in facts]


def _is_open(fact: Fact) -> bool:
    told = fact.data
    return fact.kind == "k8s-event" and told["reason"] in _OF_ALL and not told["resolved"] and "again" not in told


def _told(event: Fact, logs: Mapping[str, Sequence[Source]]) -> Fact:
    when = event.instant
    begun = [
        log.first.ns - when.ns
        for log in logs.get(pod_of(event.place.container), ())
        if when and log.first and log.first.clock is when.clock
    ]
    if not begun:
        return event
    name = "resolved" if min(begun) >= 0 else "again"
    return replace(event, data={**event.data, name: True})
