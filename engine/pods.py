"""Pods at their nodes: what a pod's log tells was on the node where Kubernetes says that it ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Fact, Place, pod_of
from neuron_doctor.engine.proven import unique


def on_their_nodes(collection: Collection) -> Collection:
    """The collection with the nodes of pods for hosts, where nothing else says one or the pod's own name stands for it. A
    pod that was seen on two nodes, or in two namespaces, stays a pod."""
    node_of = unique(_seen(collection.facts))
    if not node_of:
        return collection
    sources = tuple(replace(source, place=_at_node(source.place, node_of)) for source in collection.sources)
    facts = tuple(replace(fact, place=_at_node(fact.place, node_of)) for fact in collection.facts)
    return Collection(sources, facts)


def _seen(facts: Iterable[Fact]) -> Iterator[tuple[str, str]]:
    """Each pod with a node on which Kubernetes shows it."""
    for fact in facts:
        if fact.kind in ("pod", "k8s-event") and fact.place.container and fact.place.host:
            yield pod_of(fact.place.container), fact.place.host


def _at_node(place: Place, node_of: Mapping[str, str]) -> Place:
    pod = pod_of(place.container) or place.host or ""
    node = node_of.get(pod)
    if node is None or place.host not in (None, pod):
        return place
    return replace(place, host=node, container=place.container or pod)
