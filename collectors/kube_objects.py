"""Pods, nodes and events as objects of the Kubernetes API (`kubectl get -o json`, `-o yaml`).

Source: Kubernetes API v1 (Pod, Node, Event). Only single members are quoted: an object holds environments too.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec.structs import replace

from neuron_doctor.collectors import members
from neuron_doctor.collectors.argo import failed_pods
from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.documents import Document, Element
from neuron_doctor.collectors.kube import (
    Container,
    Ending,
    Event,
    asks_for_neuron,
    condition_fact,
    container_facts,
    ending,
    event_facts,
    is_queued,
    is_workload,
    mark_fact,
    node_fact,
    offers_of,
    place_in_cluster,
    queued_facts,
    speaks_of_health,
    spec_facts,
    workload_facts,
)
from neuron_doctor.collectors.timestamps import dated
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place

#: Conditions of a workload that its events call so, too.
_TURNS = frozenset({"Preempted", "QuotaReserved", "Admitted"})


def kind_of(value: object) -> str:
    """The `kind` of an object. Where only the list of all says it, as the API does, what only pods and nodes have tells it;
    otherwise it is empty."""
    if (kind := members.text(value, "kind")) or not members.text(members.dig(value, "metadata"), "name"):
        return kind
    if members.listed(value, "status", "containerStatuses"):
        return "Pod"
    return "Node" if isinstance(members.dig(value, "status", "nodeInfo"), dict) else ""


def is_event(value: object) -> bool:
    """Whether an object is an event: by its kind, or, where that was cut off, by the object that it tells of and a reason."""
    kind = kind_of(value)
    about = members.dig(value, "involvedObject") or members.dig(value, "regarding")
    return kind == "Event" or (not kind and isinstance(about, dict) and bool(members.text(value, "reason")))


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
            names, conditions = (
                members.dig(element.value, "metadata"),
                members.listed(element.value, "status", "conditions"),
            )
            told = [
                (members.text(c, "type"), members.text(c, "status"), members.text(c, "message")) for c in conditions
            ]
            span = document.quote(element, "conditions" if conditions else "kind")
            yield from queued_facts(
                inp, span, kind, members.text(names, "namespace"), members.text(names, "name"), told
            )
            if kind == "Workload":
                yield from event_facts(inp, _turns(document, element, members.text(names, "name")))


def _turns(document: Document, element: Element, name: str) -> list[Event]:
    """As events, what its conditions tell of a workload of Kueue: that it had to make room, and that it has its turn again."""
    conditions = [c for c in members.listed(element.value, "status", "conditions") if isinstance(c, dict)]
    return [
        Event(
            type="Normal",
            reason=reason,
            object=f"workload/{name}",
            message=members.text(condition, "message"),
            span=document.quote(element, "type", reason),
            instant=_instant(members.text(condition, "lastTransitionTime")),
        )
        for condition in conditions
        if (reason := members.text(condition, "type")) in _TURNS and members.text(condition, "status") == "True"
    ]


def event_of(document: Document, element: Element) -> Event:
    """The event that this object is."""
    value = element.value
    about = members.dig(value, "involvedObject") or members.dig(value, "regarding")
    times = (
        members.text(value, key) for key in ("lastTimestamp", "eventTime", "deprecatedLastTimestamp", "firstTimestamp")
    )
    reason = members.text(value, "reason")
    return Event(
        type=members.text(value, "type"),
        reason=reason,
        object=f"{members.text(about, 'kind').lower()}/{members.text(about, 'name')}",
        message=members.text(value, "message") or members.text(value, "note"),
        span=document.quote(element, "reason", reason),
        repeats=max(1, members.number(value, "count"), members.number(members.dig(value, "series"), "count")),
        instant=next((instant for time in times if (instant := _instant(time))), None),
        node="" if reason == "Killing" else _kubelet_of(value),  # who is stopped leaves its node
    )


def _kubelet_of(event: object) -> str:
    """The node whose kubelet tells this event, empty where a controller does: it tells of the pods that it runs only."""
    source = members.dig(event, "source") or members.dig(event, "deprecatedSource")
    if members.text(source, "component") == "kubelet":
        return members.text(source, "host")
    reporter = members.text(event, "reportingComponent") or members.text(event, "reportingController")
    return members.text(event, "reportingInstance") if reporter == "kubelet" else ""


def _pod(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    value = element.value
    base = Container(
        pod=members.text(members.dig(value, "metadata"), "name"),
        namespace=members.text(members.dig(value, "metadata"), "namespace"),
        phase=members.text(members.dig(value, "status"), "phase"),
        reason=members.text(members.dig(value, "status"), "reason"),
        node=members.text(members.dig(value, "spec"), "nodeName"),
        ip=members.text(members.dig(value, "status"), "podIP"),
    )
    span = document.quote(element, "phase", base.phase or None)
    states = [s for key in ("initContainerStatuses", "containerStatuses") for s in members.listed(value, "status", key)]
    if not states:
        yield from container_facts(inp, base, span)
    for state in states:
        container = replace(
            base,
            name=members.text(state, "name"),
            reason=members.text(members.dig(state, "state", "waiting"), "reason") or base.reason,
            restarts=members.number(state, "restartCount"),
            ready=members.text(state, "ready").lower() == "true",
            ending=_ending(members.dig(state, "state", "terminated"))
            or _ending(members.dig(state, "lastState", "terminated")),
        )
        end = document.quote(element, "exitCode", container.ending.exit_code) if container.ending else None
        yield from container_facts(inp, container, span, end)


def _ending(terminated: object) -> Ending | None:
    if not isinstance(terminated, dict):
        return None
    code, signal = members.number(terminated, "exitCode"), members.number(terminated, "signal")
    return ending(code, members.text(terminated, "reason"), signal, _instant(members.text(terminated, "finishedAt")))


def _workload(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    """How a job ended: by a condition that is true (Kubernetes, Kubeflow, JobSet), or by the word of its operator (RayJob of
    KubeRay, Job of Volcano, Workflow of Argo)."""
    value = element.value
    status, names = members.dig(value, "status"), members.dig(value, "metadata")
    conditions = [c for c in members.listed(value, "status", "conditions") if members.text(c, "status") == "True"]
    deployed = members.text(status, "jobDeploymentStatus")  # of KubeRay; `Complete` is also a job that failed
    words = (
        "" if deployed == "Complete" else deployed,
        members.text(status, "jobStatus"),
        members.text(members.dig(status, "state"), "phase"),
        members.text(status, "phase"),
    )
    states = [*(members.text(condition, "type") for condition in conditions), *words]
    when = next((_instant(members.text(status, key)) for key in ("completionTime", "finishedAt", "endTime")), None)
    shown = next(
        (key for key in ("completionTime", "conditions", "jobStatus", "phase") if members.dig(status, key)), "kind"
    )
    who = kind_of(value), members.text(names, "namespace"), members.text(names, "name")
    span = document.quote(element, shown)
    yield from workload_facts(inp, span, *who, states, when)
    if asks_for_neuron(document.text[element.start : element.end]):
        yield from spec_facts(inp, document.quote(element, "name", who[-1] or None), *who)
    for pod in failed_pods(members.dig(status, "nodes")):
        yield Fact("attempt", pod.data, place_in_cluster(inp, Place()), span, inp.source_id)


def _node(inp: Input, document: Document, element: Element) -> Iterator[Fact]:
    value = element.value
    name = members.text(members.dig(value, "metadata"), "name")
    labels = members.strings(members.dig(value, "metadata", "labels"))
    status = "SchedulingDisabled" if members.text(members.dig(value, "spec"), "unschedulable").lower() == "true" else ""
    offers = offers_of(
        members.strings(members.dig(value, "status", "allocatable") or members.dig(value, "status", "capacity"))
    )
    span = document.quote(element, "name", name)
    yield from node_fact(
        inp, span, name, status, offers, labels, members.text(members.dig(value, "spec"), "providerID")
    )
    marks = {**labels, **members.strings(members.dig(value, "metadata", "annotations"))}
    for key in filter(speaks_of_health, marks):
        yield mark_fact(inp, document.quote(element, key), name, key, marks[key])
    for taint in members.listed(value, "spec", "taints"):
        if speaks_of_health(key := members.text(taint, "key")):
            span = document.quote(element, "key", key)
            yield mark_fact(inp, span, name, key, members.text(taint, "value"), members.text(taint, "effect"))
    for condition in members.listed(value, "status", "conditions"):
        kind, reason = members.text(condition, "type"), members.text(condition, "reason")
        span = document.quote(element, "reason", reason) if reason else document.quote(element, "type", kind)
        since = _instant(members.text(condition, "lastTransitionTime"))
        told = members.text(condition, "status"), reason, members.text(condition, "message"), since
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
