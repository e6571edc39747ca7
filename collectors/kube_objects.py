"""Pods, nodes and events as objects of the Kubernetes API (`kubectl get -o json`, `-o yaml`).

Source: Kubernetes API v1 (Pod, Node, Event). Only single members are quoted: an object holds environments too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec.structs import replace

from neuron_doctor.collectors.attempts import failed_pods
from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.documents import Document, Element
from neuron_doctor.collectors.kube import (
    Container,
    Ending,
    Event,
    condition_fact,
    container_facts,
    ending,
    is_queued,
    is_workload,
    mark_fact,
    node_fact,
    offers_of,
    place_in_cluster,
    queued_facts,
    speaks_of_health,
    workload_facts,
)
from neuron_doctor.collectors.timestamps import dated
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place

#: No real object has more containers, conditions or taints.
_MANY = 128


def kind_of(value: object) -> str:
    """The `kind` of an object, empty where it has none."""
    return _text(value, "kind")


def is_event(value: object) -> bool:
    """Whether an object is an event: by its kind, or, where that was cut off, by the object that it tells of and a reason."""
    kind = kind_of(value)
    about = _dig(value, "involvedObject") or _dig(value, "regarding")
    return kind == "Event" or (not kind and isinstance(about, dict) and bool(_text(value, "reason")))


def object_facts(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    """The facts of a Pod, a Node, a job or what stands in a queue for one; nothing for other kinds."""
    match kind_of(element.value):
        case "Pod":
            yield from _pod(inp, document, element)
        case "Node":
            yield from _node(inp, document, element)
        case kind if is_workload(kind):
            yield from _workload(inp, document, element)
        case kind if is_queued(kind):
            names, conditions = _dig(element.value, "metadata"), _list(element.value, "status", "conditions")
            told = [(_text(c, "type"), _text(c, "status"), _text(c, "message")) for c in conditions]
            span = document.quote(element, "conditions" if conditions else "kind")
            yield from queued_facts(inp, span, kind, _text(names, "namespace"), _text(names, "name"), told)


def event_of(document: Document, element: Element) -> Event:
    """The event that this object is."""
    value = element.value
    about = _dig(value, "involvedObject") or _dig(value, "regarding")
    times = (_text(value, key) for key in ("lastTimestamp", "eventTime", "deprecatedLastTimestamp", "firstTimestamp"))
    reason = _text(value, "reason")
    return Event(
        type=_text(value, "type"),
        reason=reason,
        object=f"{_text(about, 'kind').lower()}/{_text(about, 'name')}",
        message=_text(value, "message") or _text(value, "note"),
        span=document.quote(element, "reason", reason),
        repeats=max(1, _number(value, "count"), _number(_dig(value, "series"), "count")),
        instant=next((instant for time in times if (instant := _instant(time))), None),
    )


def _pod(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    value = element.value
    base = Container(
        pod=_text(_dig(value, "metadata"), "name"),
        namespace=_text(_dig(value, "metadata"), "namespace"),
        phase=_text(_dig(value, "status"), "phase"),
        reason=_text(_dig(value, "status"), "reason"),
        node=_text(_dig(value, "spec"), "nodeName"),
        ip=_text(_dig(value, "status"), "podIP"),
    )
    span = document.quote(element, "phase", base.phase or None)
    states = [s for key in ("initContainerStatuses", "containerStatuses") for s in _list(value, "status", key)]
    if not states:
        yield from container_facts(inp, base, span)
    for state in states:
        container = replace(
            base,
            name=_text(state, "name"),
            reason=_text(_dig(state, "state", "waiting"), "reason") or base.reason,
            restarts=_number(state, "restartCount"),
            ready=_text(state, "ready").lower() == "true",
            ending=_ending(_dig(state, "state", "terminated")) or _ending(_dig(state, "lastState", "terminated")),
        )
        end = document.quote(element, "exitCode", container.ending.exit_code) if container.ending else None
        yield from container_facts(inp, container, span, end)


def _ending(terminated: object) -> Ending | None:
    if not isinstance(terminated, dict):
        return None
    code, signal = _number(terminated, "exitCode"), _number(terminated, "signal")
    return ending(code, _text(terminated, "reason"), signal, _instant(_text(terminated, "finishedAt")))


def _workload(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    """How a job ended: by a condition that is true (Kubernetes, Kubeflow, JobSet), or by the word of its operator (RayJob of
    KubeRay, Job of Volcano, Workflow of Argo)."""
    value = element.value
    status, names = _dig(value, "status"), _dig(value, "metadata")
    conditions = [c for c in _list(value, "status", "conditions") if _text(c, "status") == "True"]
    deployed = _text(status, "jobDeploymentStatus")  # of KubeRay; `Complete` is also a job that failed
    words = (
        "" if deployed == "Complete" else deployed,
        _text(status, "jobStatus"),
        _text(_dig(status, "state"), "phase"),
        _text(status, "phase"),
    )
    states = [*(_text(condition, "type") for condition in conditions), *words]
    when = next((_instant(_text(status, key)) for key in ("completionTime", "finishedAt", "endTime")), None)
    shown = next((key for key in ("completionTime", "conditions", "jobStatus", "phase") if _dig(status, key)), "kind")
    told = kind_of(value), _text(names, "namespace"), _text(names, "name"), states, when
    span = document.quote(element, shown)
    yield from workload_facts(inp, span, *told)
    for pod in failed_pods(_dig(status, "nodes")):
        yield Fact("attempt", pod.data, place_in_cluster(inp, Place()), span, inp.source_id)


def _node(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    value = element.value
    name = _text(_dig(value, "metadata"), "name")
    labels = _strings(_dig(value, "metadata", "labels"))
    status = "SchedulingDisabled" if _text(_dig(value, "spec"), "unschedulable").lower() == "true" else ""
    offers = offers_of(_strings(_dig(value, "status", "allocatable") or _dig(value, "status", "capacity")))
    span = document.quote(element, "name", name)
    yield from node_fact(inp, span, name, status, offers, labels, _text(_dig(value, "spec"), "providerID"))
    marks = {**labels, **_strings(_dig(value, "metadata", "annotations"))}
    for key in filter(speaks_of_health, marks):
        yield mark_fact(inp, document.quote(element, key), name, key, marks[key])
    for taint in _list(value, "spec", "taints"):
        if speaks_of_health(key := _text(taint, "key")):
            span = document.quote(element, "key", key)
            yield mark_fact(inp, span, name, key, _text(taint, "value"), _text(taint, "effect"))
    for condition in _list(value, "status", "conditions"):
        kind, reason = _text(condition, "type"), _text(condition, "reason")
        span = document.quote(element, "reason", reason) if reason else document.quote(element, "type", kind)
        since = _instant(_text(condition, "lastTransitionTime"))
        told = _text(condition, "status"), reason, _text(condition, "message"), since
        yield condition_fact(inp, span, name, kind, *told)


def _instant(text: str) -> Instant | None:
    try:
        when = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    if when is None:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return dated(when, Clock.UTC, 1000 if when.microsecond else 1_000_000_000)


def _dig(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object, key: str) -> str:
    found = _dig(value, key)
    return str(found) if isinstance(found, str | int | float) else ""


def _number(value: object, key: str) -> int:
    text = _text(value, key)
    return int(text) if re.fullmatch(r"-?\d{1,12}", text) else 0


def _list(value: object, *keys: str) -> list[object]:
    found = _dig(value, *keys)
    return found[:_MANY] if isinstance(found, list) else []


def _strings(value: object) -> dict[str, str]:
    return {key: str(text) for key, text in value.items()} if isinstance(value, dict) else {}
