"""A neuron-monitor stream and a Chrome trace of neuron-det, of any size, from drawn pieces."""

from __future__ import annotations

import json
import random
from pathlib import Path

#: Reports and blocks of events that are drawn; longer streams go through them again.
_REPORTS, _BLOCKS, _EVENTS = 768, 32, 4_000
_DEVICES, _CORES = 16, 32
#: Stands for the leading digits of a time in microseconds.
_EPOCH = b"@@@@@"
_NAMES = (
    "nrt_execute",
    "nc_exec",
    "cc_exec_barrier",
    "cc_op_exec",
    "cc_barrier_recv (1->0)",
    "sync_exec - MODULE_9.neff",
)
Json = dict[str, object]


def write_monitor(path: Path, size: int) -> None:
    """The stream of a trn1.32xlarge, of which 16 processes use two cores each; nothing is wrong."""
    draw = random.Random(3)
    reports = [json.dumps(_report(draw), separators=(",", ":")).encode() + b"\n" for _ in range(_REPORTS)]
    with path.open("wb") as file:
        for number in range(max(size // len(reports[0]), 1)):
            file.write(reports[number % _REPORTS])


def _report(draw: random.Random) -> Json:
    period = round(1 + draw.random() / 100, 9)
    errors = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_uncorrected", "sram_ecc_corrected")
    cpu = {
        name: round(draw.uniform(0, 40), 2) for name in ("user", "nice", "system", "idle", "io_wait", "irq", "soft_irq")
    }
    devices = [{"neuron_device_index": number, **dict.fromkeys(errors, 0)} for number in range(_DEVICES)]
    return {
        "neuron_runtime_data": [_process(draw, number, period) for number in range(_CORES // 2)],
        "system_data": {
            "memory_info": {"period": period, "memory_total_bytes": 1 << 39, "memory_used_bytes": draw.getrandbits(38),
                            "swap_total_bytes": 0, "swap_used_bytes": 0, "error": ""},
            "neuron_hw_counters": {"period": period, "neuron_devices": devices, "error": ""},
            "vcpu_usage": {"period": period, "average_usage": cpu, "usage_data": {str(n): cpu for n in range(64)},
                           "context_switch_count": draw.getrandbits(20), "error": ""},
        },
        "instance_info": {"instance_name": "", "instance_id": "i-0123456789abcdef0", "instance_type": "trn1.32xlarge",
                          "instance_availability_zone": "us-west-2d", "instance_availability_zone_id": "usw2-az4",
                          "instance_region": "us-west-2", "ami_id": "ami-0123456789abcdef0",
                          "subnet_id": "subnet-0123456789abcdef0", "error": ""},
        "neuron_hardware_info": {"neuron_device_version": "v2", "neuroncore_version": "v2", "neuron_device_count": 16,
                                 "neuroncore_per_device_count": 2, "error": ""},
    }  # fmt: skip


def _process(draw: random.Random, number: int, period: float) -> Json:
    cores = [str(2 * number), str(2 * number + 1)]
    latency = {name: round(draw.uniform(0.04, 0.06), 8) for name in ("p0", "p1", "p25", "p50", "p75", "p99", "p100")}
    classes = ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors")
    held = {core: {name: draw.getrandbits(30) for name in classes} for core in cores}
    used = {
        core: {"neuroncore_utilization": round(draw.uniform(60, 99), 2), "flops": draw.getrandbits(44)}
        for core in cores
    }
    failed = ("completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input", "failed_to_queue")
    kinds = ("generic", "numerical", "transient", "model", "runtime", "hardware")
    host = {name: draw.getrandbits(28) for name in ("application_memory", "constants", "dma_buffers", "tensors")}
    report = {
        "neuroncore_counters": {"period": period, "neuroncores_in_use": used, "error": ""},
        "execution_stats": {"period": period, "error_summary": dict.fromkeys(kinds, 0),
                            "execution_summary": {"completed": draw.randrange(16, 24), **dict.fromkeys(failed, 0)},
                            "latency_stats": {"total_latency": latency, "device_latency": latency}, "error": ""},
        "memory_used": {"period": period, "loaded_models": [], "error": "", "neuron_runtime_used_bytes": {
            "host": draw.getrandbits(30), "neuron_device": draw.getrandbits(34),
            "usage_breakdown": {"host": host, "neuroncore_memory_usage": held}}},
        "neuron_runtime_vcpu_usage": {"period": period, "vcpu_usage": {"user": 80.0, "system": 4.0}, "error": ""},
    }  # fmt: skip
    return {
        "pid": 4000 + number,
        "address": "",
        "neuron_runtime_tag": str(4000 + number),
        "error": "",
        "report": report,
    }


def write_trace(path: Path, size: int) -> None:
    """A trace of `size` bytes in which every event ended."""
    draw = random.Random(4)
    blocks = [_events(draw) for _ in range(_BLOCKS)]
    name = "ndet/ndet_2024-03-14_08-20-50_88211_i-0ab3c4d5e6f7a8b90.txt - (GIDs: [0, 1])"
    with path.open("wb") as file:
        file.write(
            b'{"traceEvents": ['
            + json.dumps({"ph": "M", "name": "process_name", "pid": 0, "args": {"name": name}}).encode()
        )
        number = 0
        while file.tell() < size:
            file.write(blocks[number % _BLOCKS].replace(_EPOCH, b"%d" % (10_000 + number)))
            number += 1
        file.write(b"]}\n")


def _events(draw: random.Random) -> bytes:
    """Events of some milliseconds, each with a comma before it."""
    args = '{"gid": %d, "exec_id": %d, "ret": 0}'
    line = f', {{"ph": "X", "name": "%s", "pid": 0, "tid": %d, "ts": @@@@@%07d.%d, "dur": %d.%d, "args": {args}}}'
    times = sorted(draw.randrange(10**7) for _ in range(_EVENTS))
    return "".join(
        line
        % (
            draw.choice(_NAMES),
            core := draw.getrandbits(1),
            at,
            draw.randrange(10),
            draw.randrange(5000),
            draw.randrange(10),
            core,
            at,
        )
        for at in times
    ).encode()
