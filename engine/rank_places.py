"""The places that ranks can share: device, EFA interface, pipeline stage, process group, host, build, instance type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from neuron_doctor.engine.facts import NOWHERE, Fact, Place
from neuron_doctor.engine.interfaces import interfaces_of_ranks
from neuron_doctor.engine.parallel_groups import parallel_groups, pipeline_stages
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.topology import Topology


@dataclass(frozen=True, slots=True)
class Spot:
    """A place that several ranks can share; `said` completes "the ranks ..."."""

    what: str
    name: str
    said: str
    place: Place = field(default=NOWHERE, compare=False)


#: For each rank of which it is known, the spots of one sort that it is in.
Spots = Mapping[int, Sequence[Spot]]


def spots_of_ranks(facts: Iterable[Fact], topology: Topology) -> list[Spots]:
    """One mapping for each sort of place, the most precise sort first; builds are a sort for each component."""
    facts = tuple(facts)
    groups = parallel_groups(facts)
    stages = pipeline_stages(facts, groups)
    types = unique(
        (fact.place.host, str(fact.data["instance_type"]))
        for fact in facts
        if fact.kind == "identity" and fact.data.get("instance_type") and fact.place.host
    )
    by_group: dict[int, list[Spot]] = defaultdict(list)
    for group in groups:
        spot = Spot("group", group.title, f"are in the {group.title}", Place(group=group.title))
        for rank in group.ranks:
            by_group[rank].append(spot)
    hosts = topology.host_of_rank
    return [
        _devices(facts, topology),
        _interfaces(facts, topology),
        {rank: (_stage(stage),) for rank, stage in stages.items()},
        by_group,
        {rank: (Spot("host", host, f"run on host {host}", Place(host=host)),) for rank, host in hosts.items()},
        *_builds(facts, hosts),
        {
            rank: (Spot("instance-type", types[host], f"run on instances of type {types[host]}"),)
            for rank, host in hosts.items()
            if host in types
        },
    ]


def _stage(stage: int) -> Spot:
    return Spot(
        "stage", f"pipeline stage {stage}", f"are in pipeline stage {stage}", Place(group=f"pipeline stage {stage}")
    )


def _devices(facts: Iterable[Fact], topology: Topology) -> Spots:
    """The devices of each rank; of a rank of which they are not all known, those that its own records name."""
    known = topology.placement.devices_of_rank
    named: dict[int, set[int]] = defaultdict(set)
    for fact in facts:
        if fact.place.device is not None and fact.place.rank is not None and fact.place.rank not in known:
            named[fact.place.rank].add(fact.place.device)
    hosts = topology.host_of_rank
    return {
        rank: tuple(_device(hosts[rank], device) for device in sorted(devices))
        for rank, devices in {**named, **known}.items()
        if rank in hosts
    }


def _device(host: str, device: int) -> Spot:
    name = f"device {device} of host {host}"
    return Spot("device", name, f"use {name}", Place(host=host, device=device))


def _interfaces(facts: Iterable[Fact], topology: Topology) -> Spots:
    hosts = topology.host_of_rank
    found = interfaces_of_ranks(facts, topology.placement, hosts)
    return {rank: tuple(_interface(hosts[rank], name) for name in names) for rank, names in found.items()}


def _interface(host: str, name: str) -> Spot:
    full = f"EFA interface {name} of host {host}"
    return Spot("interface", full, f"sit behind {full}", Place(host=host))


def _builds(facts: Iterable[Fact], hosts: Mapping[int, str]) -> Iterator[Spots]:
    """For each component of which there is more than one version, the version that each rank has: its own, else that of
    its host."""
    of_rank: dict[str, list[tuple[int, str]]] = defaultdict(list)
    of_host: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for fact in facts:
        if fact.kind != "version":
            continue
        component, version = str(fact.data["component"]), str(fact.data["version"])
        if fact.place.rank is not None:
            of_rank[component].append((fact.place.rank, version))
        elif fact.place.host:
            of_host[component].append((fact.place.host, version))
    for component in sorted({*of_rank, *of_host}):
        by_host = unique(of_host[component])
        versions = {rank: by_host[host] for rank, host in hosts.items() if host in by_host}
        versions |= unique(of_rank[component])
        if len(set(versions.values())) > 1:
            yield {
                rank: (Spot("build", f"{component} {version}", f"run {component} {version}"),)
                for rank, version in versions.items()
            }
