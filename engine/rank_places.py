"""The places that ranks can share: device, EFA interface, pipeline stage, process group, host, build, instance type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.engine.facts import NOWHERE, Fact, Place
from neuron_doctor.engine.interfaces import interfaces_of_ranks
from neuron_doctor.engine.parallel_groups import ParallelGroup, parallel_groups, pipeline_stages
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.topology import Topology


class Spot(Struct, frozen=True):
    """A place that several ranks can share; `said` completes "the ranks ..."."""

    what: str
    name: str
    said: str
    place: Place = NOWHERE


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
    by_host = {
        host: (Spot("host", host, f"run on host {host}", Place(host=host)),)
        for host in set(topology.host_of_rank.values())
    }
    by_stage = {stage: (_stage(stage),) for stage in set(stages.values())}
    by_type = {name: (Spot("instance-type", name, f"run on instances of type {name}"),) for name in types.values()}
    hosts = topology.host_of_rank
    return [
        _devices(facts, topology),
        _interfaces(facts, topology),
        {rank: by_stage[stage] for rank, stage in stages.items()},
        _groups(groups),
        {rank: by_host[host] for rank, host in hosts.items()},
        *_builds(facts, hosts),
        {rank: by_type[types[host]] for rank, host in hosts.items() if host in types},
    ]


def _groups(groups: Iterable[ParallelGroup]) -> Spots:
    found: dict[int, list[Spot]] = defaultdict(list)
    for group in groups:
        title = group.title
        spot = Spot("group", title, f"are in the {title}", Place(group=title))
        for rank in group.ranks:
            found[rank].append(spot)
    return found


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
        names = {version: f"{component} {version}" for version in set(versions.values())}
        spots = {version: (Spot("build", name, f"run {name}"),) for version, name in names.items()}
        if len(spots) > 1:
            yield {rank: spots[version] for rank, version in versions.items()}
