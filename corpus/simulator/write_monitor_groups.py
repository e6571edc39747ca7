"""The metric groups of neuron-monitor's reports, as its user guide documents them."""

from collections import Counter
from collections.abc import Mapping
from random import Random

from neuron_doctor.corpus.simulator.job import Host, Seat
from neuron_doctor.corpus.simulator.write_monitor_work import Work

Json = dict[str, object]

_PERCENTILES = (("p0", 0.97), ("p1", 0.975), ("p25", 0.99), ("p50", 1.0), ("p75", 1.01), ("p99", 1.06), ("p100", 1.09))
# What a status counts as: in error_summary and in execution_summary.
_ERRORS = {
    1: ("generic", "completed_with_err"),
    2: ("model", "completed_with_err"),
    4: ("runtime", "completed_with_err"),
    5: ("generic", "timed_out"),
    6: ("hardware", "completed_with_err"),
    7: ("runtime", "failed_to_queue"),
    1002: ("generic", "incorrect_input"),
    1003: ("numerical", "completed_with_num_err"),
    1004: ("generic", "completed_with_err"),
    1006: ("model", "completed_with_err"),
    1200: ("hardware", "timed_out"),
    1201: ("hardware", "completed_with_err"),
    1202: ("hardware", "completed_with_err"),
    1203: ("hardware", "completed_with_err"),
    1205: ("hardware", "completed_with_err"),
}
_ERROR_KINDS = ("generic", "numerical", "transient", "model", "runtime", "hardware")
_OUTCOMES = ("completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input", "failed_to_queue")
_OTHER = ("runtime", "completed_with_err")
_TYPES = {"trn2": ("trainium2", "v4", "v3d", 103079215104, 2), "trn1": ("trainium", "v3", "v2", 34359738368, 1)}
_REGION, _ZONE = "us-west-2", "us-west-2d"


def cores(seat: Seat, busy: float, period: float, random: Random) -> Json:
    """Utilization of the rank's core; a core on which something never ends is always in use."""
    utilization = round(min(busy * 100 * random.uniform(0.97, 1.0), 100.0), 2)
    flops = int(utilization * 4.1e11 * random.uniform(0.9, 1.0)) if busy < 1.0 else 0
    core: Json = {"neuroncore_utilization": utilization, "flops": flops}
    return {"period": period, "neuroncores_in_use": {str(seat.core): core}, "error": ""}


def executions(work: Work, since: float, until: float, random: Random) -> Json:
    """Outcomes in the period; latencies are null where nothing completed."""
    completed = work.executions(since, until)
    errors, outcomes = _counts(work.failed(since, until))
    latency = _latency(work, random) if completed else None
    return {
        "period": until - since,
        "error_summary": {name: errors[name] for name in _ERROR_KINDS},
        "execution_summary": {"completed": completed, **{name: outcomes[name] for name in _OUTCOMES}},
        "latency_stats": {"total_latency": latency, "device_latency": latency},
        "error": "",
    }


def _latency(work: Work, random: Random) -> dict[str, float]:
    return {name: round(work.latency * share * random.uniform(0.999, 1.001), 8) for name, share in _PERCENTILES}


def _counts(failed: Counter[int]) -> tuple[Counter[str], Counter[str]]:
    errors: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    for status, count in failed.items():
        error, outcome = _ERRORS.get(status, _OTHER)
        errors[error] += count
        outcomes[outcome] += count
    return errors, outcomes


def memory(seat: Seat, held: Mapping[str, int], host_bytes: int, period: float) -> Json:
    """Memory of the application, on the host and on its core."""
    host = {
        "application_memory": host_bytes * 7 // 10,
        "constants": 0,
        "dma_buffers": host_bytes * 2 // 10,
        "tensors": host_bytes // 10,
    }
    breakdown = {"host": host, "neuroncore_memory_usage": {str(seat.core): dict(held)}}
    used = {"host": sum(host.values()), "neuron_device": sum(held.values()), "usage_breakdown": breakdown}
    return {"period": period, "neuron_runtime_used_bytes": used, "loaded_models": [], "error": ""}


def application_cpu(period: float, random: Random) -> Json:
    """CPU time of the application."""
    usage = {"user": round(random.uniform(60, 130), 2), "system": round(random.uniform(2, 12), 2)}
    return {"period": period, "vcpu_usage": usage, "error": ""}


def ecc(counts: Mapping[int, Mapping[str, int]], devices: int, period: float) -> Json:
    """ECC events per device since the driver was loaded."""
    fields = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_uncorrected", "sram_ecc_corrected")
    listed = [
        {"neuron_device_index": device, **{field: counts.get(device, {}).get(field, 0) for field in fields}}
        for device in range(devices)
    ]
    return {"period": period, "neuron_devices": listed, "error": ""}


def host_cpu(period: float, random: Random) -> Json:
    """CPU use of the host, averaged and of its first CPUs."""
    usage = {str(cpu): _cpu(random) for cpu in range(4)}
    switches = random.randrange(60_000, 900_000)
    return {
        "period": period,
        "average_usage": _cpu(random),
        "usage_data": usage,
        "context_switch_count": switches,
        "error": "",
    }


def _cpu(random: Random) -> Json:
    user, system = round(random.uniform(15, 45), 2), round(random.uniform(2, 9), 2)
    idle = round(100 - user - system, 2)
    return {"user": user, "nice": 0, "system": system, "idle": idle, "io_wait": 0, "irq": 0, "soft_irq": 0}


def host_memory(total: int, used: int, period: float) -> Json:
    """Memory of the host."""
    return {
        "period": period,
        "memory_total_bytes": total,
        "memory_used_bytes": used,
        "swap_total_bytes": 0,
        "swap_used_bytes": 0,
        "error": "",
    }


def instance(host: Host) -> Json:
    """Which instance it is."""
    draw = Random(f"instance:{host.instance_id}")
    return {
        "instance_name": "",
        "instance_id": host.instance_id,
        "instance_type": host.instance_type,
        "instance_availability_zone": _ZONE,
        "instance_availability_zone_id": "usw2-az4",
        "instance_region": _REGION,
        "ami_id": f"ami-{Random('ami').getrandbits(68):017x}",
        "subnet_id": f"subnet-{draw.getrandbits(68):017x}",
        "error": "",
    }


def hardware(host: Host, newer: bool) -> Json:
    """What devices the instance has; newer versions tell more."""
    family = "trn2" if host.instance_type.startswith("trn2") else "trn1"
    name, version, core, size, logical = _TYPES[family]
    said: Json = {
        "neuron_device_version": version,
        "neuroncore_version": core,
        "neuron_device_count": host.devices,
        "neuroncore_per_device_count": host.cores_per_device,
        "error": "",
    }
    if newer:
        said = {
            "neuron_device_type": name,
            "neuron_device_memory_size": size,
            "logical_neuroncore_config": logical,
            **said,
        }
    return said
