"""What the kernel says of the events of a job: hardware errors, crashes, OOM kills, a broken machine."""

from collections.abc import Iterator
from random import Random

from neuron_doctor.corpus.simulator import clocks, pci
from neuron_doctor.corpus.simulator.history import (
    Event,
    ExecutionFailed,
    HangSuspected,
    HardwareError,
    History,
    HostHardwareError,
    KernelOom,
    ProcessSignalled,
    SetupFailed,
)
from neuron_doctor.corpus.simulator.host_events import host_of, place_of
from neuron_doctor.corpus.simulator.job import Host
from neuron_doctor.corpus.simulator.write_kernel_forms import Level, Message
from neuron_doctor.corpus.simulator.write_kernel_oom import report

_HW_ERR = (
    "NEURON_HW_ERR={name} instance-id={instance} hostname={host} nd-id={device} nc-id={core} serial-num={serial} "
    "action=TERMINATE_INSTANCE"
)
# The names the runtime uses for an error; one is drawn where it has several. A repairable error has no documented name.
_HW_NAMES = {
    "hbm-ue": ("HBM_UNCORRECTABLE_ERROR",),
    "sram-ue": ("SRAM_UNCORRECTABLE_ERROR", "SRAM_UNCORRECTABLE_ERROR", "NC_UNCORRECTABLE_ERROR"),
    "dma-abort": ("DMA_ERROR",),
}
_HBM = (
    "(FATAL-RT-UNDEFINED-STATE) [ND {device}] Uncorrectable HBM memory error is detected. "
    "Execution results may be invalid. "
)
_SRAM = "(FATAL-RT-UNDEFINED-STATE) [ND {device}][NC {core}] Uncorrectable memory error is detected, metadata: 0x16. "
# The runtime's own error lines, which it pushes to the kernel's ring through the driver, without a prefix.
_MIRRORED = {
    "hbm-ue": (_HBM + "Please terminate this instance to prevent future impact from the hardware error.",),
    "hbm-ue-repairable": (
        _HBM
        + "Please reload the neuron driver or reboot your EC2 instance to prevent future impact from the hardware error.",
    ),
    "sram-ue": (
        _SRAM + "Please terminate or stop/start this instance to prevent future impact from the hardware error.",
    ),
    "dma-abort": (
        "[MLA {device}][NC {core}] DMA TX engine {engine} is in an abort state",
        "[MLA {device}][NC {core}] DMA RX engine {engine} is in an abort state",
    ),
}
_PCIE_NAMING = 2  # its first lines name the device
_PCIE = (
    "pcieport 0000:{port}: AER: Uncorrected (Fatal) error received: 0000:{bdf}",
    "neuron-driver 0000:{bdf}: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)",
    "neuron-driver 0000:{bdf}:   device [1d0f:{id}] error status/mask=00004000/00000000",
    "neuron-driver 0000:{bdf}:    [14] CmpltTO                (First)",
    "pcieport 0000:{port}: AER: device recovery failed",
)
_REGISTER = "register read failure while reading {address}"
_COPY_TIMEOUT = (
    "neuron:ndma_memcpy_wait_for_completion: "
    "DMA completion timeout on nd{device:02d} for DMA_ENG_{engine} q0 desc count {count}"
)
_MACHINE = {
    "machine-check": (
        "mce: [Hardware Error]: Machine check events logged",
        "mce: [Hardware Error]: CPU {cpu}: Machine Check Exception: 5 Bank 8: be00000000800400",
        "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x{page:x})",
    ),
    "disk-io": (
        "nvme nvme1: I/O {cpu} QID 7 timeout, aborting",
        "blk_update_request: I/O error, dev nvme1n1, sector {page} op 0x1:(WRITE) flags 0x104000 phys_seg 1 prio class 0",
        "Buffer I/O error on device nvme1n1p1, logical block {block}",
    ),
    "file-system": (
        "EXT4-fs error (device nvme1n1p1): ext4_find_entry:1683: inode #{block}: comm python3: reading directory lblock 0",
        "EXT4-fs (nvme1n1p1): Remounting filesystem read-only",
    ),
}
_MAPPED = "in {library}[7f{base:010x}+1e4000]"
_TRAPPED = "ip:7f{ip:010x} sp:7ffd{sp:08x} error:0 " + _MAPPED
_CRASH = {
    11: "python3[{pid}]: segfault at {address:x} ip 00007f{ip:010x} sp 00007ffd{sp:08x} error 4 " + _MAPPED,
    7: "traps: python3[{pid}] bus error " + _TRAPPED,
    8: "traps: python3[{pid}] trap divide error " + _TRAPPED,
    4: "traps: python3[{pid}] trap invalid opcode " + _TRAPPED,
}
_LIBRARIES = ("libtorch_cpu.so", "libtorch_python.so", "libc.so.6", "libpython3.10.so.1.0", "_multiarray_umath.so")
_HANG_ON_COLLECTIVES = 1200
_PID_OF_HOLDER = "neuron:npid_attach: neuron:npid_attach: pid={pid}, slot=0"
_BAD_IOCTL = "neuron:ncdev_misc_ioctl: invalid misc IOCTL 116 (dir=3, type=78, nr=116, size=16)"


