"""What Kubernetes says of pods, nodes and events, whichever output of kubectl it was read from: facts and places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.instance_types import complement_of
from neuron_doctor.collectors.kube_words import (
    ASSIGNED,
    ENDED,
    ENDS,
    HEALTH_KEYS,
    INSTANCE_TYPE,
    MADE,
    OF_DEVICE,
    OF_KUEUE,
    OF_NEURON,
    PROVIDER,
    QUEUED,
    RESOLVES,
    RESOURCES,
    SHOWN_OVER,
    WAITING,
    WELL,
    WORKLOAD,
)
from neuron_doctor.engine.bystanders import NODE_LOST
from neuron_doctor.engine.ended_jobs import JOB_ENDED, job_of_object
from neuron_doctor.engine.facts import Fact, Instant, Place, Span, Value
from neuron_doctor.engine.pods_that_ran import OF_STARTS
from neuron_doctor.engine.wallclock import date_of

#: A shell, and Kubernetes, add the number of the signal (at most 31 here) to this.
_SHELL, _SIGNALS = 128, 31
#: The controller tells a node's end and that of its pods one after the other (ns).
_MOMENT = 60 * 1_000_000_000
#: From this age on kubectl prints no minutes (s).
_ROUNDED = 8 * 3600

#: What the kubelet says of a container that waits, whatever an earlier one of it ended with.
_CANNOT_START = frozenset(
    {"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError"}
)


class Ending(Struct, frozen=True):
    """How a container ended: its exit code, the reason that Kubernetes gives, and when."""

    exit_code: int
    reason: str = ""
    signal: int = 0
    finished: Instant | None = None


class Container(Struct, frozen=True):
    """A container of a pod, or the pod itself where the output shows no containers (`name` is empty)."""

    pod: str
    namespace: str = ""
    name: str = ""
    phase: str = ""
    reason: str = ""
    restarts: int = 0
    ready: bool = False
    node: str = ""
    ip: str = ""
    ending: Ending | None = None


class Event(Struct, frozen=True):
    """An event: `age` is how long ago it was last seen, in seconds, None where the output does not say; `node` is that whose
    kubelet tells it."""

    type: str
    reason: str
    object: str
    message: str
    span: Span
    age: float | None = None
    repeats: int = 1
    instant: Instant | None = None
    node: str = ""


def place_in_cluster(inp: Input, place: Place) -> Place:
    """The place, completed by the job only: what was asked of a cluster does not hold for the host that asked."""
    return place.over(Place(job=inp.place.job, attempt=inp.place.attempt))


def _reason(container: Container) -> str:
    """Why it is in its state: what it cannot be started for now, else how it ended."""
    ending = container.ending
    ended = ending.reason if ending and ending.exit_code and container.reason not in _CANNOT_START else ""
    return ended or container.reason


def container_facts(inp: Input, container: Container, span: Span, end_span: Span | None = None) -> Iterator[Fact]:
    """A `pod` fact, and a `launcher-failure` where the container ended badly."""
    ending = container.ending
    place = place_in_cluster(inp, Place(host=container.node or None, container=container.pod or None))
    data: dict[str, Value] = {
        "namespace": container.namespace,
        "name": container.pod,
        "container": container.name,
        "phase": container.phase,
        "reason": _reason(container),
        "restarts": container.restarts,
        "exit_code": ending.exit_code if ending else 0,
        "signal": ending.signal if ending else 0,
        "ready": container.ready,
        "node": container.node,
        "ip": container.ip,
        **({"day": day} if (day := _day_of(ending)) else {}),
    }
    yield Fact("pod", data, place, span, inp.source_id)
    if ending is not None and ending.exit_code:
        failure: dict[str, Value] = {
            "launcher": "kubernetes",
            "exitcode": ending.exit_code,
            "signal": ending.signal,
            "first": False,
            "message": ending.reason,
            **({"day": day} if day else {}),
        }
        yield Fact("launcher-failure", failure, place, end_span or span, inp.source_id, ending.finished)


def _day_of(ending: Ending | None) -> str:
    """The date on which a container ended badly, where that is told."""
    return date_of(ending.finished.ns).date().isoformat() if ending and ending.exit_code and ending.finished else ""


def ending(exit_code: int, reason: str = "", signal: int = 0, finished: Instant | None = None) -> Ending:
    """An ending; exit codes above 128 tell the signal that the container died of."""
    implied = exit_code - _SHELL if _SHELL < exit_code <= _SHELL + _SIGNALS else 0
    return Ending(exit_code, reason, signal or implied, finished)


def offers_of(resources: Mapping[str, str]) -> dict[str, int]:
    """The Neuron and EFA resources among those that a node offers, by the names of facts."""
    known = {RESOURCES[name]: count for name, count in resources.items() if name in RESOURCES}
    return {name: int(count) for name, count in known.items() if count.isdigit()}


def node_fact(
    inp: Input,
    span: Span,
    name: str,
    status: str,
    offers: Mapping[str, int],
    labels: Mapping[str, str] = MappingProxyType({}),
    provider: str = "",
) -> Iterator[Fact]:
    """A `node` fact (-1 for a resource that is not shown) and an `identity` where its labels or the id that its
    `provider` gives it tell of the instance."""
    instance_type, instance = labels.get(INSTANCE_TYPE, ""), PROVIDER.match(provider)
    instance_id = instance[1] if instance else ""
    place = place_in_cluster(inp, Place(host=name, instance_id=instance_id or None))
    shown = {resource: offers.get(resource, -1) for resource in ("neuron", "neuroncore", "efa")}
    data: dict[str, Value] = {
        "name": name,
        "status": status,
        **shown,
        "instance_type": instance_type,
        "expected_neuron": complement_of(instance_type).neuron,
    }
    yield Fact("node", data, place, span, inp.source_id)
    if instance_id or instance_type:
        names = {"hostname": name, "instance_id": instance_id, "instance_type": instance_type}
        yield Fact("identity", {key: text for key, text in names.items() if text}, place, span, inp.source_id)


def condition_fact(
    inp: Input,
    span: Span,
    node: str,
    type_: str,
    status: str,
    reason: str = "",
    message: str = "",
    instant: Instant | None = None,
) -> Fact:
    """A `node-condition` fact for a condition as the node lists it."""
    # Conditions named ...Ready are well when True, all others (pressure, NeuronHealth, HyperPod faults) when False.
    healthy = status == ("True" if type_.endswith("Ready") else "False")
    data: dict[str, Value] = {
        "name": node,
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "healthy": healthy,
    }
    place = place_in_cluster(inp, _place_on_node(node, reason, message))
    return Fact("node-condition", data, place, span, inp.source_id, instant)


def _place_on_node(node: str, reason: str, message: str) -> Place:
    """The node, and the one device of it that a message about its devices names."""
    named = list(OF_DEVICE.finditer(message)) if OF_NEURON in reason else []
    if len({one["device"] for one in named}) != 1:
        return Place(host=node)
    cores = {int(one["core"]) for one in named if one["core"]}
    return Place(host=node, device=int(named[0]["device"]), core=cores.pop() if len(cores) == 1 else None)


def is_workload(kind: str) -> bool:
    """Whether objects of this kind run to an end and say how they ended."""
    return WORKLOAD.fullmatch(kind) is not None


def workload_facts(
    inp: Input,
    span: Span,
    kind: str,
    namespace: str,
    name: str,
    states: Iterable[str],
    instant: Instant | None = None,
    *,
    alone: bool = True,
) -> Iterator[Fact]:
    """A `workload` fact where one of these words, as objects and tables have them, tells how a job ended."""
    ends = [end for state in states if (end := ENDS.get(state.lower()))]
    if name and ends:
        data: dict[str, Value] = {
            "object": kind,
            "namespace": namespace,
            "name": name,
            "state": ends[-1],
            "alone": alone,
        }
        yield Fact("workload", data, place_in_cluster(inp, Place()), span, inp.source_id, instant)


def asks_for_neuron(text: str) -> bool:
    """Whether the text of an object names a resource that is Neuron's."""
    return any(resource in text for resource, of in RESOURCES.items() if of != "efa")


