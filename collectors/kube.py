"""What Kubernetes says of pods, nodes and events, whichever output of kubectl it was read from: facts and places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.instance_types import complement_of
from neuron_doctor.engine.ended_jobs import JOB_ENDED, job_of_object
from neuron_doctor.engine.facts import Fact, Instant, Place, Span, Value
from neuron_doctor.engine.regexes import regex

#: What a node offers, by the names of the Neuron and EFA device plugins (`neurondevice` until 2023).
RESOURCES: Mapping[str, str] = {
    "aws.amazon.com/neuron": "neuron",
    "aws.amazon.com/neurondevice": "neuron",
    "aws.amazon.com/neuroncore": "neuroncore",
    "vpc.amazonaws.com/efa": "efa",
}

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
#: `aws:///us-west-2a/i-0592464924bd45322`; of HyperPod `aws:///usw2-az4/sagemaker/cluster/hyperpod-i-0592464924bd45322`.
_PROVIDER = regex(r"aws:///(?:[\w-]{0,60}/){1,4}(?:hyperpod-)?(i-[0-9a-f]+)")

#: The scheduler's message of an event `Scheduled`.
_ASSIGNED = regex(r"Successfully assigned \S{1,320} to (?P<node>[\w.-]{1,253})\s*$")

#: Labels and taints that speak of health, and the values that are well (SageMaker HyperPod health monitoring agent).
_HEALTH_KEYS = regex(
    r"sagemaker\.amazonaws\.com/(?:node-health-status|deep-health-check-status|fault-types|fault-reasons|fault-details)|node\.kubernetes\.io/(?:not-ready|unreachable|unschedulable|\w+-pressure|out-of-service)"
)
_WELL = frozenset({"Schedulable", "Passed", "InProgress"})

#: What is told of a pod whose containers run: only then is it asked how it is.
_RUNS = frozenset({"Pulling", "Pulled", "Created", "Started", "Unhealthy"})

#: After one of these, an event of the other kind about the same object is over.
_RESOLVES: Mapping[str, frozenset[str]] = {
    "FailedScheduling": _RUNS | {"Scheduled"},
    "FailedCreatePodSandBox": _RUNS,
    "FailedMount": _RUNS | {"SuccessfulMountVolume"},
    "FailedAttachVolume": _RUNS | {"SuccessfulAttachVolume"},
    "UnexpectedAdmissionError": frozenset({"Created", "Started", "Unhealthy"}),
    "Failed": frozenset({"Started"}),  # an image that came at last, a container that starts now
    "ErrImagePull": _RUNS - {"Pulling"},
    "NodeNotReady": frozenset({"NodeReady"}),
    "Pending": frozenset({"QuotaReserved", "Admitted"}),  # a workload of Kueue
    "Preempted": frozenset({"QuotaReserved", "Admitted"}),  # and later it has its turn again
    "FailedCreate": frozenset({"SuccessfulCreate"}),
    "Unschedulable": frozenset({"Scheduled"}),
}

#: Who tells these of a pod had it on a node: it was scheduled before. The pod of that name that comes after it is another one.
_OF_SCHEDULED = frozenset({"Killing", "Unhealthy", "Evicted", "Preempted", "BackOff"})
#: What a later event of these about the same pod shows to be over. Only a container that runs is killed, so that its volumes
#: were mounted: kubelet looks after them while it works, too, and says so where it cannot.
_SHOWN_OVER: Mapping[str, frozenset[str]] = {
    "FailedScheduling": _OF_SCHEDULED,
    "FailedMount": frozenset({"Killing"}),
    "FailedAttachVolume": frozenset({"Killing"}),
}

#: What tells of a container that does not come up.
_OF_STARTS = frozenset({"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "Failed"})
#: What Kubeflow's training operator tells of a job (reason `ExitedWithCode`): Pod: ml.t5-worker-1 exited with code 1
_ENDED = regex(r"Pod: (?:[a-z\d-]{1,63}\.)?(?P<pod>[a-z\d][a-z\d.-]{0,252}) exited with code [1-9]\d{0,2}")

#: A shell, and Kubernetes, add the number of the signal (at most 31 here) to this.
_SHELL, _SIGNALS = 128, 31


#: Kinds of objects that end: Job, TrainJob, PyTorchJob, MPIJob, RayJob (Kubernetes, Kubeflow, KubeRay, Volcano, HyperPod), JobSet
#: and the workflows of Argo.
_WORKLOAD = regex(r"[A-Z]?\w{0,40}Job|JobSet|Workflow")
#: How their conditions, phases and columns call a good and a bad end.
_ENDS: Mapping[str, str] = {
    "complete": "complete",
    "completed": "complete",
    "succeeded": "complete",
    "failed": "failed",
    "error": "failed",
}


#: How Kueue calls what it admits: after the kind and the name of the job, with a hash.
_OF_KUEUE = regex(r"[a-z\d]{1,40}-(?P<job>[a-z\d](?:[a-z\d.-]{0,240}[a-z\d])?)-[a-z\d]{5}")
#: Objects that stand in a queue, and the conditions by which they say that they still do: Kueue, Volcano.
_QUEUED = frozenset({"Workload", "PodGroup"})
_WAITING = frozenset({("QuotaReserved", "False"), ("Admitted", "False"), ("Unschedulable", "True")})


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


def container_facts(inp: Input, container: Container, span: Span, end_span: Span | None = None) -> Iterator[Fact]:
    """A `pod` fact, and a `launcher-failure` where the container ended badly."""
    ending = container.ending
    place = place_in_cluster(inp, Place(host=container.node or None, container=container.pod))
    data: dict[str, Value] = {
        "namespace": container.namespace,
        "name": container.pod,
        "container": container.name,
        "phase": container.phase,
        "reason": (ending.reason if ending and ending.exit_code else "") or container.reason,
        "restarts": container.restarts,
        "exit_code": ending.exit_code if ending else 0,
        "signal": ending.signal if ending else 0,
        "ready": container.ready,
        "node": container.node,
        "ip": container.ip,
    }
    yield Fact("pod", data, place, span, inp.source_id)
    if ending is not None and ending.exit_code:
        failure: dict[str, Value] = {
            "launcher": "kubernetes",
            "exitcode": ending.exit_code,
            "signal": ending.signal,
            "first": False,
            "message": ending.reason,
        }
        yield Fact("launcher-failure", failure, place, end_span or span, inp.source_id, ending.finished)


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
    instance_type, instance = labels.get(INSTANCE_TYPE, ""), _PROVIDER.match(provider)
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
    return Fact("node-condition", data, place_in_cluster(inp, Place(host=node)), span, inp.source_id, instant)


def is_workload(kind: str) -> bool:
    """Whether objects of this kind run to an end and say how they ended."""
    return _WORKLOAD.fullmatch(kind) is not None


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
    ends = [end for state in states if (end := _ENDS.get(state.lower()))]
    if name and ends:
        data: dict[str, Value] = {
            "object": kind,
            "namespace": namespace,
            "name": name,
            "state": ends[-1],
            "alone": alone,
        }
        yield Fact("workload", data, place_in_cluster(inp, Place()), span, inp.source_id, instant)


def is_queued(kind: str) -> bool:
    """Whether objects of this kind stand in a queue until they are admitted."""
    return kind in _QUEUED


def queued_facts(
    inp: Input, span: Span, kind: str, namespace: str, name: str, conditions: Iterable[tuple[str, str, str]]
) -> Iterator[Fact]:
    """A `queued` fact where a condition (type, status, message) says why the object is not admitted."""
    for type_, status, message in conditions:
        if (type_, status) in _WAITING and message:
            data: dict[str, Value] = {"object": kind, "namespace": namespace, "name": name, "message": message}
            yield Fact("queued", data, place_in_cluster(inp, Place()), span, inp.source_id)
            return


def speaks_of_health(key: str) -> bool:
    """Whether a label, taint or annotation of this name says how a node is."""
    return _HEALTH_KEYS.fullmatch(key) is not None


def mark_fact(inp: Input, span: Span, node: str, key: str, value: str, effect: str = "") -> Fact:
    """A `node-condition` fact for a label, annotation or (with its effect) taint that speaks of health."""
    data: dict[str, Value] = {
        "name": node,
        "type": key,
        "status": value or effect,
        "reason": effect,
        "message": "",
        "healthy": value in _WELL and not effect,
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
    for event in events:
        kind, _, name = event.object.partition("/")
        home = assigned["node"] if (assigned := _ASSIGNED.match(event.message)) else event.node or node
        place = (
            Place(host=name) if kind.lower() == "node" else Place(host=home or None, container=_made_for(kind, name))
        )
        others = (last.get((event.object.lower(), reason)) for reason in _RESOLVES.get(event.reason, ()))
        data: dict[str, Value] = {
            "type": event.type,
            "reason": event.reason,
            "object": event.object,
            "message": event.message,
            "repeats": event.repeats,
            "resolved": any(_not_before(other, event) for other in others if other is not None)
            or (kind.lower() == "node" and _outlived(event, events))
            or _ran_later(event, last),
            **({"neuron": True} if neuron else {}),
            **({"again": True} if event.reason in _OF_STARTS and _has_run(event, events) else {}),
        }
        yield Fact("k8s-event", data, place_in_cluster(inp, place), event.span, inp.source_id, event.instant)


def _made_for(kind: str, name: str) -> str | None:
    """What an event is about: a workload of Kueue (0.6 and later) is the job that it was made for, after which it is called."""
    found = _OF_KUEUE.fullmatch(name) if kind.lower() == "workload" else None
    return found["job"] if found else name or None


def _ran_later(event: Event, last: Mapping[tuple[str, str], Event]) -> bool:
    """Whether a pod that could not be scheduled, or had no volume, ran on a node some time later. Of equal times nothing is
    known: a pod is killed, and the next one of its name finds no place."""
    others = (last.get((event.object.lower(), reason)) for reason in _SHOWN_OVER.get(event.reason, ()))
    return any(other is not None and not _not_before(event, other) for other in others)


def _has_run(event: Event, events: Iterable[Event]) -> bool:
    """Whether the pod of this event had started, or ended with an error, some time before: it starts anew, or the next one of
    its name does."""
    name = event.object.rpartition("/")[2]
    return any(
        not _not_before(other, event)
        and (
            (other.reason == "Started" and other.object.lower() == event.object.lower())
            or ((ended := _ENDED.fullmatch(other.message)) is not None and ended["pod"] == name)
        )
        for other in events
    )


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
