"""neuron-monitor's stream: one JSON document a period and host, with or without a time in front of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from neuron_doctor.corpus.simulator import clocks, layout
from neuron_doctor.corpus.simulator import write_monitor_groups as groups
from neuron_doctor.corpus.simulator.history import Event, HardwareError, History, HostRebooted
from neuron_doctor.corpus.simulator.host_events import by_host, place_of
from neuron_doctor.corpus.simulator.style import Site, Style
from neuron_doctor.corpus.simulator.truth import File, Mark
from neuron_doctor.corpus.simulator.write_monitor_memory import DeviceMemory, device_memory, host_memory
from neuron_doctor.corpus.simulator.write_monitor_work import Work, works

_PERIODS = (5, 10, 15, 30, 60, 120, 300, 600)
_DOCUMENTS, _REPORTS = 90, 400  # in a file at most, about: the period is chosen so
_FEWEST = 15
_BEFORE = 60.0  # the monitor runs before the job
_MB = 1 << 20
# Which counter an error raises. A repairable error has no field in the public format.
_COUNTERS = {
    "hbm-ue": "mem_ecc_uncorrected",
    "sram-ue": "sram_ecc_uncorrected",
    "ecc-corrected": "mem_ecc_corrected",
}


class Shape(StrEnum):
    """How the stream was kept."""

    LINES = "lines"
    DATED = "dated"  # a log shipper put its time in front
    INDENTED = "indented"  # through jq


@dataclass(frozen=True, slots=True)
class _Job:
    """What the documents of all hosts share."""

    history: History
    shape: Shape
    newer: bool
    in_kubernetes: bool
    works: tuple[Work, ...]
    held: tuple[DeviceMemory, ...]
    events: Mapping[int, tuple[Event, ...]]


def files(history: History, style: Style, random: Random) -> Iterator[File]:
    """The stream of each host."""
    if not style.monitor:
        return
    job = _Job(
        history=history,
        shape=random.choice((Shape.LINES, Shape.DATED, Shape.DATED, Shape.INDENTED)),
        newer=random.choice((True, False)),
        in_kubernetes=style.site is Site.KUBERNETES,
        works=works(history),
        held=device_memory(history, random),
        events=by_host(history),
    )
    for host in range(len(history.job.hosts)):
        path = layout.path_for(style, history.job, source="monitor", host=host)
        yield _stream(job, host, path, Random(random.getrandbits(64)))


def _stream(job: _Job, host: int, path: str, random: Random) -> File:
    """The documents of a host; where a device's counter rose, from the entry before it to the entry after it is marked."""
    data, marks = bytearray(), list[Mark]()
    events = job.events[host]
    errors = [event for event in events if isinstance(event, HardwareError) and event.error in _COUNTERS]
    memory = host_memory(job.history.job.hosts[host], events, random)
    entries: dict[int, int] = {}  # device -> where its last entry begins
    previous: float | None = None
    for since, until in _periods(job, host):
        counts = _ecc(errors, until, job.history)
        document = _document(job, host, (since, until), (memory.used(until), memory.total), counts, random)
        line = _written(job, host, document, until)
        for event in errors:
            device, _ = place_of(event, job.history.job)
            begin = len(data) + line.index(_entry(job.shape, device))
            if event.fault is not None and previous is not None and previous < event.time <= until:
                end = len(data) + line.index(b"}", begin - len(data)) + 1
                marks.append(Mark(entries[device], end - entries[device], event.fault))
            entries[device] = begin
        data += line
        previous = until
    return File(path, bytes(data), "monitor", host, job.history.job.ranks_on(host), tuple(marks))


def _periods(job: _Job, host: int) -> Iterator[tuple[float, float]]:
    """The periods in which the monitor ran: from before the job until the collection, or until the host went down."""
    history = job.history
    first, last = history.job.start - _BEFORE, history.collected
    length = last - first
    for event in job.events[host]:
        if isinstance(event, HostRebooted):
            last = min(last, event.time)
    room = min(max(_REPORTS // max(len(history.job.ranks_on(host)), 1), _FEWEST), _DOCUMENTS)
    period = next((period for period in _PERIODS if length / period <= room), length / room)
    at = first
    while at + period <= last:
        yield at, at + period
        at += period


def _document(
    job: _Job,
    host: int,
    span: tuple[float, float],
    memory: tuple[int, int],
    counts: Mapping[int, Mapping[str, int]],
    random: Random,
) -> dict[str, object]:
    (since, until), (used, total) = span, memory
    machine, period = job.history.job.hosts[host], round(until - since + random.uniform(0.001, 0.03), 9)
    document: dict[str, object] = {
        "neuron_runtime_data": [
            _application(job, rank, span, period, random)
            for rank in job.history.job.ranks_on(host)
            if job.works[rank].alive(until)
        ],
        "system_data": {
            "memory_info": groups.host_memory(total, used, period),
            "neuron_hw_counters": groups.ecc(counts, machine.devices, period),
            "vcpu_usage": groups.host_cpu(period, random),
        },
        "instance_info": groups.instance(machine),
        "neuron_hardware_info": groups.hardware(machine, job.newer),
    }
    if job.newer and job.in_kubernetes:
        document["neuron_k8s_info"] = _pods(job, host, period)
    return document


def _application(job: _Job, rank: int, span: tuple[float, float], period: float, random: Random) -> dict[str, object]:
    seat, work = job.history.job.seats[rank], job.works[rank]
    since, until = span
    return {
        "pid": seat.pid,
        "address": "",
        "neuron_runtime_tag": str(seat.pid),
        "error": "",
        "report": {
            "neuroncore_counters": groups.cores(seat, work.busy(since, until), period, random),
            "execution_stats": groups.executions(work, since, until, random),
            "memory_used": groups.memory(seat, job.held[rank].held(until), 900 * _MB + rank % 7 * _MB, period),
            "neuron_runtime_vcpu_usage": groups.application_cpu(period, random),
        },
    }


def _pods(job: _Job, host: int, period: float) -> dict[str, object]:
    pod = {"pod_name": job.history.job.hosts[host].pod, "namespace": "default", "container_name": ["trainer"]}
    seats = [job.history.job.seats[rank] for rank in job.history.job.ranks_on(host)]
    return {
        "period": period,
        "neuroncores_k8s_info": {str(seat.core): pod for seat in seats},
        "neurondevices_k8s_info": {str(device): pod for device in sorted({seat.device for seat in seats})},
    }


def _ecc(errors: Sequence[HardwareError], t: float, history: History) -> dict[int, dict[str, int]]:
    """The counters of the host's devices that are not zero at `t`."""
    counts: dict[int, dict[str, int]] = {}
    for event in errors:
        if event.time <= t:
            device, _ = place_of(event, history.job)
            of_device = counts.setdefault(device, {})
            of_device[_COUNTERS[event.error]] = of_device.get(_COUNTERS[event.error], 0) + event.count
    return counts


def _written(job: _Job, host: int, document: dict[str, object], at: float) -> bytes:
    if job.shape is Shape.INDENTED:
        return json.dumps(document, indent=2).encode() + b"\n"
    line = json.dumps(document, separators=(",", ":"))
    if job.shape is Shape.DATED:
        wall = clocks.local(job.history.job.hosts[host], at, job.history.job.start)
        line = f"{clocks.iso(wall, digits=3, zone='Z')} {line}"
    return line.encode() + b"\n"


def _entry(shape: Shape, device: int) -> bytes:
    """How the entry of a device begins in a document."""
    separator = " " if shape is Shape.INDENTED else ""
    return f'"neuron_device_index":{separator}{device},'.encode()