def said(event: Event, history: History, random: Random, *, names_hangs: bool, mirrors: bool) -> Iterator[Message]:
    """The kernel's lines for an event on its host. `names_hangs`: this runtime reports hangs to the kernel as hardware
    errors (at the victims, too); `mirrors`: it pushes its error lines there."""
    match event:
        case HardwareError():
            yield from _hardware(event, history, random, mirrors)
        case HostHardwareError():
            yield from _machine(event, random)
        case KernelOom():
            yield from report(event, history, random)
        case ProcessSignalled(by="itself", signal=signal) if signal in _CRASH:
            yield from _crash(event, history, random)
        case ExecutionFailed(status=status) if names_hangs and status == _HANG_ON_COLLECTIVES:
            yield _hang(event, "HANG_ON_COLLECTIVES", None, history)  # every victim says so
        case HangSuspected(collective=False) if names_hangs:
            yield _hang(event, "HANG_ON_COMPUTE", event.fault, history)
        case SetupFailed(what="core-in-use"):
            pid = event.detail.get("pid", "48112")
            yield Message(history.job.start - random.uniform(600, 9000), _PID_OF_HOLDER.format(pid=pid))
        case SetupFailed(what="driver-incompatible"):
            yield Message(event.time, _BAD_IOCTL, Level.ERR)


def _host(event: Event, history: History) -> Host:
    return history.job.hosts[host_of(event, history.job) or 0]


def hardware_error_line(event: Event, name: str, history: History) -> str:
    """The line in which the runtime summarizes a hardware error for the kernel's log."""
    host = _host(event, history)
    device, core = place_of(event, history.job)
    return _HW_ERR.format(
        name=name,
        instance=host.instance_id,
        host=host.name,
        device=device,
        core=core % host.cores_per_device,
        serial=pci.serial(host, device),
    )


def _hardware(event: HardwareError, history: History, random: Random, mirrors: bool) -> Iterator[Message]:
    if event.error == "pcie":
        yield from _pcie(event, history, random)
        return
    engine = random.randrange(16)
    if event.error == "dma-abort":
        device, _ = place_of(event, history.job)
        text = _COPY_TIMEOUT.format(device=device, engine=engine, count=random.randrange(2, 64))
        yield Message(event.time + 0.01, text, Level.ERR)
    if mirrors or event.error not in _HW_NAMES:
        yield from _mirrored(event, history, engine)
    if event.error in _HW_NAMES:
        line = hardware_error_line(event, random.choice(_HW_NAMES[event.error]), history)
        yield Message(event.time + 0.05, line, Level.ERR, event.fault)


def _mirrored(event: HardwareError, history: History, engine: int) -> Iterator[Message]:
    device, core = place_of(event, history.job)
    host = _host(event, history)
    stamp = clocks.runtime(clocks.local(host, event.time, history.job.start))
    function = "exec_request_progress_one_step" if event.error == "dma-abort" else "notification_consume_errors"
    pid = history.job.seats[event.rank].pid if event.rank is not None else 4242
    for text in _MIRRORED.get(event.error, ()):
        error = text.format(device=device, core=core, engine=engine)
        line = f"{stamp} {pid:5d}:{pid + 301:<5d} ERROR  TDRV:{function:<40} {error}"
        yield Message(event.time + 0.03, line[:511], Level.ERR, event.fault)


def _pcie(event: HardwareError, history: History, random: Random) -> Iterator[Message]:
    device, _ = place_of(event, history.job)
    host = _host(event, history)
    for index, text in enumerate(_PCIE):
        line = text.format(port=pci.port(device), bdf=pci.bdf(device), id=pci.device_id(host))
        fault = event.fault if index < _PCIE_NAMING else None
        yield Message(event.time + index * 0.00003, line, Level.ERR, fault)
    address = f"{random.getrandbits(44) << 4:016x}"
    yield Message(event.time + random.uniform(0.2, 2.0), _REGISTER.format(address=address), Level.ERR)


def _machine(event: HostHardwareError, random: Random) -> Iterator[Message]:
    block = random.randrange(10**5, 10**8)
    for index, text in enumerate(_MACHINE.get(event.error, ())):
        line = text.format(cpu=random.randrange(64), page=block * 8, block=block)
        yield Message(event.time + index * 0.002, line, Level.ERR, event.fault)


def _crash(event: ProcessSignalled, history: History, random: Random) -> Iterator[Message]:
    pid = history.job.seats[event.rank].pid if event.rank is not None else 4242
    base = random.getrandbits(36) << 12 & 0xFFFFFFF000
    line = _CRASH[event.signal].format(
        pid=pid,
        address=random.choice((0x0, 0x8, 0x10, 0x28)),
        ip=base + random.randrange(0x1E4000),
        sp=random.getrandbits(28) << 4,
        base=base,
        library=random.choice(_LIBRARIES),
    )
    yield Message(event.time, line, Level.INFO, event.fault)


def _hang(event: Event, name: str, fault: int | None, history: History) -> Message:
    """Runtimes that report hangs do so in the form of a hardware error, without an action."""
    line = hardware_error_line(event, name, history).removesuffix(" action=TERMINATE_INSTANCE")
    return Message(event.time + 0.05, line, Level.ERR, fault)
