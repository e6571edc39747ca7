"""Blocks of the runtime: `nrt_infodump`, and the table of device memory that comes with a failed allocation."""

from collections.abc import Iterable
from random import Random

from neuron_doctor.corpus.simulator.history import DeviceMemoryExhausted
from neuron_doctor.corpus.simulator.printed import Line, Printed, Process, Voice
from neuron_doctor.corpus.simulator.runtime_forms import Said, printed

_OPEN = "------------->8------------[ cut here ]------------>8-------------"
_CLOSE = "-------------8<-----------[ cut to here ]-----------8<------------"
_KERNELS = (
    "Linux 6.8.0-1031-aws #33~22.04.1-Ubuntu SMP Thu Jun 26 13:59:51 UTC 2025",
    "Linux 5.10.240-238.959.amzn2.x86_64 #1 SMP Thu Aug 7 19:38:22 UTC 2025",
    "Linux 6.1.150-174.273.amzn2023.x86_64 #1 SMP PREEMPT_DYNAMIC Mon Sep 15 18:12:10 UTC 2025",
)
_COLUMNS = (
    ("Model Code", "code"),
    ("Model Constants", "constants"),
    ("Tensors", "tensors"),
    ("Shared Scratchpad", "shared scratchpad"),
    ("Scratchpad", "scratchpad"),
    ("Runtime", "runtime"),
    ("DMA Rings IO", "dma rings"),
    ("Collectives", "collectives"),
)
_SHARES = (0.01, 0.02, 0.78, 0.12, 0.03, 0.01, 0.02, 0.01)  # where the event does not say what filled it
_FULL = 24 << 30
_UNITS = ("B", "KB", "MB", "GB")


def infodump(process: Process, failure: str | None, fault: int | None, level: str = "ERROR") -> Iterable[Said]:
    """The block as messages; `fault` is stated by the line of the failure."""
    yield _dump("Neuron runtime information - please include in any support request:", level)
    yield _dump(_OPEN, level)
    for text in _facts(process):
        yield _dump(text, level)
    if failure is not None:
        yield _dump(f"Failure: {failure}", level, fault)
    yield _dump("LNC: 0", level)
    yield _dump(f"Visible cores: {process.seat.core}", level)
    yield _dump("Environment:", level)
    for name, value in _environment(process):
        yield _dump(f"    {name}={value}", level)
    yield _dump(_CLOSE, level)


def _dump(text: str, level: str, fault: int | None = None) -> Said:
    return Said("NRT", "nrt_infodump", text, fault, level)


def _facts(process: Process) -> Iterable[str]:
    versions, job, host = process.versions, process.history.job, process.host
    random = Random(f"build {versions.get('runtime')}")
    yield f"NRT version: {versions.get('runtime', '2.30.50.0')} ({random.randrange(16**40):040x})"
    yield (f'Embedded FW version: 1.21.1.0 ({random.randrange(16**40):040x}) loaded from "libnrtucode_extisa.so"')
    yield f"CCOM version: {versions.get('collectives', '2.30.58.0')}- (compat 78)"
    yield f"Instance ID: {host.instance_id}"
    yield f"Cluster ID: {Random(f'cluster {job.job_id}').randrange(16**16):016x}"
    yield f"Kernel: {Random(f'kernel {job.job_id}').choice(_KERNELS)}"
    yield f"Nodename: {host.pod or host.name}"
    yield f"Driver version: {versions.get('driver', '2.26.5.0')}\n"  # an empty line follows in the real block


def _environment(process: Process) -> Iterable[tuple[str, str]]:
    root = process.history.job.hosts[0].address
    yield "NEURON_RT_ROOT_COMM_ID", f"{root}:62182"
    yield "NEURON_RT_VISIBLE_CORES", str(process.seat.core)
    yield "NEURON_RT_STOCHASTIC_ROUNDING_EN", "1"
    yield "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "7"
    yield "NEURON_FUSE_SOFTMAX", "1"


def memory_table(process: Process, event: DeviceMemoryExhausted, random: Random) -> list[Printed]:
    """The failed allocation, and what fills the device."""
    seat = process.seat
    usage = random.choice(("tensors", "shared scratchpad", "model code"))
    twin = seat.core ^ 1
    head = (
        Said(
            "TDRV",
            "print_lnc_hbm_details",
            f"LNC size is 1. Neuron Cores using this HBM: NC {min(seat.core, twin)} and NC {max(seat.core, twin)}",
        ),
        Said(
            "TDRV",
            "log_dev_mem",
            f"Failed to allocate {_size(event.asked)} (alignment: none, usage: {usage}) on ND {seat.device}:NC {seat.core}",
            event.fault,
        ),
        Said("TDRV", "log_dev_mem_usage_table", "Displaying Current Memory Utilization:"),
    )
    entries = printed(process, event.time, head)
    table = Printed(event.time + 0.002, tuple(_table(process, event)), Voice.RUNTIME, process.rank)
    failure = "NRT_RESOURCE in nrt_tensor_allocate()"
    tail = infodump(process, failure, event.fault) if process.dialect.infodump else ()
    return [*entries, table, *printed(process, event.time + 0.004, tail)]


def _table(process: Process, event: DeviceMemoryExhausted) -> Iterable[Line]:
    used = [event.used.get(key, 0) for _, key in _COLUMNS] if event.used else [int(_FULL * share) for share in _SHARES]
    rows = (f"ND {process.seat.device} Overall", f"\\_NC {process.seat.core}", "  \\_NEFF 1001")
    yield Line(f"{'':<17}|  TOTAL   |" + "|".join(f"{name:^22}" for name, _ in _COLUMNS) + "|")
    for row in rows:
        cells = "|".join(f"{_size(bytes_):^22}" for bytes_ in used)
        yield Line(f"{row:<17}|{_size(sum(used)):^10}|{cells}|")


def _size(number: int) -> str:
    """4.000GB: three decimals in the largest unit that fits."""
    power = min(max(number.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    return f"{number / 1024**power:.3f}{_UNITS[power]}"
