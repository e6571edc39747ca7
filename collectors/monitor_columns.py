"""Where the values of each series stand in reports of one type (see `monitor_like`), to be read for many reports at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, reduce
from operator import add, attrgetter, itemgetter
from typing import Any

from msgspec.structs import astuple

from neuron_doctor.collectors.monitor_like import attribute
from neuron_doctor.collectors.monitor_model import Process, ProcessReport, Report
from neuron_doctor.collectors.monitor_readings import DEVICE_MEMORY, Capacity, breakdown_of, core_number

_PROCESSES = "neuron_runtime_data"


class Table(dict[str, Sequence[Any]]):
    """What so many reports have at each path, as far as it was asked. A path are attributes and places in lists."""

    def __init__(self, reports: Sequence[Any]) -> None:
        super().__init__({"": reports})

    def __missing__(self, path: str) -> Sequence[Any]:
        above, step = _step(path)
        found = self[path] = list(map(step, self[above]))
        return found


@cache
def _step(path: str) -> tuple[str, Callable[[Any], Any]]:
    above, _, name = path.rpartition(".")
    return above, itemgetter(int(name)) if name.isdecimal() else attrgetter(name)


#: The values of one series in all reports.
Column = Callable[[Table], Sequence[float]]


def _at(path: str) -> Column:
    return lambda table: table[path]


def _members(part: object, where: str, *names: str) -> list[Column]:
    """A column for each of the members that there are."""
    return [_at(f"{where}.{name}") for name in names if getattr(part, name) is not None]


def _sum(columns: Iterable[Column]) -> Column:
    return lambda table: reduce(_added, (column(table) for column in columns))


def _added(left: Sequence[float], right: Sequence[float]) -> Sequence[float]:
    return list(map(add, left, right))


def columns_of(report: Report, capacity: Capacity) -> dict[tuple[str, int | None], list[Column]]:
    """The columns of the groups that vary, in the order of their readings, by name and process."""
    found: dict[tuple[str, int | None], list[Column]] = {}
    processes = report.neuron_runtime_data or []
    for number, process in enumerate(processes):
        if process.report is not None:
            where = f"{_PROCESSES}.{number}.report"
            found |= {(name, process.pid): columns for name, columns in _of_process(process.report, where)}
    found[DEVICE_MEMORY, None] = _of_devices(processes, capacity)
    return found | {(name, None): columns for name, columns in _of_host(report)}


def _of_process(report: ProcessReport, where: str) -> Iterator[tuple[str, list[Column]]]:
    if (counters := report.neuroncore_counters) and counters.neuroncores_in_use:
        yield "neuroncores_in_use", list(_cores(report, f"{where}.neuroncore_counters.neuroncores_in_use"))
    if (stats := report.execution_stats) and (summary := stats.execution_summary):
        yield "execution_summary", _members(summary, f"{where}.execution_stats.execution_summary", "completed")
    if stats and stats.latency_stats and (latency := stats.latency_stats.total_latency):
        inside = f"{where}.execution_stats.latency_stats.total_latency"
        yield "latency_stats", _members(latency, inside, "p50", "p99")
    if (used := report.memory_used) and (total := used.neuron_runtime_used_bytes):
        inside = f"{where}.memory_used.neuron_runtime_used_bytes"
        yield "neuron_runtime_used_bytes", _members(total, inside, "host", "neuron_device")
    if (cpu := report.neuron_runtime_vcpu_usage) and (share := cpu.vcpu_usage):
        shares = _members(share, f"{where}.neuron_runtime_vcpu_usage.vcpu_usage", "user", "system")
        yield "neuron_runtime_vcpu_usage", [_sum(shares)] if shares else []


def _cores(report: ProcessReport, where: str) -> Iterator[Column]:
    counters = report.neuroncore_counters
    in_use = (counters.neuroncores_in_use if counters is not None else None) or {}
    for position, core in enumerate(in_use.values()):
        if core is None:
            continue
        inside = f"{where}.{attribute(position)}"
        yield from _members(core, inside, "neuroncore_utilization")
        parts = (core.v3d.nc_v3 if core.v3d is not None else None) or {}
        for below, part in enumerate(parts.values()):
            if part is not None:
                yield from _members(part, f"{inside}.v3d.nc_v3.{attribute(below)}", "neuroncore_utilization")


def _of_devices(processes: Sequence[Process], capacity: Capacity) -> list[Column]:
    """What all processes together hold of each device."""
    inside = "report.memory_used.neuron_runtime_used_bytes.usage_breakdown.neuroncore_memory_usage"
    held: dict[int, list[Column]] = {}
    for number, process in enumerate(processes):
        for position, (index, classes) in enumerate((breakdown_of(process) or {}).items()):
            core = core_number(index)
            device = capacity.device_of(core) if core is not None else None
            if device is not None and classes:
                held.setdefault(device, []).append(_sizes(f"{_PROCESSES}.{number}.{inside}.{attribute(position)}"))
    return [_sum(columns) for _, columns in sorted(held.items())]


def _sizes(path: str) -> Column:
    return lambda table: list(map(sum, map(astuple, table[path])))


def _of_host(report: Report) -> Iterator[tuple[str, list[Column]]]:
    system = report.system_data
    if system is None:
        return
    if (memory := system.memory_info) is not None:
        used = _members(memory, "system_data.memory_info", "memory_used_bytes")
        if used and memory.memory_total_bytes:
            used.append(_share(used[0], memory.memory_total_bytes))
        swap = _members(memory, "system_data.memory_info", "swap_used_bytes") if memory.swap_total_bytes else []
        yield "memory_info", used + swap
    if (usage := system.vcpu_usage) is not None and (cpu := usage.average_usage) is not None:
        inside = "system_data.vcpu_usage.average_usage"
        yield "vcpu_usage", [*map(_rest, _members(cpu, inside, "idle")), *_members(cpu, inside, "io_wait")]


def _share(column: Column, total: float) -> Column:
    return lambda table: [100 * value / total for value in column(table)]


def _rest(column: Column) -> Column:
    return lambda table: [100 - value for value in column(table)]
