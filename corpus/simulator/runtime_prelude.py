"""What the runtime prints before anything goes wrong: initialisation, and API calls where the log level asks for them."""

from random import Random

from neuron_doctor.corpus.simulator.history import End, StepDone
from neuron_doctor.corpus.simulator.printed import Printed, Process
from neuron_doctor.corpus.simulator.runtime_blocks import infodump
from neuron_doctor.corpus.simulator.runtime_forms import Said, printed

_OFI = (
    ("int nccl_net_ofi_create_plugin(nccl_net_ofi_plugin_t**):219", "NET/OFI Failed to initialize rdma protocol"),
    ("int nccl_net_ofi_create_plugin(nccl_net_ofi_plugin_t**):354", "NET/OFI aws-ofi-nccl initialization failed"),
    ("ncclResult_t nccl_net_ofi_init_no_atexit_fini_v6(ncclDebugLogger_t):183", "NET/OFI Initializing plugin failed"),
    ("net_plugin.cc:97", "OFI plugin initNet() failed is EFA enabled?"),
)
_WARNED = 0.5  # share of ranks of a single host that warn of its missing EFA
_ARCHITECTURES = {"trn1": "TRN", "trn1n": "TRN", "inf2": "INF2", "trn2": "TRN2", "trn3": "TRN3"}


def prelude(process: Process, random: Random) -> list[Printed]:
    """The lines of a start: benign warnings of a single host always, information at a verbose level."""
    if process.life.end is End.NEVER_STARTED:
        return []
    began = process.life.start + 2.0 + 0.4 * random.random()
    entries = _information(process, began) if process.style.runtime_debug else []
    if len(process.history.job.hosts) == 1 and random.random() < _WARNED:
        warnings = (Said("CCOM", place, text, level="WARN") for place, text in _OFI)
        entries += printed(process, began + 1.0, warnings)
    return entries


def api_calls(process: Process, event: StepDone) -> list[Printed]:
    """The call that ran a step, in and out."""
    calls = (("IN", f"(model=0x{0x55D0C0DE0000 + process.rank:x}, repeat_count=1)"), ("OUT", "(ret=0)"))
    entries: list[Printed] = []
    for way, text in calls:
        time = event.time - event.seconds if way == "IN" else event.time
        entries += printed(process, time, (Said("NRT", "nrt_execute", f"API:{way}: {text}", level="DEBUG"),))
    return entries


def _information(process: Process, began: float) -> list[Printed]:
    host, seat, versions = process.host, process.seat, process.versions
    architecture = _ARCHITECTURES.get(host.instance_type.split(".")[0], "TRN")
    world = process.history.job.world
    lines = (
        ("DEBUG", "NRT", "nrt_init", f"API:IN: (cc_root_comm_id={_root(process)}, num_cores=0, reset_cores=1)"),
        ("INFO", "NRT", "nrt_init", f"Neuron Runtime {versions.get('runtime', '2.30.50.0')} built on Feb 20 2026"),
        ("INFO", "NRT", "nrt_init", f"Found neuron driver: {_two(versions.get('driver', '2.26.5.0'))}"),
        (
            "INFO",
            "NRT",
            "nrt_allocate_neuron_cores",
            (
                f"Instance info:: device count:{host.devices} cores per device:{host.cores_per_device} "
                f"architecture:{architecture}"
            ),
        ),
        ("INFO", "ENC", "check_version", f"Using CCOM {versions.get('collectives', '2.30.58.0')}-"),
        (
            "INFO",
            "TDRV",
            "tdrv_init_one_mla_phase2",
            f"Initialized Device: {seat.device} 00:{0x10 + seat.device:02x}.0",
        ),
        ("DEBUG", "NRT", "nrt_init", "API:OUT: (ret=0)"),
    )
    load = f"(start_nc=0, nc_count=1, global_device_id={seat.rank}, global_device_count={world})"
    said = [Said(component, function, text, level=level, threaded=False) for level, component, function, text in lines]
    entries = printed(process, began, said)
    if process.dialect.infodump:
        entries += printed(process, began + 0.05, infodump(process, None, None, level="INFO"))
    if process.life.last_step < 0 and process.life.end is not End.FINISHED:
        return entries  # it may never have come to load a model
    entries += printed(process, began + 0.6, (Said("NRT", "nrt_load_collectives", f"API:IN: {load}", level="DEBUG"),))
    return entries + printed(
        process, began + 1.4, (Said("NRT", "nrt_load_collectives", "API:OUT: (ret=0)", level="DEBUG"),)
    )


def _root(process: Process) -> str:
    return f"{process.history.job.hosts[0].address}:62182"


def _two(version: str) -> str:
    return ".".join(version.split(".")[:2])
