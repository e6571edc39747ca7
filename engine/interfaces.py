"""Behind which EFA interfaces each rank sits: those that its process names, else those on the PCI bus of its devices.

An interface is known by its PCI address without domain (`a0:1a.0`, which the kernel also calls `rdmap160s26`), or by the
number that the transport gives it. On Trn1 and Trn2, devices and interfaces stand in pairs behind one PCIe switch.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.placement import Placement
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

#: udev's name of an RDMA device: its bus and its slot in decimal.
_BY_ADDRESS = regex(r"rdmap(\d{1,3})s(\d{1,2})", re.ASCII)
_ADDRESS = regex(r"(?:[0-9a-f]{4}:)?(?P<bus>[0-9a-f]{2}):(?P<slot>[0-9a-f]{2}\.[0-7])", re.ASCII)


def interface_name(said: str) -> str:
    """The interface by its PCI address where its name tells it, else as it was said."""
    match = _BY_ADDRESS.fullmatch(said)
    return f"{int(match[1]):02x}:{int(match[2]):02x}.0" if match else said


def interfaces_of_ranks(
    facts: Iterable[Fact], placement: Placement, host_of: Mapping[int, str]
) -> dict[int, tuple[str, ...]]:
    """The interfaces of each rank whose host is known; those behind one bus are one, named together."""
    facts = tuple(facts)
    said: dict[int, set[str]] = defaultdict(set)
    for fact in facts:
        if fact.kind == "interface-use" and fact.place.rank in host_of:
            said[fact.place.rank or 0].add(interface_name(str(fact.data["interface"])))
    on_bus = _interfaces_on_buses(facts)
    bus_of = _buses_of_devices(facts)
    found: dict[int, tuple[str, ...]] = {}
    for rank, devices in placement.devices_of_rank.items():
        buses = {bus_of.get((host_of.get(rank), device)) for device in devices}
        beside = {on_bus.get((host_of.get(rank), bus)) for bus in buses}
        if rank in host_of and beside and None not in beside:
            found[rank] = tuple(sorted(name for name in beside if name))
    return found | {rank: tuple(sorted(names)) for rank, names in said.items()}


def _interfaces_on_buses(facts: Iterable[Fact]) -> dict[tuple[str | None, str | None], str]:
    """The interfaces on each bus of each host, together."""
    found: dict[tuple[str | None, str | None], set[str]] = defaultdict(set)
    for fact in facts:
        if fact.kind == "pci-device" and fact.data.get("kind") == "efa" and fact.place.host:
            address = _ADDRESS.fullmatch(str(fact.data["bdf"]).lower())
            if address:
                found[fact.place.host, address["bus"]].add(f"{address['bus']}:{address['slot']}")
    return {at: " and ".join(sorted(names)) for at, names in found.items()}


def _buses_of_devices(facts: Iterable[Fact]) -> dict[tuple[str | None, int | None], str]:
    return unique(
        ((fact.place.host, fact.place.device), address["bus"])
        for fact in facts
        if fact.kind == "pci-device"
        and fact.place.device is not None
        and (address := _ADDRESS.fullmatch(str(fact.data["bdf"]).lower()))
    )
