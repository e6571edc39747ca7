"""What a neuron-monitor report says, as readings: named values of a device, a core, a process or the host.

Bytes, seconds and percent as in the reports. A reading's limit is what its value can reach, 0 where that is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from neuron_doctor.collectors.device_counters import ECC
from neuron_doctor.collectors.monitor_model import (
    Core,
    CpuShare,
    DeviceEcc,
    ErrorSummary,
    Group,
    HardwareInfo,
    LatencyStats,
    MemoryInfo,
    Number,
    PhysicalCore,
    Process,
    ProcessReport,
    Report,
    SystemData,
)

_G = TypeVar("_G", bound=Group)

_INDEX_DIGITS = 6
_ERRORS = ("generic", "numerical", "transient", "model", "runtime", "hardware")
_FAILURES = ("completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input", "failed_to_queue")
_failure_counts = attrgetter(*_FAILURES)

#: Groups that are no member of a report under this name.
PROCESSES, FAILURES, DEVICE_MEMORY = "neuron_runtime_data", "execution_failures", "neuroncore_memory_usage"


class Mode(Enum):
    """How the values of successive reports belong together."""

    LEVEL = "level"
    CUMULATIVE = "cumulative"  # counts since the driver was loaded; a decrease is a reset
    PERIODIC = "periodic"  # counts within one period


class Reading(NamedTuple):
    """One value. `part` is a physical core below a logical one."""

    name: str
    mode: Mode
    value: float
    limit: float = 0.0
    device: int | None = None
    core: int | None = None
    part: int | None = None


class Capacity(Struct, frozen=True):
    """What the instance has: bytes of the host and of one device, devices, and cores on each; 0 where not known."""

    host_bytes: float = 0
    device_bytes: float = 0
    devices: int = 0
    cores_per_device: int = 0

    def device_of(self, core: int) -> int | None:
        """The device that a core with this number belongs to, where that can be told."""
        return core // self.cores_per_device if self.cores_per_device > 0 else None


#: One group of one report: its name, the process that it is about, its value, and what reads that. The value is all that
#: is read, so that equal values give equal readings. A plain tuple: there are hundreds in each report.
Observed = tuple[str, int | None, Any, Callable[[Any, Capacity], Iterator[Reading]]]


def observed(report: Report) -> list[Observed]:
    """The groups of a report that hold data; one with an `error` holds none."""
    found: list[Observed] = []
    processes = report.neuron_runtime_data or []
    if report.neuron_runtime_data is not None:
        found.append((PROCESSES, None, len(processes), _processes))
    for process in processes:
        if process.report is not None and not process.error:
            _of_process(process.pid, process.report, found)
    if breakdowns := [breakdown for process in processes if (breakdown := breakdown_of(process))]:
        found.append((DEVICE_MEMORY, None, breakdowns, _device_memory))
    if report.system_data is not None:
        _of_system(report.system_data, found)
    return found


def _of_process(pid: int | None, report: ProcessReport, found: list[Observed]) -> None:
    if (counters := report.neuroncore_counters) and not counters.error and counters.neuroncores_in_use:
        found.append(("neuroncores_in_use", pid, counters.neuroncores_in_use, _cores))
    if (stats := report.execution_stats) and not stats.error:
        if stats.error_summary:
            found.append(("error_summary", pid, stats.error_summary, _errors))
        if summary := stats.execution_summary:
            found.append(("execution_summary", pid, summary.completed, _completed))
            found.append((FAILURES, pid, _failure_counts(summary), _failures))
        if stats.latency_stats:
            found.append(("latency_stats", pid, stats.latency_stats, _latencies))
    if (used := report.memory_used) and not used.error and (total := used.neuron_runtime_used_bytes):
        found.append(("neuron_runtime_used_bytes", pid, (total.host, total.neuron_device), _process_memory))
    if (cpu := report.neuron_runtime_vcpu_usage) and not cpu.error and cpu.vcpu_usage:
        found.append(("neuron_runtime_vcpu_usage", pid, cpu.vcpu_usage, _process_cpu))


def _of_system(system: SystemData, found: list[Observed]) -> None:
    if (counters := sound(system.neuron_hw_counters)) and counters.neuron_devices:
        found.append(("neuron_hw_counters", None, counters.neuron_devices, _ecc))
    if memory := sound(system.memory_info):
        found.append(("memory_info", None, memory, _host_memory))
    if (cpu := sound(system.vcpu_usage)) and cpu.average_usage:
        found.append(("vcpu_usage", None, cpu.average_usage, _host_cpu))


def sound(group: _G | None) -> _G | None:
    """The group, unless it says that it could not be read."""
    return group if group is not None and not group.error else None


# --- the readings of each group


def core_number(index: str) -> int | None:
    """The index of a core, which JSON writes as the name of a member."""
    return int(index) if index.isdecimal() and len(index) <= _INDEX_DIGITS else None


def _level(name: str, value: Number, limit: Number = 0, core: int | None = None) -> Iterator[Reading]:
    if value is not None:
        yield Reading(name, Mode.LEVEL, value, limit or 0, core=core)


def _processes(count: int, _: Capacity) -> Iterator[Reading]:
    return _level("runtime_processes", count)


def _cores(cores: Mapping[str, Core | None], capacity: Capacity) -> Iterator[Reading]:
    for index, core in cores.items():
        number = core_number(index)
        if core is None or number is None:
            continue
        device = capacity.device_of(number)
        if core.neuroncore_utilization is not None:
            yield Reading("neuroncore_utilization", Mode.LEVEL, core.neuroncore_utilization, 100, device, number)
        if core.v3d is not None:
            yield from _physical_cores(core.v3d.nc_v3 or {}, device, number)


def _physical_cores(parts: Mapping[str, PhysicalCore | None], device: int | None, core: int) -> Iterator[Reading]:
    for index, part in parts.items():
        value = part.neuroncore_utilization if part is not None else None
        if value is not None:
            yield Reading("physical_neuroncore_utilization", Mode.LEVEL, value, 100, device, core, core_number(index))


def _errors(errors: ErrorSummary, _: Capacity) -> Iterator[Reading]:
    for name in _ERRORS:
        value = getattr(errors, name)
        if value is None and name == "numerical":
            value = errors.numeric
        if value is not None:
            yield Reading(f"error_{name}", Mode.PERIODIC, value)


def _completed(count: Number, _: Capacity) -> Iterator[Reading]:
    if count is not None:
        yield Reading("completed", Mode.PERIODIC, count)


def _failures(counts: Sequence[Number], _: Capacity) -> Iterator[Reading]:
    for name, count in zip(_FAILURES, counts, strict=True):
        if count is not None:
            yield Reading(name, Mode.PERIODIC, count)


def _latencies(stats: LatencyStats, _: Capacity) -> Iterator[Reading]:
    if (latency := stats.total_latency) is not None:
        yield from _level("execution_latency_p50_seconds", latency.p50)
        yield from _level("execution_latency_p99_seconds", latency.p99)


def _process_memory(totals: tuple[Number, Number], capacity: Capacity) -> Iterator[Reading]:
    host, device = totals
    yield from _level("runtime_host_memory_bytes", host, capacity.host_bytes)
    yield from _level("runtime_device_memory_bytes", device, capacity.devices * capacity.device_bytes)


def _process_cpu(share: CpuShare, _: Capacity) -> Iterator[Reading]:
    if share.user is not None or share.system is not None:
        yield from _level("runtime_vcpu_percent", (share.user or 0) + (share.system or 0))


def breakdown_of(process: Process) -> Mapping[str, Mapping[str, Number] | None] | None:
    """What a process holds of each core, by what it is used for."""
    used = process.report.memory_used if process.report is not None and not process.error else None
    total = used.neuron_runtime_used_bytes if used is not None and not used.error else None
    return total.usage_breakdown.neuroncore_memory_usage if total and total.usage_breakdown else None


def _device_memory(
    breakdowns: Sequence[Mapping[str, Mapping[str, Number] | None]], capacity: Capacity
) -> Iterator[Reading]:
    """What all processes together hold of each device."""
    held = Counter[int]()
    for breakdown in breakdowns:
        for index, classes in breakdown.items():
            core = core_number(index)
            if core is not None and (device := capacity.device_of(core)) is not None:
                held[device] += sum(int(value or 0) for value in (classes or {}).values())
    for device, total in sorted(held.items()):
        yield Reading("device_memory_used_bytes", Mode.LEVEL, total, capacity.device_bytes, device)


def _ecc(devices: Sequence[DeviceEcc], _: Capacity) -> Iterator[Reading]:
    for device in devices:
        for name in ECC:
            value = getattr(device, name)
            if value is not None:
                yield Reading(name, Mode.CUMULATIVE, value, 0, device.neuron_device_index)


def _host_memory(memory: MemoryInfo, _: Capacity) -> Iterator[Reading]:
    yield from _level("host_memory_used_bytes", memory.memory_used_bytes, memory.memory_total_bytes)
    if memory.memory_used_bytes is not None and memory.memory_total_bytes:
        yield from _level("host_memory_used_percent", 100 * memory.memory_used_bytes / memory.memory_total_bytes, 100)
    if memory.swap_total_bytes:
        yield from _level("swap_used_bytes", memory.swap_used_bytes, memory.swap_total_bytes)


def _host_cpu(share: CpuShare, _: Capacity) -> Iterator[Reading]:
    if share.idle is not None:
        yield from _level("vcpu_used_percent", 100 - share.idle, 100)
    yield from _level("vcpu_io_wait_percent", share.io_wait, 100)


def capacity_of(hardware: HardwareInfo | None, memory: MemoryInfo | None) -> Capacity:
    """What the instance has, as its report says."""
    hardware, memory = sound(hardware) or HardwareInfo(), sound(memory) or MemoryInfo()
    return Capacity(
        host_bytes=memory.memory_total_bytes or 0,
        device_bytes=hardware.neuron_device_memory_size or 0,
        devices=hardware.neuron_device_count or 0,
        cores_per_device=hardware.neuroncore_per_device_count or 0,
    )
