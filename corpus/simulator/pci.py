"""What the devices of a host are called: PCI addresses, serial numbers, EFA interfaces. The same for all sources."""

import random
from dataclasses import dataclass

from neuron_doctor.corpus.simulator.job import Host

_BUSES = (0x10, 0x20, 0x90, 0xA0, 0x30, 0x40, 0xB0, 0xC0)
_FIRST_SLOT = 0x1B
_DEVICE_IDS = {"inf2": "7264", "trn1": "7164", "trn1n": "7164", "trn2": "7364"}
_EFA_COUNTS = {"trn1.32xlarge": 8, "trn1n.32xlarge": 16, "trn2.48xlarge": 16, "trn2.3xlarge": 1}


@dataclass(frozen=True, slots=True)
class Interface:
    """An EFA interface: its PCI address, its RDMA name and its index."""

    index: int
    bdf: str
    name: str


def bdf(device: int) -> str:
    """The PCI address of a Neuron device, without the domain: 10:1b.0."""
    return f"{_BUSES[device % len(_BUSES)]:02x}:{_FIRST_SLOT + device // len(_BUSES):02x}.0"


def port(device: int) -> str:
    """The PCI address of the port above a Neuron device."""
    return f"{_BUSES[device % len(_BUSES)]:02x}:00.0"


def device_id(host: Host) -> str:
    """The PCI device id of the host's Neuron devices (the vendor is 1d0f)."""
    return _DEVICE_IDS.get(host.instance_type.partition(".")[0], "7164")


def serial(host: Host, device: int) -> str:
    """The serial number of a Neuron device, 16 hex digits."""
    return f"{random.Random(f'serial:{host.instance_id}:{device}').getrandbits(64):016x}"


def interfaces(host: Host) -> tuple[Interface, ...]:
    """The EFA interfaces of a host, as many as its type has."""
    return tuple(_interface(index) for index in range(_EFA_COUNTS.get(host.instance_type, 0)))


def _interface(index: int) -> Interface:
    bus, slot = _BUSES[index % len(_BUSES)], 0x19 + index // len(_BUSES)
    return Interface(index, f"{bus:02x}:{slot:02x}.0", f"rdmap{bus}s{slot}")
