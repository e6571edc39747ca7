"""What truly happened to a simulated job, in true time: every call of every rank, and the events that leave traces.

Writers read a `History` and nothing else. Times are true seconds since the epoch; a writer puts them on the clock of the
host that writes. An event that *is* a fault (or states it outright) carries the fault's index in `Truth.faults`, so that a writer
can mark the bytes that tell of it; consequences carry None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from neuron_doctor.corpus.simulator.job import Job


class Op(StrEnum):
    """What a call does. The names are PyTorch's (flight recorder's profiling names without the backend)."""

    ALL_REDUCE = "all_reduce"
    ALL_GATHER = "_all_gather_base"
    REDUCE_SCATTER = "_reduce_scatter_base"
    BROADCAST = "broadcast"
    ALL_TO_ALL = "all_to_all"
    BARRIER = "barrier"
    SEND = "send"
    RECV = "recv"


@dataclass(frozen=True, slots=True)
class Frame:
    """One stack frame, innermost first where they are listed."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """One operation that a rank's program issued.

    `ordinal` counts the collectives of this rank in this group from 0; for send and receive the operations to or from
    `peer` (a global rank). `batch` is the number of the coalesced batch within the rank, or None. A time is None where it
    never came: a call with `issued` only is queued on the host, `started` runs on the device, `completed` is done.
    `failed` is when the watchdog or the backend gave it up.
    """

    rank: int
    group: str
    op: Op
    ordinal: int
    input_sizes: tuple[tuple[int, ...], ...]
    output_sizes: tuple[tuple[int, ...], ...]
    dtype: str  # c10 name: Float, BFloat16, ...
    frames: tuple[Frame, ...]
    issued: float
    started: float | None = None
    completed: float | None = None
    failed: float | None = None
    peer: int | None = None
    batch: int | None = None


class End(StrEnum):
    """How a rank's process ended, or that it did not."""

    FINISHED = "finished"  # exit 0
    RAISED = "raised"  # an uncaught exception, exit 1
    ABORTED = "aborted"  # SIGABRT by its own watchdog or runtime
    SIGNALLED = "signalled"  # a signal from outside or a crash: see `signal`
    HUNG = "hung"  # still there when things were collected
    NEVER_STARTED = "never-started"


@dataclass(frozen=True, slots=True)
class Life:
    """One rank's process from start to end. `standing` is where its host thread stood at the end (what py-spy would show)."""

    rank: int
    start: float
    calls: tuple[Call, ...]
    last_step: int  # the last training step that it finished, -1: none
    end: End
    ended: float | None = None
    exit_code: int | None = None
    signal: int | None = None
    standing: tuple[Frame, ...] = ()
    dumps_recorder: bool = True  # a rank that died at once, holds the GIL or is in teardown writes no dump


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that leaves traces. `rank`, `host` (index), `device` and `core` as far as it has them."""

    time: float
    fault: int | None = None
    rank: int | None = None
    host: int | None = None
    device: int | None = None
    core: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone(Event):
    """A rank finished a training step; `seconds` is what it took."""

    step: int
    loss: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareError(Event):
    """A device error: the NEURON_HW_ERR name or error class by the words of neuron-facts.md (H section)."""

    error: str  # "hbm-ue", "hbm-ue-repairable", "sram-ue", "dma-abort", "pcie", "ecc-corrected"
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class HostHardwareError(Event):
    """The machine itself is broken, not a Neuron device."""

    error: str  # "machine-check", "disk-io", "file-system"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionFailed(Event):
    """The runtime returned a status to the framework: an NRT_STATUS code of neuron-facts.md section 1."""

    status: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HangSuspected(Event):
    """The runtime suspects a hang: in operation `operation` of `operations` of the graph, in a collective or in compute."""

    operation: int
    operations: int
    collective: bool
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchdogTimeout(Event):
    """The process group's watchdog gave up on the call at `index` in the rank's `Life.calls`."""

    group: str
    index: int
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerLost(Event):
    """The connection to a peer broke: this rank is a victim."""

    peer: int
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveTimeout(Event):
    """Bootstrap or transport waits for a peer and retries ("Timeout waiting for RX" and its like)."""

    peer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierTimedOut(Event):
    """A proxy barrier or a device barrier of a group timed out at this rank after `waited` seconds."""

    group: str
    waited: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkProxyFailed(Event):
    """An EFA network proxy operation failed (1206); `interface` is the EFA device's name on the host."""

    interface: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionRaised(Event):
    """An uncaught Python exception. `frames` innermost first."""

    type: str
    message: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSignalled(Event):
    """A process was killed by or died of a signal: `by` is "kernel-oom", "itself", "launcher", "scheduler"."""

    signal: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOom(Event):
    """The kernel's OOM killer took the process of `rank` on `host`; `cgroup` where a memory cgroup was the limit."""

    process: str
    resident_kib: int
    cgroup: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMemoryExhausted(Event):
    """A device allocation failed: bytes asked for, and what filled the device by category."""

    asked: int
    used: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LauncherSaw(Event):
    """The launcher of a host saw a rank's process end, or ended it: torchrun's table, srun's and mpirun's lines."""

    exit_code: int | None
    signal: int | None
    first: bool = False  # the first failure that this launcher observed
    killed_by_launcher: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerSaid(Event):
    """The scheduler ended the job: `what` is "cancelled", "time-limit", "node-fail" or "preempted"."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRebooted(Event):
    """A host went down; `back` is when it was up again, None if it was not."""

    back: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiling(Event):
    """A rank compiles a graph for `seconds` (None: did not end); `failed` says how, if it did."""

    seconds: float | None
    graph: str
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitsForCompileLock(Event):
    """A rank waits for the compile-cache lock on `path`, since `time`, until `until` or the end."""

    path: str
    until: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFailed(Event):
    """The job failed while it was set up. `what` names the cause of causes.yaml; `detail` fills the message (key/value)."""

    what: str
    detail: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class History:
    """A job and all that happened to it. `events` are in true time order; `collected` is when the files were gathered."""

    job: Job
    lives: tuple[Life, ...]  # by rank
    events: tuple[Event, ...]
    collected: float
    versions: Mapping[str, str]  # "runtime", "driver", "collectives", "framework", "torch"
    versions_of_host: Mapping[int, Mapping[str, str]] = field(default_factory=dict)  # where a host differs
