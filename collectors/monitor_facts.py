"""What the stream of reports of neuron-monitor says of devices, cores, processes and the host.

A counter or level is one fact for the whole stream, not one a sample. ECC counters are always stated, even at 0: they
were watched. Counts of failed executions are stated where one is not 0.
Source: Neuron Monitor User Guide (editions up to SDK 2.32). The reports carry no time; a log driver's prefix may.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors.base import Input, UnreadableInput
from neuron_doctor.collectors.instance_types import device_count
from neuron_doctor.collectors.masking import without_secrets
from neuron_doctor.collectors.monitor_model import (
    Group,
    HardwareInfo,
    InstanceInfo,
    KubernetesInfo,
    MemoryInfo,
    ProcessReport,
    Report,
    SystemData,
)
from neuron_doctor.collectors.monitor_readings import FAILURES, PROCESSES, Capacity, Mode, capacity_of, observed, sound
from neuron_doctor.collectors.monitor_series import Board, Series
from neuron_doctor.collectors.monitor_stream import Sample, samples
from neuron_doctor.collectors.monitor_usual import Usual
from neuron_doctor.engine.facts import Fact, Place, Span, Value, span_of
from neuron_doctor.engine.regexes import regex

#: Distinct statements of one instance that are kept: errors, pods, identities.
_MAX_STATEMENTS = 1024

#: Reports of so many instances in one stream are told apart.
_MAX_INSTANCES = 1024

#: What `neuron_hardware_info` says about versions, by component.
_COMPONENTS = {
    "neuron-device": "neuron_device_version",
    "neuron-device-type": "neuron_device_type",
    "neuroncore": "neuroncore_version",
}

#: Series that are stated even if they never rose above 0, beside all levels and cumulative counters.
_ALWAYS = frozenset({"completed"})

#: Where the evidence of a group stands that is no member of the document under its own name.
_ANCHORS = {FAILURES: "execution_summary"}

_INT64, _LARGEST = 2**63 - 1, sys.float_info.max
#: Most reports have none, and need not be searched.
_ANY_ERROR = regex(rb'"error"\s*:\s*"[^"]')
_PID = regex(rb'"pid"\s*:\s*"?(\d+)')
_SCALAR = regex(rb'"[^"\n]{1,64}"\s{0,8}:\s{0,8}[^\s{\[,}][^,}\n]{0,400}')
#: How long one report of the cores is about: it hardly differs from report to report.
_PERIOD = regex(rb'"neuroncore_counters"\s{0,8}:\s{0,8}\{\s{0,80}"period"\s{0,8}:\s{0,8}(\d{1,9}(?:\.\d{1,12})?)')
_DEVICE = regex(rb'"neuron_device_index"\s*:\s*"?(\d+)')

_Statement = tuple[str, tuple[tuple[str, Value], ...], int | None]


class _Seen(Struct):
    """A statement that may come again: the sample that shows it first, the member it stands in, and its repetitions."""

    sample: Sample
    anchor: str
    repeats: int = 0


class _Instance(Struct):
    """What one instance reported so far; the last of each group that seldom changes."""

    instance_id: str | None
    board: Board = field(default_factory=Board)
    capacity: Capacity = field(default_factory=Capacity)
    info: InstanceInfo | None = None
    hardware: HardwareInfo | None = None
    memory: MemoryInfo | None = None
    pods: KubernetesInfo | None = None
    tags: dict[int, str] = field(default_factory=dict)
    period_s: float | None = None
    statements: dict[_Statement, _Seen] = field(default_factory=dict)

    def state(self, kind: str, data: Mapping[str, Value], sample: Sample, anchor: str, pid: int | None = None) -> None:
        """Keep a statement that is made once for the whole stream."""
        statement = (kind, tuple(data.items()), pid)
        seen = self.statements.get(statement)
        if seen is not None:
            seen.repeats += 1
        elif len(self.statements) < _MAX_STATEMENTS:
            self.statements[statement] = _Seen(sample, anchor)


def collect(inp: Input) -> Iterator[Fact]:
    """Facts of the kinds counter, level, identity, version, device-count and monitor-error."""
    instances: dict[str | None, _Instance] = {}
    instance: _Instance | None = None
    usual = Usual()
    for sample in samples(inp, usual.takes):
        if sample.taken:
            usual.add(sample)
            continue
        usual.settle()
        instance = _instance_of(sample.report, instances, instance)
        _fold(instance, sample)
        usual.folded(sample, instance.board, instance.capacity)
    usual.settle()
    if not instances:
        raise UnreadableInput("no report of neuron-monitor could be read")
    for instance in instances.values():
        if instance.board.full:
            inp.problem("more processes than can be followed: some were left out")
        yield from _statements(inp, instance)
        yield from _series(inp, instance)


def _instance_of(report: Report, known: dict[str | None, _Instance], latest: _Instance | None) -> _Instance:
    """Whose report it is; one that does not say continues the one before."""
    info = report.instance_info
    instance_id = (info.instance_id or None) if info is not None else None
    if latest is not None and (instance_id is None or (instance_id not in known and len(known) >= _MAX_INSTANCES)):
        return latest
    return known.setdefault(instance_id, _Instance(instance_id))


def _fold(instance: _Instance, sample: Sample) -> None:
    _fold_host(instance, sample)
    if instance.period_s is None and sample.report.neuron_runtime_data:  # the first report of any process
        period = _PERIOD.search(sample.raw)
        instance.period_s = float(period[1]) if period else 0.0
    for group in observed(sample.report):
        if group[0] == PROCESSES and not sample.whole:
            continue  # what is left of a torn list counts nothing
        instance.board.see(group, instance.capacity, sample)
    for process in sample.report.neuron_runtime_data or []:
        if process.pid is not None and process.pid not in instance.tags and len(instance.tags) < _MAX_STATEMENTS:
            instance.tags[process.pid] = without_secrets(str(process.neuron_runtime_tag or ""))
    for name, error, pid in _errors(sample.report) if _ANY_ERROR.search(sample.raw) else ():
        instance.state("monitor-error", {"group": name, "error": without_secrets(error)}, sample, name, pid)


def _fold_host(instance: _Instance, sample: Sample) -> None:
    """What seldom changes: identity, hardware, size of memory, pods."""
    report = sample.report
    memory = report.system_data.memory_info if report.system_data is not None else None
    if memory is not None and memory != instance.memory:
        instance.memory = memory
        instance.capacity = capacity_of(instance.hardware, memory)
    if report.instance_info is not None and report.instance_info != instance.info:
        instance.info = report.instance_info
        _state_identity(instance, report.instance_info, sample)
    if report.neuron_hardware_info is not None and report.neuron_hardware_info != instance.hardware:
        instance.hardware = report.neuron_hardware_info
        instance.capacity = capacity_of(instance.hardware, instance.memory)
        _state_hardware(instance, report.neuron_hardware_info, sample)
    if report.neuron_k8s_info is not None and report.neuron_k8s_info != instance.pods:
        instance.pods = report.neuron_k8s_info
        _state_pods(instance, report.neuron_k8s_info, sample)


def _state_identity(instance: _Instance, info: InstanceInfo, sample: Sample) -> None:
    said = {"instance_id": info.instance_id, "instance_type": info.instance_type, "hostname": sample.host}
    if data := {name: value for name, value in said.items() if value}:
        instance.state("identity", data, sample, next(iter(data)))


def _state_hardware(instance: _Instance, hardware: HardwareInfo, sample: Sample) -> None:
    """Versions, and how many devices there are; with an error the counts are 0 and mean nothing."""
    if sound(hardware) is None:
        return
    for component, member in _COMPONENTS.items():
        if version := getattr(hardware, member):
            instance.state("version", {"component": component, "version": version}, sample, "neuron_hardware_info")
    if hardware.neuron_device_count is None:
        return
    count = device_count(
        hardware.neuron_device_count,
        cores=hardware.neuron_device_count * (hardware.neuroncore_per_device_count or 0),
        instance_type=(instance.info and instance.info.instance_type) or "",
    )
    data = {**count, "lnc": hardware.logical_neuroncore_config or 0}
    instance.state("device-count", data, sample, "neuron_hardware_info")


def _state_pods(instance: _Instance, info: KubernetesInfo, sample: Sample) -> None:
    for holders in (info.neuroncores_k8s_info, info.neurondevices_k8s_info):
        for pod in (holders or {}).values():
            if pod is not None and pod.pod_name:
                name = f"{pod.namespace}/{pod.pod_name}" if pod.namespace else pod.pod_name
                said = {"instance_id": instance.instance_id, "pod": name}
                data = {field: value for field, value in said.items() if value}
                instance.state("identity", data, sample, "neuron_k8s_info")


def _errors(report: Report) -> Iterator[tuple[str, str, int | None]]:
    """Name, error and pid of each group that could not be read."""
    for process in report.neuron_runtime_data or []:
        if process.error:
            yield "neuron_runtime_data", process.error, process.pid
        if process.report is not None:
            for name, error in _group_errors(process.report):
                yield name, error, process.pid
    for part in (report.system_data, report):
        if part is not None:
            for name, error in _group_errors(part):
                yield name, error, None


def _group_errors(part: ProcessReport | SystemData | Report) -> Iterator[tuple[str, str]]:
    for name in part.__struct_fields__:
        group = getattr(part, name)
        if isinstance(group, Group) and group.error:
            yield name, group.error


# --- facts


def _statements(inp: Input, instance: _Instance) -> Iterator[Fact]:
    for (kind, items, pid), seen in instance.statements.items():
        sample = seen.sample
        place = Place(instance_id=instance.instance_id, host=sample.host, pid=pid)
        span = _span(inp, sample, _member(sample.raw, seen.anchor, pid, None))
        yield Fact(kind, dict(items), place.over(inp.place), span, inp.source_id, sample.instant, seen.repeats)


def _series(inp: Input, instance: _Instance) -> Iterator[Fact]:
    for series in instance.board.settled():
        if series.mode is Mode.PERIODIC and not series.increase and series.key[0] not in _ALWAYS:
            continue
        _, pid, device, core, _ = series.key
        tag = instance.tags.get(pid, "") if pid is not None else ""
        data = _level(series) if series.mode is Mode.LEVEL else _counter(series)
        if tag and tag != str(pid):
            data["tag"] = tag
        if core is not None and instance.period_s:
            data["period_s"] = instance.period_s
        sample = series.evidence
        place = Place(instance_id=instance.instance_id, host=sample.host, pid=pid, device=device, core=core)
        found = _device_member(sample.raw, device) if series.mode is Mode.CUMULATIVE else None
        span = _span(inp, sample, found or _member(sample.raw, _ANCHORS.get(series.group, series.group), pid, core))
        kind = "level" if series.mode is Mode.LEVEL else "counter"
        yield Fact(kind, data, place.over(inp.place), span, inp.source_id, sample.instant)


def _counter(series: Series[Sample]) -> dict[str, Value]:
    data: dict[str, Value] = {
        "name": series.key[0],
        "first": _whole(series.first),
        "last": _whole(series.last),
        "increase": _whole(series.increase),
        "samples": series.samples,
        "held": series.held,
    }
    if series.until is not None and series.until.instant is not None:
        data["until_ns"] = series.until.instant.ns
    return data


def _level(series: Series[Sample]) -> dict[str, Value]:
    data: dict[str, Value] = {
        "name": series.key[0],
        "first": _real(series.first),
        "last": _real(series.last),
        "min": _real(series.least),
        "max": _real(series.most),
        "limit": _real(series.limit),
        "samples": series.samples,
        "held": series.held,
    }
    if series.key[4] is not None:
        data["physical_core"] = series.key[4]
    return data


def _real(value: float) -> float:
    return float(max(-_LARGEST, min(value, _LARGEST)))


def _whole(value: float) -> int:
    return int(max(-_INT64, min(value, _INT64)))


# --- where it stands in the report


def _device_member(raw: bytes, device: int | None) -> tuple[int, int] | None:
    """The object of the device, which holds no other."""
    for found in _DEVICE.finditer(raw):
        if device is not None and int(found[1]) == device:
            return _to_brace(raw, max(0, raw.rfind(b"{", 0, found.start())), found.end())
    return None


def _member(raw: bytes, name: str, pid: int | None, core: int | None) -> tuple[int, int]:
    """The member of that name, of that process and core where these are given, up to the end of its first object; the
    whole report where it is not found."""
    start = 0
    if pid is not None:
        start = next((found.end() for found in _PID.finditer(raw) if int(found[1]) == pid), 0)
    steps = (name,) if core is None else (name, str(core))
    for step in steps:
        start = raw.find(b'"%s"' % step.encode(), start)
        if start < 0:
            return 0, len(raw)
    scalar = _SCALAR.match(raw, start)
    return scalar.span() if scalar else _to_brace(raw, start, start)


def _to_brace(raw: bytes, start: int, after: int) -> tuple[int, int]:
    end = raw.find(b"}", after)
    return start, len(raw) if end < 0 else end + 1


def _span(inp: Input, sample: Sample, member: tuple[int, int]) -> Span:
    start, end = member
    raw = sample.raw
    line_start = raw.rfind(b"\n", 0, start) + 1
    characters = len(raw[line_start:start].decode("utf-8", "replace"))
    column = characters + (1 if line_start else sample.column)
    line = sample.line + raw.count(b"\n", 0, start)
    span = span_of(inp.path, raw[start:end].rstrip(), sample.offset + start, line, column)
    return replace(span, text=without_secrets(span.text))
