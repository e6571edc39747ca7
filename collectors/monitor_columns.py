"""Where the values of each series stand in reports of one type (see `monitor_like`), to be read for many reports at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import add, attrgetter, itemgetter
from typing import Any

from msgspec.structs import astuple

from neuron_doctor.collectors.monitor_like import attribute
from neuron_doctor.collectors.monitor_model import Process, ProcessReport, Report
from neuron_doctor.collectors.monitor_readings import DEVICE_MEMORY, Capacity, breakdown_of, core_number

_PROCESSES = "neuron_runtime_data"


#: What so many reports have at each path that was asked for.
Table = Sequence[Sequence[Any]]
#: The values of one series in all reports.
Column = Callable[[Table], Sequence[float]]
_At = Callable[[str], Column]


class Paths:
    """The paths that are asked for in reports of one type. A path are attributes and places in lists."""

    def __init__(self) -> None:
        self._places = {"": 0}
        self._steps: list[tuple[int, Callable[[Any], Any]]] = []

    def at(self, path: str) -> Column:
        """What the reports have there."""
        return itemgetter(self._place(path))

    def table(self, reports: Sequence[Any]) -> Table:
        """What the reports have at all paths."""
        table = [reports]
        for above, step in self._steps:
            table.append(list(map(step, table[above])))
        return table

    def _place(self, path: str) -> int:
        place = self._places.get(path)
        if place is None:
            above, _, name = path.rpartition(".")
            self._steps.append((self._place(above), itemgetter(int(name)) if name.isdecimal() else attrgetter(name)))
            place = self._places[path] = len(self._steps)
        return place


def _members(at: _At, part: object, where: str, *names: str) -> list[Column]:
    """A column for each of the members that there are."""
    return [at(f"{where}.{name}") for name in names if getattr(part, name) is not None]


def _sum(columns: Iterable[Column]) -> Column:
    return lambda table: reduce(_added, (column(table) for column in columns))


def _added(left: Sequence[float], right: Sequence[float]) -> Sequence[float]:
    return list(map(add, left, right))


def columns_of(paths: Paths, report: Report, capacity: Capacity) -> dict[tuple[str, int | None], list[Column]]:
    """The columns of the groups that vary, in the order of their readings, by name and process."""
    found: dict[tuple[str, int | None], list[Column]] = {}
    processes = report.neuron_runtime_data or []
    for number, process in enumerate(processes):
        if process.report is not None:
            where = f"{_PROCESSES}.{number}.report"
            found |= {(name, process.pid): columns for name, columns in _of_process(paths.at, process.report, where)}
    found[DEVICE_MEMORY, None] = _of_devices(paths.at, processes, capacity)
    return found | {(name, None): columns for name, columns in _of_host(paths.at, report)}


def _of_process(at: _At, report: ProcessReport, where: str) -> Iterator[tuple[str, list[Column]]]:
    if (counters := report.neuroncore_counters) and counters.neuroncores_in_use:
        yield "neuroncores_in_use", list(_cores(at, report, f"{where}.neuroncore_counters.neuroncores_in_use"))
    if (stats := report.execution_stats) and (summary := stats.execution_summary):
        yield "execution_summary", _members(at, summary, f"{where}.execution_stats.execution_summary", "completed")
    if stats and stats.latency_stats and (latency := stats.latency_stats.total_latency):
        inside = f"{where}.execution_stats.latency_stats.total_latency"
        yield "latency_stats", _members(at, latency, inside, "p50", "p99")
    if (used := report.memory_used) and (total := used.neuron_runtime_used_bytes):
        inside = f"{where}.memory_used.neuron_runtime_used_bytes"
        yield "neuron_runtime_used_bytes", _members(at, total, inside, "host", "neuron_device")
    if (cpu := report.neuron_runtime_vcpu_usage) and (share := cpu.vcpu_usage):
        shares = _members(at, share, f"{where}.neuron_runtime_vcpu_usage.vcpu_usage", "user", "system")
        yield "neuron_runtime_vcpu_usage", [_sum(shares)] if shares else []


def _cores(at: _At, report: ProcessReport, where: str) -> Iterator[Column]:
    counters = report.neuroncore_counters
    in_use = (counters.neuroncores_in_use if counters is not None else None) or {}
    for position, core in enumerate(in_use.values()):
        if core is None:
            continue
        inside = f"{where}.{attribute(position)}"
        yield from _members(at, core, inside, "neuroncore_utilization")
        parts = (core.v3d.nc_v3 if core.v3d is not None else None) or {}
        for below, part in enumerate(parts.values()):
            if part is not None:
                yield from _members(at, part, f"{inside}.v3d.nc_v3.{attribute(below)}", "neuroncore_utilization")


def _of_devices(at: _At, processes: Sequence[Process], capacity: Capacity) -> list[Column]:
    """What all processes together hold of each device."""
    inside = "report.memory_used.neuron_runtime_used_bytes.usage_breakdown.neuroncore_memory_usage"
    held: dict[int, list[Column]] = {}
    for number, process in enumerate(processes):
        for position, (index, classes) in enumerate((breakdown_of(process) or {}).items()):
            core = core_number(index)
            device = capacity.device_of(core) if core is not None else None
            if device is not None and classes:
                held.setdefault(device, []).append(_sizes(at(f"{_PROCESSES}.{number}.{inside}.{attribute(position)}")))
    return [_sum(columns) for _, columns in sorted(held.items())]


def _sizes(column: Callable[[Table], Sequence[Any]]) -> Column:
    return lambda table: list(map(sum, map(astuple, column(table))))


def _of_host(at: _At, report: Report) -> Iterator[tuple[str, list[Column]]]:
    system = report.system_data
    if system is None:
        return
    if (memory := system.memory_info) is not None:
        used = _members(at, memory, "system_data.memory_info", "memory_used_bytes")
        if used and memory.memory_total_bytes:
            used.append(_share(used[0], memory.memory_total_bytes))
        swap = _members(at, memory, "system_data.memory_info", "swap_used_bytes") if memory.swap_total_bytes else []
        yield "memory_info", used + swap
    if (usage := system.vcpu_usage) is not None and (cpu := usage.average_usage) is not None:
        inside = "system_data.vcpu_usage.average_usage"
        yield "vcpu_usage", [*map(_rest, _members(at, cpu, inside, "idle")), *_members(at, cpu, inside, "io_wait")]


def _share(column: Column, total: float) -> Column:
    return lambda table: [100 * value / total for value in column(table)]


def _rest(column: Column) -> Column:
    return lambda table: [100 - value for value in column(table)]
