"""EFA interfaces of ranks: named by their processes, or beside their devices."""

from __future__ import annotations

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.interfaces import interface_name, interfaces_of_ranks
from neuron_doctor.engine.placement import Placement

HOSTS = {0: "a", 1: "a", 2: "b"}
DEVICES = Placement(devices_of_rank={0: (0,), 1: (1,), 2: (0,)})


def pci(address: str, kind: str, host: str = "a", device: int | None = None) -> Fact:
    return Fact("pci-device", {"bdf": address, "kind": kind}, Place(host=host, device=device), Span("s"), "s")


def used(rank: int, interface: str) -> Fact:
    return Fact("interface-use", {"interface": interface}, Place(rank=rank), Span("s"), "s")


def test_the_name_of_an_rdma_device_is_its_address() -> None:
    assert interface_name("rdmap160s26") == "a0:1a.0"
    assert interface_name("3") == "3"


def test_a_rank_sits_behind_the_interfaces_on_the_bus_of_its_devices() -> None:
    facts = [
        pci("0000:10:1c.0", "neuron", device=0),
        pci("a0:1c.0", "neuron", device=1),
        pci("10:19.0", "efa"),
        pci("0000:10:1b.0", "efa"),
        pci("20:1b.0", "efa"),
    ]
    assert interfaces_of_ranks(facts, DEVICES, HOSTS) == {0: ("10:19.0 and 10:1b.0",)}


def test_what_a_process_names_counts_before_where_its_device_stands() -> None:
    facts = [pci("10:1c.0", "neuron", device=0), pci("10:19.0", "efa"), used(0, "rdmap160s26"), used(0, "rdmap16s25")]
    assert interfaces_of_ranks(facts, DEVICES, HOSTS) == {0: ("10:19.0", "a0:1a.0")}


def test_a_rank_of_no_known_host_has_no_interface() -> None:
    assert interfaces_of_ranks([used(9, "3")], DEVICES, HOSTS) == {}
