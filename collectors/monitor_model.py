"""The documents that neuron-monitor prints, as types: what is asked for, all of it optional, anything else skipped.

Source: Neuron Monitor User Guide, editions for Inf1/Inf2/Trn1 (SDK 2.1x) and for Trn2 (SDK 2.32). Sizes are bytes,
periods and latencies seconds, utilisations percent.
"""

from __future__ import annotations

import msgspec

Number = int | float | None


class _Json(msgspec.Struct, gc=False):
    """A part of a document; a tree cannot hold a cycle, so the collector of garbage need not look at it."""


class Group(_Json):
    """What every metric group carries: a non-empty `error` means that there is no data, not that all is well."""

    error: str | None = None


class PhysicalCore(_Json):
    """A physical core below a logical one (Trn2)."""

    neuroncore_utilization: Number = None


class PhysicalCores(_Json):
    """Physical cores by index."""

    nc_v3: dict[str, PhysicalCore | None] | None = None


class Core(_Json):
    """A NeuronCore in use during the period."""

    neuroncore_utilization: Number = None
    v3d: PhysicalCores | None = None


class CoreCounters(Group):
    """`neuroncore_counters`: cores by index."""

    neuroncores_in_use: dict[str, Core | None] | None = None


class ErrorSummary(_Json):
    """Execution errors in the period; the guide's prose says `numeric`, its JSON `numerical`."""

    generic: Number = None
    numerical: Number = None
    numeric: Number = None
    transient: Number = None
    model: Number = None
    runtime: Number = None
    hardware: Number = None


class ExecutionSummary(_Json):
    """Outcomes of executions in the period."""

    completed: Number = None
    completed_with_err: Number = None
    completed_with_num_err: Number = None
    timed_out: Number = None
    incorrect_input: Number = None
    failed_to_queue: Number = None


class Latency(_Json):
    """Percentiles of the period."""

    p50: Number = None
    p99: Number = None


class LatencyStats(_Json):
    """Null where nothing was executed."""

    total_latency: Latency | None = None


class ExecutionStats(Group):
    """`execution_stats` of one process."""

    error_summary: ErrorSummary | None = None
    execution_summary: ExecutionSummary | None = None
    latency_stats: LatencyStats | None = None


class UsageBreakdown(_Json):
    """Device memory by core, then by usage class."""

    neuroncore_memory_usage: dict[str, dict[str, Number] | None] | None = None


class UsedBytes(_Json):
    """Memory of one process."""

    host: Number = None
    neuron_device: Number = None
    usage_breakdown: UsageBreakdown | None = None


class MemoryUsed(Group):
    """`memory_used` of one process."""

    neuron_runtime_used_bytes: UsedBytes | None = None


class CpuShare(_Json):
    """Shares of time."""

    user: Number = None
    system: Number = None
    idle: Number = None
    io_wait: Number = None


class RuntimeCpu(Group):
    """`neuron_runtime_vcpu_usage` of one process."""

    vcpu_usage: CpuShare | None = None


class ProcessReport(_Json):
    """The groups of one process."""

    neuroncore_counters: CoreCounters | None = None
    execution_stats: ExecutionStats | None = None
    memory_used: MemoryUsed | None = None
    neuron_runtime_vcpu_usage: RuntimeCpu | None = None


class Process(_Json):
    """One Neuron application."""

    pid: int | None = None
    neuron_runtime_tag: str | int | None = None
    error: str | None = None
    report: ProcessReport | None = None


class DeviceEcc(_Json):
    """ECC events of one device; the counters accumulate."""

    neuron_device_index: int | None = None
    mem_ecc_corrected: Number = None
    mem_ecc_uncorrected: Number = None
    mem_ecc_repairable_uncorrected: Number = None
    sram_ecc_corrected: Number = None
    sram_ecc_uncorrected: Number = None


class HardwareCounters(Group):
    """`neuron_hw_counters`."""

    neuron_devices: list[DeviceEcc] | None = None


class CpuUsage(Group):
    """`vcpu_usage` of the host."""

    average_usage: CpuShare | None = None


class MemoryInfo(Group):
    """`memory_info` of the host."""

    memory_total_bytes: Number = None
    memory_used_bytes: Number = None
    swap_total_bytes: Number = None
    swap_used_bytes: Number = None


class SystemData(_Json):
    """The groups of the host."""

    neuron_hw_counters: HardwareCounters | None = None
    vcpu_usage: CpuUsage | None = None
    memory_info: MemoryInfo | None = None


class InstanceInfo(Group):
    """Who reports."""

    instance_id: str | None = None
    instance_type: str | None = None


class HardwareInfo(Group):
    """What the instance has; the last three are not in the older edition."""

    neuron_device_version: str | None = None
    neuroncore_version: str | None = None
    neuron_device_count: int | None = None
    neuroncore_per_device_count: int | None = None
    neuron_device_type: str | None = None
    neuron_device_memory_size: Number = None
    logical_neuroncore_config: int | None = None


class Pod(_Json):
    """Who was given a core or a device."""

    pod_name: str | None = None
    namespace: str | None = None


class KubernetesInfo(Group):
    """`neuron_k8s_info`: pods by core and by device."""

    neuroncores_k8s_info: dict[str, Pod | None] | None = None
    neurondevices_k8s_info: dict[str, Pod | None] | None = None


class Report(_Json):
    """One document."""

    neuron_runtime_data: list[Process] | None = None
    system_data: SystemData | None = None
    instance_info: InstanceInfo | None = None
    neuron_hardware_info: HardwareInfo | None = None
    neuron_k8s_info: KubernetesInfo | None = None


EMPTY = Report()

#: Raises what is in `base.UNREADABLE_JSON`.
decode = msgspec.json.Decoder(Report, strict=False).decode
