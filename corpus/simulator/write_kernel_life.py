"""What the kernel says of a host that works: its boot, the processes that open its devices, and unrelated chatter."""

from collections.abc import Iterator
from random import Random

from neuron_doctor.corpus.simulator import clocks, pci
from neuron_doctor.corpus.simulator.history import History, Life
from neuron_doctor.corpus.simulator.job import Host
from neuron_doctor.corpus.simulator.write_kernel_forms import Level, Message

_KERNELS = ("5.15.0-1084-aws", "6.8.0-1029-aws", "5.10.238-231.953.amzn2.x86_64")
_BOOT = (
    (0.0, "Linux version {kernel} (buildd@lcy02-amd64-097) (gcc 11.4.0, GNU ld 2.38) #91-Ubuntu SMP"),
    (
        0.0,
        "Command line: BOOT_IMAGE=/vmlinuz-{kernel} root=/dev/nvme0n1p1 ro console=tty1",
    ),
    (0.0, "DMI: Amazon EC2 {type}/, BIOS 1.0 10/16/2017"),
    (2.1, "nvme nvme0: pci function 0000:00:04.0"),
    (4.4, "ena 0000:00:05.0: Elastic Network Adapter (ENA) v2.13.0g"),
    (5.2, "EXT4-fs (nvme0n1p1): mounted filesystem with ordered data mode. Opts: discard. Quota mode: none."),
    (6.0, "systemd[1]: Detected virtualization amazon."),
    (9.8, "neuron: loading out-of-tree module taints kernel."),
)
_BERT = (
    "BERT: Error records from previous boot:",
    "[Hardware Error]: event severity: fatal",
    "[Hardware Error]:  Error 0, type: fatal",
    "[Hardware Error]:   section_type: memory error",
    "[Hardware Error]:   error_status: Storage error in DRAM memory (0x0000000000000400)",
)
_DRIVER = "neuron:neuron_module_init: Neuron Driver Started with Version:{version}-{commit} at: {loaded}"
_BDF = "** BDF: {bdf} => nd[{device}] (routing id: {device})"
_EFA = (
    "efa 0000:{bdf}: Setup irq:{irq} name:efa-mgmnt@pci:0000:{bdf}",
    "infiniband efa_{index}: IB device registered",
    "efa 0000:{bdf} {name}: renamed from efa_{index}",
)
_ATTACH = "neuron:npid_attach: neuron:npid_attach: pid={pid}, slot={slot}"
_DETACH = "neuron:npid_detach: neuron:npid_detach: pid={pid}, slot={slot}"
_RESET = ("nd{device}: initiating TPB reset request {pid}", "nd{device}: reset request {pid} completed")
_RESET_PREFIX = ("neuron:nr_start_ncs: ", "neuron:nr_reset_thread_fn: ")
_DEREG = "infiniband {name}: Failed to process command DEREG_MR (opcode 8) comp_status 7 err -22"
_DEREG_END = "infiniband {name}: Failed to de-register mr(lkey-{key}) [-22]"
_CHATTER = (
    ("perf: interrupt took too long ({n} > 2500), lowering kernel.perf_event_max_sample_rate to 79000", Level.INFO),
    ("TCP: request_sock_TCP: Possible SYN flooding on port {port}. Sending cookies.  Check SNMP counters.", Level.INFO),
    (
        'audit: type=1400 audit({wall:.3f}:{port}): apparmor="STATUS" operation="profile_replace" name="lxc" pid={port}',
        Level.NOTICE,
    ),
    ("IPv6: ADDRCONF(NETDEV_CHANGE): eni{m:08x}: link becomes ready", Level.INFO),
    ("cni0: port 3(veth{m:08x}) entered forwarding state", Level.INFO),
    ("hrtimer: interrupt took {n} ns", Level.INFO),
    ("systemd[1]: Starting Daily apt download activities...", Level.INFO),
    ("overlayfs: missing 'lowerdir'", Level.ERR),
    ("process 'usr/local/bin/tini' started with executable stack", Level.INFO),
    ("kauditd_printk_skb: 12 callbacks suppressed", Level.WARN),
)
_AFTER_BOOT = 35.0  # when drivers are up and services start