def spec_facts(inp: Input, span: Span, kind: str, namespace: str, name: str) -> Iterator[Fact]:
    """A `job-spec` fact: an object that runs a job to its end was collected itself, and not a row of a table."""
    if name:
        data: dict[str, Value] = {"object": kind, "namespace": namespace, "name": name}
        yield Fact("job-spec", data, place_in_cluster(inp, Place()), span, inp.source_id)


def is_queued(kind: str) -> bool:
    """Whether objects of this kind stand in a queue until they are admitted."""
    return kind in QUEUED


def queued_facts(
    inp: Input, span: Span, kind: str, namespace: str, name: str, conditions: Iterable[tuple[str, str, str]]
) -> Iterator[Fact]:
    """A `queued` fact where a condition (type, status, message) says why the object is not admitted."""
    for type_, status, message in conditions:
        if (type_, status) in WAITING and message:
            data: dict[str, Value] = {"object": kind, "namespace": namespace, "name": name, "message": message}
            yield Fact("queued", data, place_in_cluster(inp, Place()), span, inp.source_id)
            return


def speaks_of_health(key: str) -> bool:
    """Whether a label, taint or annotation of this name says how a node is."""
    return HEALTH_KEYS.fullmatch(key) is not None


def mark_fact(inp: Input, span: Span, node: str, key: str, value: str, effect: str = "") -> Fact:
    """A `node-condition` fact for a label, annotation or (with its effect) taint that speaks of health."""
    data: dict[str, Value] = {
        "name": node,
        "type": key,
        "status": value or effect,
        "reason": effect,
        "message": "",
        "healthy": value in WELL and not effect,
    }
    return Fact("node-condition", data, place_in_cluster(inp, Place(host=node)), span, inp.source_id)


