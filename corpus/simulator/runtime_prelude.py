"""What the runtime prints before anything goes wrong: initialisation, and API calls where the log level asks for them."""

from collections.abc import Iterable, Sequence
from random import Random

from neuron_doctor.corpus.simulator import pci
from neuron_doctor.corpus.simulator.history import End, Event, ExecutionFailed, SetupFailed, StepDone
from neuron_doctor.corpus.simulator.printed import Printed, Process
from neuron_doctor.corpus.simulator.runtime_blocks import infodump
from neuron_doctor.corpus.simulator.runtime_forms import Said, printed

_OFI = (
    ("int nccl_net_ofi_create_plugin(nccl_net_ofi_plugin_t**):219", "NET/OFI Failed to initialize rdma protocol"),
    ("int nccl_net_ofi_create_plugin(nccl_net_ofi_plugin_t**):354", "NET/OFI aws-ofi-nccl initialization failed"),
    ("ncclResult_t nccl_net_ofi_init_no_atexit_fini_v6(ncclDebugLogger_t):183", "NET/OFI Initializing plugin failed"),
    ("net_plugin.cc:97", "OFI plugin initNet() failed is EFA enabled?"),
)
_IN, _OUT = "API:IN: {}", "API:OUT: (ret={})"
_WITHIN_INIT = frozenset(
    {"core-in-use", "driver-incompatible", "driver-missing", "device-open-failed", "insufficient-cores"}
)
_WARNED = 0.5  # share of ranks of a single host that warn of its missing EFA
_ARCHITECTURES = {"trn1": "TRN", "trn1n": "TRN", "inf2": "INF2", "trn2": "TRN2", "trn3": "TRN3"}


def prelude(process: Process, events: Sequence[Event], random: Random) -> list[Printed]:
    """The lines of a start: benign warnings of a single host always, information at a verbose level."""
    if process.life.end is End.NEVER_STARTED:
        return []
    began = process.life.start + 2.0 + 0.4 * random.random()
    entries = _information(process, events, began) if process.style.runtime_debug else []
    if len(process.history.job.hosts) == 1 and random.random() < _WARNED:
        warnings = (Said("CCOM", place, text, level="WARN") for place, text in _OFI)
        entries += printed(process, began + 1.0, warnings)
    return entries


def api_calls(process: Process, event: StepDone) -> list[Printed]:
    """The call that ran a step, in and out."""
    begun = _api(process, event.time - event.seconds, "nrt_execute", _IN.format(_model(process)))
    return begun + _api(process, event.time, "nrt_execute", _OUT.format(0))


def open_call(process: Process, events: Sequence[Event]) -> list[Printed]:
    """The call that a rank did not come back from: it went in, and came out with an error or not at all."""
    last = max((event.time for event in events if isinstance(event, StepDone)), default=process.life.start)
    waiting = [call.issued for call in process.life.calls if call.completed is None]
    if not waiting:
        return []  # its host never came to the execution
    entries = _api(process, max(last, min(waiting) - 0.002), "nrt_execute", _IN.format(_model(process)))
    failed = next((event for event in events if isinstance(event, ExecutionFailed)), None)
    if failed is not None:
        entries += _api(process, failed.time + 0.015, "nrt_execute", _OUT.format(failed.status))
    return entries


def _api(process: Process, time: float, function: str, text: str) -> list[Printed]:
    return printed(process, time, (Said("NRT", function, text, level="DEBUG"),))


def _model(process: Process) -> str:
    return f"(model=0x{0x55D0C0DE0000 + process.rank:x}, repeat_count=1)"


def _information(process: Process, events: Sequence[Event], began: float) -> list[Printed]:
    """Up to the call that failed, if one did."""
    said = list(_initialised(process))
    failed = next((event for event in events if isinstance(event, SetupFailed)), None)
    if failed is not None and failed.what in _WITHIN_INIT:
        return printed(process, began, said[:1]) + _api(process, failed.time + 0.01, "nrt_init", _OUT.format(1))
    entries = printed(process, began, said)
    if process.dialect.infodump:
        entries += printed(process, began + 0.05, infodump(process, None, None, level="INFO"))
    world = process.history.job.world
    load = f"(start_nc=0, nc_count=1, global_device_id={process.rank}, global_device_count={world})"
    entries += _api(process, began + 0.6, "nrt_load_collectives", _IN.format(load))
    if failed is not None:
        return entries + _api(process, failed.time + 0.01, "nrt_load_collectives", _OUT.format(1))
    met = bool(process.life.calls) or process.life.last_step >= 0
    return entries + (_api(process, began + 1.4, "nrt_load_collectives", _OUT.format(0)) if met else [])


def _initialised(process: Process) -> Iterable[Said]:
    host, seat, versions = process.host, process.seat, process.versions
    architecture = _ARCHITECTURES.get(host.instance_type.split(".", maxsplit=1)[0], "TRN")
    instance = f"device count:{host.devices} cores per device:{host.cores_per_device} architecture:{architecture}"
    init = _IN.format(f"(cc_root_comm_id={_root(process)}, num_cores=0, reset_cores=1)")
    lines = (
        ("DEBUG", "NRT", "nrt_init", init),
        ("INFO", "NRT", "nrt_init", f"Neuron Runtime {versions.get('runtime', '2.30.50.0')} built on Feb 20 2026"),
        ("INFO", "NRT", "nrt_init", f"Found neuron driver: {_two(versions.get('driver', '2.26.5.0'))}"),
        ("INFO", "NRT", "nrt_allocate_neuron_cores", f"Instance info:: {instance}"),
        ("INFO", "ENC", "check_version", f"Using CCOM {versions.get('collectives', '2.30.58.0')}-"),
        ("INFO", "TDRV", "tdrv_init_one_mla_phase2", f"Initialized Device: {seat.device} {pci.bdf(seat.device)}"),
        ("DEBUG", "NRT", "nrt_init", _OUT.format(0)),
    )
    return (Said(component, function, text, level=level, threaded=False) for level, component, function, text in lines)


def _root(process: Process) -> str:
    return f"{process.history.job.hosts[0].address}:62182"


def _two(version: str) -> str:
    return ".".join(version.split(".")[:2])