def kernel_version(host: Host) -> str:
    """The kernel that a host runs: the same in all of a host's sources."""
    return Random(f"kernel:{host.instance_type}").choice(_KERNELS)


def boot(host: Host, at: float, driver: str, *, efa: bool, fault: int | None = None) -> Iterator[Message]:
    """The lines of a boot that matter: kernel, driver with its devices, EFA. The first states a reboot, if it was one."""
    kernel = kernel_version(host)
    for index, (after, text) in enumerate(_BOOT):
        line = text.format(kernel=kernel, type=host.instance_type)
        yield Message(at + after + index * 1e-6, line, Level.NOTICE, fault if index == 0 else None)
    loaded = clocks.runtime(clocks.local(host, at + 10.0, at)).lower()  # ktime_get_real: UTC
    text = _DRIVER.format(version=driver, commit=pci.serial(host, 999)[:8], loaded=loaded)
    yield Message(at + 10.0, text, Level.ERR)
    for device in range(host.devices):
        yield Message(at + 10.2 + device * 0.01, _BDF.format(bdf=pci.bdf(device), device=device), Level.ERR)
    for interface in pci.interfaces(host) if efa else ():
        for index, text in enumerate(_EFA):
            line = text.format(bdf=interface.bdf, irq=90 + interface.index, index=interface.index, name=interface.name)
            yield Message(at + 12.0 + interface.index * 0.05 + index * 0.01, line)


def error_of_previous_boot(at: float, fault: int | None) -> Iterator[Message]:
    """What the firmware kept of the hardware error that took the machine down, told at its next boot."""
    for index, text in enumerate(_BERT):
        yield Message(at + 1.2 + index * 1e-5, text, Level.ERR, fault if "severity" in text else None)


def process(life: Life, history: History, random: Random, *, resets: bool, dereg: bool) -> Iterator[Message]:
    """A rank opens its device when it starts and leaves it when it ends; `dereg` is the harmless EFA line after the end."""
    seat, host = history.job.seats[life.rank], history.job.host_of(life.rank)
    opened = life.start + random.uniform(4.0, 7.0)
    if life.ended is not None and life.ended <= opened:
        return
    slot = seat.local_rank % 16
    yield Message(opened, _ATTACH.format(pid=seat.pid, slot=slot))
    if resets:
        for index, (prefix, text) in enumerate(zip(_RESET_PREFIX, _RESET, strict=True)):
            line = prefix + text.format(device=seat.device, pid=seat.pid)
            yield Message(opened + 0.4 + index * random.uniform(0.6, 1.4), line)
    if life.ended is None:
        return
    left = life.ended + random.uniform(0.01, 0.3)
    yield Message(left, _DETACH.format(pid=seat.pid, slot=slot))
    interfaces = pci.interfaces(host)
    if dereg and interfaces:
        name = random.choice(interfaces).name
        for index, text in enumerate((_DEREG, _DEREG_END)):
            line = text.format(name=name, key=random.randrange(10**5, 10**6))
            yield Message(left + 0.002 + index * 1e-5, line, Level.ERR)


def chatter(host: Host, since: float, until: float, count: int, random: Random) -> Iterator[Message]:
    """Lines that have to do with nothing."""
    for _ in range(count):
        text, level = random.choice(_CHATTER)
        n, m, port = random.randrange(2501, 90000), random.randrange(1, 2**28), random.randrange(1024, 65000)
        time = random.uniform(since + _AFTER_BOOT, max(until, since + _AFTER_BOOT + 1))
        line = text.format(n=n, m=m, port=port, wall=clocks.local(host, time, time))
        yield Message(time, line, level)