def event_facts(inp: Input, events: Sequence[Event], node: str = "", *, neuron: bool = False) -> Iterator[Fact]:
    """A `k8s-event` fact for each event of one listing, that of a pod on `node` where this is known; `resolved` when a later
    one about its object shows that it is over, or all jobs of the listing came to a good end after what a node had. `neuron`:
    their object is shown too, and asks for Neuron devices. `again`: it does not come up, but had run before."""
    last: dict[tuple[str, str], Event] = {}
    for event in events:
        key = (event.object.lower(), event.reason)
        if key not in last or _not_before(event, last[key]):
            last[key] = event
    runs = _runs(events)
    lost = [event for event in events if event.reason == NODE_LOST and event.object.lower().startswith("node/")]
    made = [event for event in events if event.reason.endswith(MADE)] if lost else []
    for event in events:
        kind, _, name = event.object.partition("/")
        home = assigned["node"] if (assigned := ASSIGNED.match(event.message)) else event.node or node
        home = home or (_left_by(event, lost) if kind.lower() == "pod" else "")
        place = (
            _place_on_node(name, event.reason, event.message)
            if kind.lower() == "node"
            else Place(host=home or None, container=_made_for(kind, name))
        )
        others = (last.get((event.object.lower(), reason)) for reason in RESOLVES.get(event.reason, ()))
        data: dict[str, Value] = {
            "type": event.type,
            "reason": event.reason,
            "object": event.object,
            "message": event.message,
            "repeats": event.repeats,
            "resolved": any(_not_before(other, event) for other in others if other is not None)
            or (kind.lower() == "node" and _outlived(event, events))
            or _ran_later(event, last),
            **({"since": since} if kind.lower() == "node" and (since := _made_since(event, made)) else {}),
            **({"neuron": True} if neuron else {}),
            **({"again": True} if event.reason in OF_STARTS and _has_run(event, runs) else {}),
        }
        yield Fact("k8s-event", data, place_in_cluster(inp, place), event.span, inp.source_id, event.instant)


