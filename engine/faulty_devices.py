"""Ranks whose own log says that their device is broken, and not where they run, at the host on which alone this device is.

The kernel log of a host, or the driver's counters of it, name a device and no rank; the runtime of a rank names the device and no
host. Both tell of one fault if

- it is of one kind (memory, core, DMA), of one number of a device, and one host alone shows it: in its kernel log, of one day;
  or, where no kernel log does, in its counters, while those of all other hosts that are known count none of the kind there;
- one rank alone reports it of a device of this number, or neighbours that may share the device;
- there is one attempt alone: the next one may run elsewhere, without the host that was at fault.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.topology import Topology, completed_place

#: What fails, by the status that the runtime returns (NRT_EXEC_HW_ERR_*), by the kernel's word for it, and by the counter.
_BY_STATUS = {1201: "memory", 1205: "memory", 1202: "core", 1203: "dma"}
_BY_KERNEL = {
    "HBM_UNCORRECTABLE_ERROR": "memory",
    "SRAM_UNCORRECTABLE_ERROR": "core",
    "NC_UNCORRECTABLE_ERROR": "core",
    "DMA_ERROR": "dma",
}
_BY_COUNTER = {
    "mem_ecc_uncorrected": "memory",
    "mem_ecc_repairable_uncorrected": "memory",
    "hw_hbm_ue_error": "memory",
    "hw_repairable_hbm_ue_error": "memory",
    "sram_ecc_uncorrected": "core",
    "hw_nc_ue_error": "core",
    "hw_dma_abort_error": "dma",
}
_WALL = frozenset({Clock.UTC, Clock.HOST_LOCAL, Clock.YEARLESS})
_DAY_NS = 24 * 3600 * 10**9
#: No more cores of a device are ranks of their own.
_ON_A_DEVICE = 8

#: A kind of fault and the number of a device.
_Fault = tuple[str, int]


def at_hosts_of_their_devices(facts: Sequence[Fact], topology: Topology) -> Sequence[Fact]:
    """The facts; those of ranks whose host is found so, at it. `topology` is what is known without it."""
    reports = _reports(facts, topology)
    if not reports or len({fact.place.attempt for fact in facts} - {None}) > 1:
        return facts
    shown, counted = _shown(facts, topology), _counted(facts, topology)
    host_of: dict[int, str] = {}
    for fault, of_ranks in reports.items():
        host = (
            _only(_of_one_day(shown[fault], of_ranks.values()))
            if fault in shown
            else _counting(counted[fault], topology)
        )
        if host and max(of_ranks) - min(of_ranks) < _ON_A_DEVICE:
            host_of |= dict.fromkeys(of_ranks, host)
    return [_placed(fact, host_of) for fact in facts] if host_of else facts


def _reports(facts: Iterable[Fact], topology: Topology) -> dict[_Fault, dict[int, Fact]]:
    """By what fails on which device, the ranks without a host that report it, each with its report."""
    failing: dict[int, list[Fact]] = defaultdict(list)
    for fact in facts:
        rank = fact.place.rank
        if fact.kind == "status" and fact.data["code"] in _BY_STATUS and rank is not None and not fact.place.container:
            failing[rank].append(fact)
    failing = {rank: told for rank, told in failing.items() if rank not in topology.host_of_rank}
    failing = {rank: told for rank, told in failing.items() if not any(fact.place.host for fact in told)}
    of_ranks = ((f.place.rank, f.place.device) for f in facts if f.place.rank in failing and f.place.device is not None)
    device_of = unique(of_ranks)
    found: dict[_Fault, dict[int, Fact]] = defaultdict(dict)
    for rank, told in failing.items():
        kinds = {_BY_STATUS[int(str(fact.data["code"]))] for fact in told}
        if (device := device_of.get(rank)) is not None and len(kinds) == 1:
            found[kinds.pop(), device][rank] = told[0]
    return found


def _shown(facts: Iterable[Fact], topology: Topology) -> dict[_Fault, list[tuple[str, Fact]]]:
    """The hosts whose kernel logs have a fault, each with the record."""
    found: dict[_Fault, list[tuple[str, Fact]]] = defaultdict(list)
    for fact in facts:
        kind = _BY_KERNEL.get(str(fact.data.get("name"))) if fact.kind == "hw-err" else None
        if kind and fact.place.device is not None and (host := completed_place(fact.place, topology).host):
            found[kind, fact.place.device].append((host, fact))
    return found


def _counted(facts: Iterable[Fact], topology: Topology) -> dict[_Fault, dict[str, int]]:
    """What the counters of each host say of a fault."""
    found: dict[_Fault, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for fact in facts:
        kind = _BY_COUNTER.get(str(fact.data.get("name"))) if fact.kind == "counter" else None
        if kind and fact.place.device is not None and (host := completed_place(fact.place, topology).host):
            last = fact.data.get("last")
            found[kind, fact.place.device][host] += int(last) if isinstance(last, (int, float)) else 0
    return found


def _of_one_day(shown: Iterable[tuple[str, Fact]], reports: Iterable[Fact]) -> set[str]:
    reports = list(reports)
    return {host for host, fact in shown if all(_may_be_of_one_day(fact, report) for report in reports)}


def _may_be_of_one_day(a: Fact, b: Fact) -> bool:
    known = a.instant and b.instant and a.instant.clock in _WALL and b.instant.clock in _WALL
    return not (known and a.instant and b.instant) or abs(a.instant.ns - b.instant.ns) <= _DAY_NS


def _only(hosts: set[str]) -> str | None:
    return hosts.pop() if len(hosts) == 1 else None


def _counting(counts: Mapping[str, int], topology: Topology) -> str | None:
    """The one host whose counters are not zero, where those of all hosts are there."""
    hosts = {host for host, count in counts.items() if count > 0}
    return _only(hosts) if len(counts) > 1 and set(topology.hosts) <= counts.keys() else None


def _placed(fact: Fact, host_of: Mapping[int, str]) -> Fact:
    host = host_of.get(fact.place.rank) if fact.place.rank is not None and not fact.place.container else None
    return fact if host is None or fact.place.host else replace(fact, place=replace(fact.place, host=host))
