"""Pods at their nodes: what a pod's log tells was on the node that Kubernetes or the kernel shows its processes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Fact, Place, pod_of
from neuron_doctor.engine.pod_names import SUFFIX
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

#: So many of a pod's processes, and this part of them, must have opened devices on a node: one number may recur anywhere.
_PROCESSES, _SHARE = 3, 0.5
#: What the cluster's DNS calls a pod of a headless service, in full or from within its namespace; there the service is called
#: after the job, as its pods are.
_IN_DNS = regex(
    r"(?P<pod>[a-z\d][a-z\d-]{0,62})\.(?P<service>[a-z\d-]{1,63})(?P<zone>\.[a-z\d-]{1,63}\.svc(?:\.[\w.-]{1,200})?)?"
)
#: What the MPI Operator calls the pods of a job.
_LAUNCHER = regex(rf"(?P<job>[a-z\d][a-z\d.-]{{0,200}})-launcher(?:-{SUFFIX})?")
_WORKER = regex(r"(?P<job>[a-z\d][a-z\d.-]{0,200})-worker-\d{1,5}")


def on_their_nodes(collection: Collection) -> Collection:
    """The collection with the nodes of pods for hosts, where nothing else says one or the pod's own name stands for it. A
    pod that was seen on two nodes, or in two namespaces, stays a pod."""
    node_of = nodes_of_pods(collection.facts)
    node_of = {**unique(_opened_devices(collection)), **node_of}
    if not node_of:
        return collection
    sources = tuple(replace(source, place=_at_node(source.place, node_of)) for source in collection.sources)
    return Collection(sources, tuple(_with_node(fact, node_of) for fact in collection.facts))


def _with_node(fact: Fact, node_of: Mapping[str, str]) -> Fact:
    """The fact at its node. A program in a pod takes the pod's name for that of the machine, and so does who read its records."""
    place, node = _at_node(fact.place, node_of), node_of.get(_pod_called(str(fact.data.get("hostname"))))
    if fact.kind == "identity" and node:
        return replace(fact, place=place, data={**fact.data, "hostname": node})
    return replace(fact, place=place)


def nodes_of_pods(facts: Iterable[Fact]) -> Mapping[str, str]:
    """The node of each pod that Kubernetes shows on one alone, or else the kernel."""
    facts = tuple(facts)
    return {**unique(_said_by_kernels(facts)), **unique(_seen(facts))}


def _seen(facts: Iterable[Fact]) -> Iterator[tuple[str, str]]:
    """Each pod with a node on which Kubernetes shows it."""
    for fact in facts:
        if fact.kind in ("pod", "k8s-event") and fact.place.container and fact.place.host:
            yield pod_of(fact.place.container), fact.place.host
        elif fact.kind == "identity" and fact.data.get("pod") and fact.place.host:
            yield str(fact.data["pod"]), fact.place.host  # a row of a listing, in the log of a terminal


def _said_by_kernels(facts: Iterable[Fact]) -> Iterator[tuple[str, str]]:
    """Each pod with the node whose kernel has a record of the runtime that calls its machine so (NEURON_HW_ERR tells the instance
    and, of a container, the name of the pod). A host that has such records of several instances only collects them."""
    pods = {pod_of(fact.place.container) for fact in facts if fact.place.container}
    told = [f for f in facts if f.kind == "identity" and f.place.host and f.place.instance_id] if pods else []
    alone = unique((fact.place.host, fact.place.instance_id) for fact in told)
    for fact in told:
        pod, node = _pod_called(str(fact.data.get("hostname"))), fact.place.host
        if node and node in alone and pod in pods and node not in pods and not fact.place.container:
            yield pod, node


def _opened_devices(collection: Collection) -> Iterator[tuple[str, str]]:
    """Each pod with the node whose kernel saw its processes open devices, by numbers that one pod and one node have.

    The driver prints the numbers of the node's namespace, which a pod shares only where it runs with `hostPID`.
    """
    opened = unique((fact.place.pid, fact.place.host) for fact in collection.facts if fact.kind == "attach")
    if not opened:
        return
    places = [*(source.place for source in collection.sources), *(fact.place for fact in collection.facts)]
    pod_of_process = unique((p.pid, pod_of(p.container)) for p in places if p.pid is not None and p.container)
    processes: dict[str, list[str | None]] = defaultdict(list)
    for pid, pod in pod_of_process.items():
        processes[pod].append(opened.get(pid))
    for pod, nodes in processes.items():
        for node in {node for node in nodes if node}:
            if (times := nodes.count(node)) >= _PROCESSES and times >= _SHARE * len(nodes):
                yield pod, node


def _at_node(place: Place, node_of: Mapping[str, str]) -> Place:
    called = _pod_called(place.host or "")
    pod = pod_of(place.container) or called
    if called in node_of and _starts(pod, called):  # mpirun says it of that pod, and calls it its node
        return replace(place, host=node_of[called], container=called)
    node = node_of.get(pod)
    if node is None or (place.host is not None and called != pod):
        return place
    return replace(place, host=node, container=place.container or pod)


def _starts(launcher: str, worker: str) -> bool:
    """Whether the one pod is that in which the MPI Operator runs mpirun, and the other one of the same job's."""
    started, ranked = _LAUNCHER.fullmatch(launcher), _WORKER.fullmatch(worker)
    return started is not None and ranked is not None and started["job"] == ranked["job"]


def _pod_called(name: str) -> str:
    """The pod that the cluster's DNS calls so, or the name itself."""
    found = _IN_DNS.fullmatch(name)
    return found["pod"] if found and (found["zone"] or found["pod"].startswith(f"{found['service']}-")) else name