def _made_since(event: Event, made: Iterable[Event]) -> tuple[str, ...]:
    """The jobs that were made after a node was lost: their pods cannot have been there."""
    later = (one for one in made if not _not_before(event, one)) if event.reason == NODE_LOST else ()
    return tuple(sorted({one.object.partition("/")[2] for one in later} - {""}))


def _left_by(event: Event, lost: Iterable[Event]) -> str:
    """The node of a pod that is told to have lost it, by the one node that was lost just then."""
    if event.reason != NODE_LOST:
        return ""
    names = {one.object.partition("/")[2] for one in lost if _at_once(event, one)}
    return names.pop() if len(names) == 1 else ""


def _at_once(one: Event, other: Event) -> bool:
    """Whether two events were at one time, if that was printed to the minute: of ages of hours nobody knows."""
    if one.instant is not None and other.instant is not None:
        return abs(one.instant.ns - other.instant.ns) <= _MOMENT
    return one.age is not None and one.age == other.age and one.age < _ROUNDED


def _made_for(kind: str, name: str) -> str | None:
    """What an event is about: a workload of Kueue (0.6 and later) is the job that it was made for, after which it is called."""
    found = OF_KUEUE.fullmatch(name) if kind.lower() == "workload" else None
    return found["job"] if found else name or None


def _ran_later(event: Event, last: Mapping[tuple[str, str], Event]) -> bool:
    """Whether a pod that could not be scheduled, or had no volume, ran on a node some time later. Of equal times nothing is
    known: a pod is killed, and the next one of its name finds no place."""
    others = (last.get((event.object.lower(), reason)) for reason in SHOWN_OVER.get(event.reason, ()))
    return any(other is not None and not _not_before(event, other) for other in others)


class _Past(Struct):
    """When the first of some events was, by the clocks that events have: an instant, an age (of all of them, and of those without
    an instant)."""

    instant: int | None = None
    age: float = -1
    age_alone: float = -1

    def add(self, event: Event) -> None:
        """One more of them."""
        age = -1 if event.age is None else event.age
        self.age = max(self.age, age)
        if event.instant is None:
            self.age_alone = max(self.age_alone, age)
        elif self.instant is None or event.instant.ns < self.instant:
            self.instant = event.instant.ns

    def is_before(self, event: Event) -> bool:
        """Whether one of them was before this event for sure (see _not_before)."""
        if event.instant is None:
            return event.age is not None and self.age > event.age
        earlier = self.instant is not None and self.instant < event.instant.ns
        return earlier or (event.age is not None and self.age_alone > event.age)


def _runs(events: Iterable[Event]) -> dict[str, _Past]:
    """When objects first started, by their names in lower case, and pods ended with an error, by theirs."""
    found: dict[str, _Past] = defaultdict(_Past)
    for event in events:
        if event.reason == "Started":
            found[event.object.lower()].add(event)
        if (ended := ENDED.fullmatch(event.message)) is not None:
            found[f"pod {ended['pod']}"].add(event)
    return found


def _has_run(event: Event, runs: Mapping[str, _Past]) -> bool:
    """Whether the pod of this event had started, or ended with an error, some time before: it starts anew, or the next one of
    its name does."""
    names = (event.object.lower(), f"pod {event.object.rpartition('/')[2]}")
    return any(name in runs and runs[name].is_before(event) for name in names)


def _outlived(event: Event, events: Sequence[Event]) -> bool:
    """Whether every pod of the listing is of a job that was completed after this event."""
    ended = (e.object.rpartition("/") for e in events if e.reason in JOB_ENDED and _not_before(e, event))
    done = {job_of_object(kind, name) for kind, _, name in ended}
    pods = {e.object.rpartition("/")[2] for e in events if e.object.lower().startswith("pod/")}
    return bool(pods) and all(any(job.has(pod) for job in done) for pod in pods)


def _not_before(one: Event, other: Event) -> bool:
    """Whether `one` may be the later: ages are rounded, and of two equal ones that which ends the matter comes last."""
    if one.instant is not None and other.instant is not None:
        return one.instant.ns >= other.instant.ns
    return one.age is None or other.age is None or one.age <= other.age
