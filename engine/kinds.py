"""The kinds of fact there are, with their typed fields: the one schema that rules, collectors and docs read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from msgspec import Struct

FieldType = Literal["int", "float", "str", "bool", "list"]
_TYPES: Mapping[str, FieldType] = {name: name for name in get_args(FieldType)}


class FactKind(Struct, frozen=True):
    """One kind of fact: what it states, the type of each field, and which kinds of source can show it."""

    name: str
    doc: str
    fields: Mapping[str, FieldType]
    sources: tuple[str, ...]


def _kind(name: str, doc: str, sources: str, fields: str = "") -> FactKind:
    """`fields`: `name:type`, each."""
    typed = (field.split(":") for field in fields.split())
    return FactKind(name, doc, MappingProxyType({n: _TYPES[t] for n, t in typed}), tuple(sources.split()))


_TEXT = "log kernel"

_ALL = (
    _kind("hit", "a log pattern matched a record; the pattern's own captures are further fields", _TEXT, "pattern:str"),
    _kind(
        "status",
        "an NRT status was reported; `api` is the libnrt call, where said",
        _TEXT,
        "code:int symbol:str api:str",
    ),
    _kind(
        "version",
        "a component's version (runtime, driver, collectives, firmware, compiler, kernel, torch ...)",
        _TEXT + " modinfo packages uname neuron-ls neuron-monitor",
        "component:str version:str",
    ),
    _kind(
        "identity",
        "two names of one thing, seen in one record (an alias of a host, a rank of a process)",
        _TEXT + " neuron-monitor neuron-ls kubectl core-dump slurm uname hostname sysfs ndet-trace",
        "instance_id:str hostname:str address:str pod:str instance_type:str",
    ),
    _kind("world", "how many ranks the job has, as one source says", _TEXT + " env slurm", "size:int"),
    _kind(
        "progress",
        "the job advanced: the last training step, iteration or token count that a source reports; `served`: it answered "
        "a request",
        _TEXT,
        "what:str value:float served:bool",
    ),
    _kind(
        "completion",
        "a program says that its work is done, or (`exited`) a launcher that all its processes have ended with 0; "
        "`workers` is how many it says there were",
        _TEXT,
        "exited:bool workers:int",
    ),
    _kind(
        "dump-request",
        "a rank says that somebody asked it for a dump of its flight recorder, through the pipe",
        _TEXT,
        "",
    ),
    _kind("restart", "a launcher says that it starts its workers anew", _TEXT, "launcher:str"),
    _kind(
        "step-time",
        "how long the last `lines` reported steps of a rank took, from step `first` to `step`: at its own `work`, in the `wait` "
        "for others, in `total` (medians, in the unit of the log; lines of one `form` have the same)",
        _TEXT,
        "form:str first:int step:int lines:int work:float wait:float total:float",
    ),
    _kind(
        "slow-rank",
        "a rank that works longer at each step than its peers and waits for nobody, while they wait as much longer: how often as "
        "long, and the share of a step that they wait",
        _TEXT,
        "times:float peers:int share:float step:int",
    ),
    _kind(
        "env",
        "an environment variable was set; values outside the allow-list read `<masked>`",
        _TEXT + " env",
        "name:str value:str",
    ),
    _kind(
        "oom-kill",
        "the kernel killed a process for memory; `scope` is global or memcg; by its table of tasks, processes named `holder` "
        "held most; `foreign`: they are of another user than the victim, and held more than all of the victim's user",
        "kernel",
        "scope:str victim:str victim_pid:int victim_uid:int cgroup:str anon_rss_kb:int holder:str foreign:bool description:str",
    ),
    _kind(
        "section",
        "a heading or a command above what a host said, in a file of several hosts: `name` may be the host's, an empty one is "
        "nobody's; `form` is banner or shell",
        _TEXT,
        "name:str command:str form:str",
    ),
    _kind("memory-table", "the kernel begins to list the tasks among which it kills one for memory", _TEXT, ""),
    _kind(
        "memory-holder",
        "a row of the table of tasks that the kernel prints when it kills one for memory; small processes are left out",
        _TEXT,
        "command:str uid:int held_kb:int",
    ),
    _kind(
        "hw-err",
        "the runtime's NEURON_HW_ERR line in the kernel log; `raw` keeps what its keys do not say",
        _TEXT,
        "name:str action:str serial:str raw:str",
    ),
    _kind("attach", "a process opened the device (`npid_attach`)", "kernel", "slot:int"),
    _kind(
        "host-down",
        "the kernel of a host started anew while processes, so many, had its devices open; `of_ranks`: ranks of the job",
        "kernel",
        "processes:int of_ranks:bool",
    ),
    _kind("detach", "a process closed the device (`npid_detach`), usually by exiting", "kernel", "slot:int"),
    _kind(
        "reset",
        "a step in the life of a device reset: started, completed, failed",
        "kernel",
        "request:int phase:str",
    ),
    _kind(
        "pci-device",
        "a device node and its PCI address; `gone` when it does not answer on the bus any more (lspci: rev ff)",
        "kernel lspci neuron-ls",
        "bdf:str kind:str gone:bool",
    ),
    _kind(
        "launcher-failure",
        "a launcher reported the end of a worker; `signal` is 0 where it exited by itself; `first` marks its own root-cause row, "
        "or that it came first; `told`: it was killed since it had been told to end and did not; `later`: its launcher saw "
        "another one end of itself before it; `logged`: what that rank said was collected too",
        "log slurm kubectl",
        "launcher:str exitcode:int signal:int first:bool told:bool later:bool logged:bool message:str",
    ),
    _kind(
        "ndet-event",
        "an event of an NDET trace; times in microseconds of the trace; `complete` is false for an event that never ended",
        "ndet-trace ndet-console",
        "event:str complete:bool start_us:float end_us:float exec_id:int gid:int ret:int neff:str peer:int",
    ),
    _kind(
        "cut-traceback",
        "a log ends in the middle of a Python traceback, before the line that names the exception; the last frame that it shows",
        _TEXT,
        "file:str line:int function:str",
    ),
    _kind(
        "hang-report",
        "a process says that it waits in vain, or that it lost a peer; `what` is collectives, barrier, compute, watchdog "
        "(it gave up waiting), retry (it goes on waiting), store, store-gone, bootstrap or lost; `peer`: an address; "
        "`waited_s`: how long it has waited",
        _TEXT,
        "what:str peer:str operation:str waited_s:int",
    ),
    _kind(
        "lost-host",
        "so many processes of other hosts lost connections to this one, which was heard and tells of no loss itself",
        _TEXT,
        "peers:int",
    ),
    _kind(
        "silent-rank",
        "the one rank that says nothing, in its log, while all `others` whose logs are here say that they wait or lost a peer",
        _TEXT,
        "others:int",
    ),
    _kind(
        "memory-request",
        "an allocation of device memory that failed: its `size` as printed, and for which `usage` it was",
        _TEXT,
        "size:str usage:str",
    ),
    _kind(
        "memory-use",
        "what the runtime says that a device, or one of its cores, holds when an allocation failed: the `size` of one "
        "`category` as printed, or the `row` of its table",
        _TEXT,
        "category:str size:str row:str",
    ),
    _kind(
        "memory-account",
        "what filled the device memory into which a `memory-request` did not fit, by the runtime's own account: `largest` is "
        "the category that holds most, with `percent` of all that is in use",
        _TEXT,
        "largest:str percent:int description:str",
    ),
    _kind(
        "stand",
        "how far one rank came in one process group, as a text says; -1 or absent: unknown. `witness` is who says so "
        "(watchdog, desync, barrier, runtime, api) and whose numbers they are; `pg` is the group's name as printed, `pg_id` "
        "the rank's own number of it (absent where the text has one number only), `group_rank` its rank in the group; "
        "`sequence` is the operation that it stands before or in. It `waits` there or gave it up; else it was only "
        "informed, or `named` by a peer as one who did not come",
        _TEXT,
        "witness:str pg:str pg_id:int pg_desc:str group_rank:int sequence:int total:int operation:str "
        "numel_in:int numel_out:int last_enqueued:int last_started:int last_completed:int waits:bool "
        "named:bool",
    ),
    _kind(
        "barrier",
        "a rank `came` to a barrier of `size` ranks that has a name of its own, `waits` there, `gave-up`, or `passed` it; "
        "none passes before all have `joined`",
        _TEXT,
        "name:str phase:str size:int joined:int",
    ),
    _kind(
        "connection",
        "a connection to the store of torch.distributed: its server `listens` at `port`, a client `tries` to reach it, "
        "`connected` from its own address `client` and `client_port`, and the server `accepted` one that came from there",
        _TEXT,
        "phase:str port:int client:str client_port:int",
    ),
    _kind(
        "disagreement",
        "two kinds of witness convict different ranks; there is one such fact for each kind, at the ranks that it convicts",
        _TEXT + " flight-recorder ndet-trace ndet-console neuron-monitor",
        "witness:str description:str",
    ),
    _kind(
        "first-error",
        "the rank of a trace that shows this error in an earlier execution than all others that show it, so many (see "
        "engine.first_errors)",
        "ndet-trace",
        "event:str exec_id:int later:int",
    ),
    _kind("ndet-clean", "neuron-det found no error", "ndet-console"),
    _kind("ndet-raw", "a raw NDET log, readable only through neuron-det", "ndet-raw", "trace_pid:int started:str"),
    _kind(
        "fr-rank",
        "a flight-recorder dump: its rank's groups, status and in-flight operations (see engine.recorder)",
        "flight-recorder",
        "version:str dialect:str entries:int whole:bool issued:int first_ns:int last_ns:int peers:str groups:list",
    ),
    _kind(
        "collective",
        "what matching the collectives of all ranks says of one group or of the wait-for graph: `verdict` is a class "
        "(rank-missing, rank-died, op-mismatch, size-mismatch, dtype-mismatch, order-mismatch, partial-completion, "
        "transport-stall, device-stuck, outside, p2p-missing, p2p-mismatch, p2p-order, straggler, undecided, unproven, moving, "
        "healthy, stale-dump); `witness` is who convicts (recorder, watchdog, desync, runtime, api, ndet, silence)",
        "flight-recorder log ndet-trace",
        "verdict:str operation:str ordinal:int description:str culprits:list waiting:list missing_dumps:list "
        "members:list culprit_frame:str waiting_frame:str difference:str witness:str",
    ),
    _kind(
        "counter",
        "a counter over a stream or between samples: first and last value and the sum of its increases (of a count per "
        "period: of its values). The instant is that of the first increase, `until_ns` that of the last one; so many of "
        "the last samples `held` the last value; `tag` is NEURON_PROCESS_TAG",
        "neuron-monitor sysfs",
        "name:str first:int last:int increase:int samples:int held:int until_ns:int tag:str",
    ),
    _kind(
        "level",
        "a level over a stream: last, smallest and largest value, and the limit it is compared with (same unit, 0 if none). "
        "The instant is that since which so many samples `held` the last value; `period_s` is what one is about",
        "neuron-monitor sysfs",
        "name:str period_s:float first:float last:float min:float max:float limit:float samples:int held:int "
        "tag:str physical_core:int",
    ),
    _kind(
        "monitor-error",
        "neuron-monitor could not read a group: no data, which is not the same as healthy",
        "neuron-monitor",
        "group:str error:str",
    ),
    _kind(
        "device-state", "the state that the driver gives a device: resetting, ready or invalid", "sysfs", "state:str"
    ),
    _kind("unhealthy-component", "the driver lists a component of the device as unhealthy", "sysfs", "component:str"),
    _kind(
        "core-dump",
        "a file of a runtime core dump; `part` is core or cc-core; the directory joins hosts by cluster id and time",
        "core-dump",
        "part:str cluster_id:str dumped_at:str tid:int log_id:int cc_core:int",
    ),
    _kind(
        "core-dump-args",
        "the arguments that neuron-dump was given",
        "core-dump log",
        "neff:str neff_uuid:str date_time:str log_id:int cluster_id:str api:str code:int output_dir:str s3_prefix:str",
    ),
    _kind(
        "input-dump",
        "a file of a directory of dumped input tensors; the directory is complete when one of its files says so",
        "input-dump",
        "directory:str file:str complete:bool files:int handle:int model:str",
    ),
    _kind(
        "profile",
        "a profile of Neuron Explorer or neuron-profile: evidence of performance, not of failure",
        "profile",
        "tool:str part:str",
    ),
    _kind(
        "device",
        "a device as neuron-ls lists it",
        "neuron-ls",
        "bdf:str cores:int lnc:int memory_bytes:int connected_to:list",
    ),
    _kind(
        "device-user",
        "a process that holds a device, as neuron-ls lists it",
        "neuron-ls",
        "command:str runtime_version:str",
    ),
    _kind(
        "process",
        "a row of a process table (ps): `started` and `elapsed` as printed",
        "log",
        "command:str state:str started:str elapsed:str",
    ),
    _kind(
        "core-holder",
        "a process that held devices when another one was refused its cores, where no neuron-ls was collected: as the driver "
        "says, by the kernel log, or because its own log goes on (see engine.core_holders)",
        "kernel log",
        "command:str description:str",
    ),
    _kind(
        "device-count",
        "how many Neuron devices and EFA interfaces the host shows (-1: not shown), and what the instance type must "
        "have (0: not known)",
        "neuron-ls neuron-monitor lspci sysfs",
        "neuron:int efa:int expected_neuron:int expected_efa:int cores:int lnc:int",
    ),
    _kind(
        "module",
        "a loaded kernel module and how many users it has (lsmod)",
        "lsmod",
        "name:str size:int used_by:int",
    ),
    _kind("module-absent", "a module listing that lacks the neuron module", "lsmod", "name:str"),
    _kind(
        "package",
        "an installed package; `state` is the packager's word for it",
        "packages",
        "name:str version:str manager:str state:str",
    ),
    _kind(
        "limit",
        "a resource limit of a process (nofile, memlock, stack, nproc); memory in bytes, unlimited is -1",
        "ulimit",
        "name:str value:int unit:str",
    ),
    _kind(
        "file-system",
        "how full a file system is, in percent of `what` (space or inodes)",
        "df log kernel",
        "mount:str used:int what:str",
    ),
    _kind(
        "clock-error",
        "by how many seconds the clock of a host was ahead of true time when its time service was asked",
        "clock-report",
        "ahead_s:float",
    ),
    _kind(
        "pod",
        "a Kubernetes pod or container as kubectl shows it",
        "kubectl",
        "namespace:str name:str container:str phase:str reason:str restarts:int exit_code:int signal:int "
        "ready:bool node:str ip:str",
    ),
    _kind(
        "node",
        "a Kubernetes node: its status and how many Neuron resources it offers (-1: not shown)",
        "kubectl",
        "name:str status:str neuron:int neuroncore:int efa:int instance_type:str expected_neuron:int",
    ),
    _kind(
        "node-condition",
        "a condition, taint or label of a Kubernetes node that speaks of health, or (type slurm) the reason that Slurm "
        "gives for a node out of service",
        "kubectl slurm",
        "name:str type:str status:str reason:str message:str healthy:bool",
    ),
    _kind(
        "k8s-event",
        "a Kubernetes event; `resolved` when a later one about the same object shows that it is over",
        "kubectl",
        "type:str reason:str object:str message:str repeats:int resolved:bool",
    ),
    _kind(
        "slurm-job",
        "a job or step as sacct, scontrol or squeue shows it; `elapsed_s` is how long it has run (-1: not known)",
        "slurm",
        "job_id:str step:str name:str state:str exitcode:int signal:int derived_exitcode:int nodes:str "
        "reason:str restarts:int cancelled_by:str elapsed_s:int",
    ),
    _kind(
        "job-event",
        "a scheduler's log says that it `started` a job, or that the job is `done` or is to end; the job's own log, that it was "
        "`interrupted` by the loss of a node",
        _TEXT,
        "what:str job_id:str",
    ),
    _kind(
        "listed-nodes",
        "nodes that a scheduler names, as it writes lists of them: `trn-[01-03],head`",
        _TEXT,
        "nodes:str",
    ),
    _kind(
        "visible-cores",
        "the cores that a process may use, as its runtime prints them: `0, 1` or `0-3`",
        _TEXT,
        "cores:str",
    ),
    _kind("core-layout", "how many cores each device of the host has, as a runtime says", _TEXT, "per_device:int"),
    _kind(
        "process-groups",
        "all process groups of one sort (`axis`: tp, dp, pp, ...) as a framework prints them; `groups` has the ranks of "
        "each in their order, `0-3 4-7`",
        _TEXT,
        "axis:str groups:str",
    ),
    _kind(
        "group-position",
        "the number that a rank has in a process group; `axis` is what the group is called, `group` its name, if said",
        _TEXT,
        "axis:str group:str position:int",
    ),
    _kind(
        "interface-use",
        "an EFA interface that a process sends or receives through, by its name or its number on the host",
        _TEXT,
        "interface:str",
    ),
    _kind(
        "shared-place",
        "the failing ranks share one place that few others share (see engine.shared_places): `what` is device, interface, "
        "stage, group, host, build or instance-type; `failing` of `of_failing` failing ranks are in it, and `others_there` "
        "of the rest of `population` known ranks; `odds` is how likely some place would hold so many by chance",
        _TEXT + " flight-recorder",
        "what:str name:str description:str failing:int of_failing:int others_there:int population:int odds:float",
    ),
    _kind("log-loss", "a log says that it lost records here, so that their absence proves nothing", _TEXT),
)

KINDS: Mapping[str, FactKind] = MappingProxyType({kind.name: kind for kind in _ALL})
