"""Processes at the host that their own account of the machine names (the runtime's infodump: `Nodename: ip-10-0-3-7`). In a
container that is the name of the pod: they are on the node on which Kubernetes shows it. So are ranks that say nothing but the
name of their host (`srun -l hostname`), if something else knows a host of that name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.pods import nodes_of_pods
from neuron_doctor.engine.proven import unique

#: A source, and the process or rank that speaks in it.
_Speaker = tuple[str, str, int | None]


def at_their_nodenames(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts; those of processes of which nothing else says a host at the one that all their accounts name. Processes are
    told apart by source and number: in another file the same number may be another host's."""
    named, node_of = {**unique(_named(facts)), **unique(_named_by_rank(facts))}, nodes_of_pods(facts)
    if not named and not node_of:
        return facts
    return [_renamed(_placed(fact, _named_for(fact, named), node_of), node_of) for fact in facts]


def _named_for(fact: Fact, named: Mapping[_Speaker, str]) -> str | None:
    place = fact.place
    return named.get((fact.source, "pid", place.pid)) or named.get((fact.source, "rank", place.rank))


def _named_by_rank(facts: Sequence[Fact]) -> Iterable[tuple[_Speaker, str]]:
    hosts = {fact.place.host for fact in facts} - {None}
    for fact in facts:
        name, rank = fact.data.get("hostname"), fact.place.rank
        if fact.kind == "identity" and rank is not None and fact.place.pid is None and name in hosts:
            yield (fact.source, "rank", rank), str(name)


def _named(facts: Iterable[Fact]) -> Iterable[tuple[_Speaker, str]]:
    for fact in facts:
        name = fact.data.get("hostname")
        if fact.kind == "identity" and fact.place.pid is not None and isinstance(name, str) and name:
            yield (fact.source, "pid", fact.place.pid), name


def _placed(fact: Fact, host: str | None, node_of: Mapping[str, str]) -> Fact:
    if host is None or fact.place.host is not None or fact.place.container is not None:
        return fact
    if host in node_of:
        return replace(fact, place=replace(fact.place, host=node_of[host], container=host))
    return replace(fact, place=replace(fact.place, host=host))


def _renamed(fact: Fact, node_of: Mapping[str, str]) -> Fact:
    """What calls the machine of a process or device by the name of a pod means the node: other names beside it are the node's."""
    name = fact.data.get("hostname")
    if fact.kind != "identity" or name not in node_of:
        return fact
    return replace(fact, data={**fact.data, "hostname": node_of[str(name)]})
