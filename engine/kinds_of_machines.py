"""The kinds of fact that tell of machines, their devices, and what schedulers and controllers say of jobs and nodes."""

from __future__ import annotations

from neuron_doctor.engine.fact_kind import TEXT, kind_of

OF_MACHINES = (
    kind_of(
        "counter",
        "a counter over a stream or between samples: first and last value and the sum of its increases (of a count per "
        "period: of its values). The instant is that of the first increase, `until_ns` that of the last one; so many of "
        "the last samples `held` the last value; `tag` is NEURON_PROCESS_TAG; `legend` has the words of an exported series of "
        "which one may be its host, until the whole collection tells",
        "neuron-monitor sysfs metrics",
        "name:str first:int last:int increase:int samples:int held:int until_ns:int tag:str legend:str",
    ),
    kind_of(
        "level",
        "a level over a stream: last, smallest and largest value, and the limit it is compared with (same unit, 0 if none). "
        "The instant is that since which so many samples `held` the last value; `period_s` is what one is about",
        "neuron-monitor sysfs",
        "name:str period_s:float first:float last:float min:float max:float limit:float samples:int held:int "
        "tag:str physical_core:int",
    ),
    kind_of(
        "monitor-error",
        "neuron-monitor could not read a group: no data, which is not the same as healthy",
        "neuron-monitor",
        "group:str error:str",
    ),
    kind_of(
        "device-state", "the state that the driver gives a device: resetting, ready or invalid", "sysfs", "state:str"
    ),
    kind_of("unhealthy-component", "the driver lists a component of the device as unhealthy", "sysfs", "component:str"),
    kind_of(
        "core-dump",
        "a file of a runtime core dump; `part` is core or cc-core; the directory joins hosts by cluster id and time",
        "core-dump",
        "part:str cluster_id:str dumped_at:str tid:int log_id:int cc_core:int",
    ),
    kind_of(
        "core-dump-args",
        "the arguments that neuron-dump was given",
        "core-dump log",
        "neff:str neff_uuid:str date_time:str log_id:int cluster_id:str api:str code:int output_dir:str s3_prefix:str",
    ),
    kind_of(
        "input-dump",
        "a file of a directory of dumped input tensors; the directory is complete when one of its files says so",
        "input-dump",
        "directory:str file:str complete:bool files:int handle:int model:str",
    ),
    kind_of(
        "profile",
        "a profile of Neuron Explorer or neuron-profile: evidence of performance, not of failure",
        "profile",
        "tool:str part:str",
    ),
    kind_of(
        "device",
        "a device as neuron-ls lists it",
        "neuron-ls",
        "bdf:str cores:int lnc:int memory_bytes:int connected_to:list",
    ),
    kind_of(
        "device-user",
        "a process that holds a device, as neuron-ls, lsof or fuser lists it",
        "neuron-ls log",
        "command:str runtime_version:str",
    ),
    kind_of(
        "process",
        "a row of a process table (ps): `started` and `elapsed` as printed",
        "log",
        "command:str state:str started:str elapsed:str",
    ),
    kind_of(
        "core-holder",
        "a process that held devices when another one was refused its cores, where no neuron-ls was collected: as the driver "
        "says, by the kernel log, or because its own log goes on (see engine.core_holders)",
        "kernel log",
        "command:str description:str",
    ),
    kind_of(
        "device-count",
        "how many Neuron devices and EFA interfaces the host shows (-1: not shown), and what the instance type must "
        "have (0: not known)",
        "neuron-ls neuron-monitor lspci sysfs",
        "neuron:int efa:int expected_neuron:int expected_efa:int cores:int lnc:int",
    ),
    kind_of(
        "module",
        "a loaded kernel module and how many users it has (lsmod)",
        "lsmod",
        "name:str size:int used_by:int",
    ),
    kind_of("module-absent", "a module listing that lacks the neuron module", "lsmod", "name:str"),
    kind_of(
        "package",
        "an installed package; `state` is the packager's word for it",
        "packages",
        "name:str version:str manager:str state:str",
    ),
    kind_of(
        "limit",
        "a resource limit of a process (nofile, memlock, stack, nproc); memory in bytes, unlimited is -1",
        "ulimit",
        "name:str value:int unit:str",
    ),
    kind_of(
        "file-system",
        "how full a file system is, in percent of `what` (space or inodes)",
        "df log kernel",
        "mount:str used:int what:str",
    ),
    kind_of(
        "clock-tie",
        "the kernel prints the wall clock in UTC beside its own: in seconds since 1970 (`epoch`), or as a date (`wall`)",
        "kernel",
        "epoch:float wall:str",
    ),
    kind_of("utc-host", "the shell of a host shows the time in UTC", "log kernel sysfs clock-report"),
    kind_of(
        "clock-error",
        "by how many seconds the clock of a host was ahead of true time when its time service was asked",
        "clock-report",
        "ahead_s:float",
    ),
    kind_of(
        "pod",
        "a Kubernetes pod or container as kubectl shows it; `day`: the date on which it ended badly, where that is told",
        "kubectl",
        "namespace:str name:str container:str phase:str reason:str restarts:int exit_code:int signal:int "
        "ready:bool node:str ip:str day:str",
    ),
    kind_of(
        "node",
        "a Kubernetes node: its status and how many Neuron resources it offers (-1: not shown)",
        "kubectl",
        "name:str status:str neuron:int neuroncore:int efa:int instance_type:str expected_neuron:int",
    ),
    kind_of(
        "node-condition",
        "a condition, taint or label of a Kubernetes node that speaks of health, or (type slurm) the reason that Slurm "
        "gives for a node out of service, or what AWS says of an instance (ec2-system-status, ec2-event, health-scheduled, "
        "health-recovery, hyperpod-instance)",
        "kubectl slurm ec2 aws-health hyperpod",
        "name:str type:str status:str reason:str message:str healthy:bool",
    ),
    kind_of(
        "k8s-event",
        "a Kubernetes event; `resolved` when a later one about the same object shows that it is over; `of_job`: it is about a "
        "pod of the job, by the logs of pods or by the lists; `neuron`: about what is described and asks for Neuron devices; "
        "`again`: a pod does not come up that had run before, or the one before it of its name; `since`: the jobs that "
        "the same listing shows to be made after a node was lost",
        "kubectl",
        "type:str reason:str object:str message:str repeats:int resolved:bool of_job:bool neuron:bool again:bool since:list",
    ),
    kind_of(
        "workload",
        "a Kubernetes object that runs a job to its end (Job, JobSet, PyTorchJob, ...) as kubectl shows it: `state` is "
        "complete or failed, `alone` whether nothing else stands in the table",
        "kubectl",
        "object:str namespace:str name:str state:str alone:bool",
    ),
    kind_of(
        "job-spec",
        "the object itself of a job of Kubernetes (Job, JobSet, PyTorchJob, ...) that asks for Neuron devices: its pods are "
        "called after it, and whoever collected it asks about that job",
        "kubectl",
        "object:str namespace:str name:str",
    ),
    kind_of(
        "queued",
        "a job that a queue of Kubernetes (a Workload of Kueue, a PodGroup) has not admitted: `message` says for what it waits",
        "kubectl",
        "object:str namespace:str name:str message:str",
    ),
    kind_of(
        "attempt",
        "one of the attempts of a job or step (`unit`), as who runs it lists them: its `number`, the last part of the name of "
        "its log (`stream`), whether it `failed`, and whether a later one was good (`made_good`); its span is all that the list "
        "has of it",
        "log kubectl",
        "unit:str number:int stream:str failed:bool made_good:bool",
    ),
    kind_of(
        "slurm-job",
        "a job or step as sacct, scontrol or squeue shows it; `elapsed_s` is how long it has run, `start_s` when it began "
        "by the clock of its other times, in seconds since 1970 (-1: not known)",
        "slurm",
        "job_id:str step:str name:str state:str exitcode:int signal:int derived_exitcode:int nodes:str "
        "reason:str restarts:int cancelled_by:str elapsed_s:int start_s:int",
    ),
    kind_of(
        "job-event",
        "a scheduler's log says that it `started` a job, that the job is `done` (with this exit code), or that it is `ending`, "
        "since somebody or something ends it",
        TEXT,
        "what:str job_id:str exitcode:int",
    ),
    kind_of(
        "instance-change",
        "the daemon of a cluster has `terminated` instances, or `given` nodes to them: `instances` are these, or pairs "
        "`node=instance`, with commas between them; or an instance was `replaced`: by the last of `instances`",
        TEXT,
        "what:str instances:str",
    ),
    kind_of(
        "saved-output",
        "a terminal shows a command that wrote the output of this pod or host into a `file` of this name",
        TEXT + " kubectl slurm",
        "file:str",
    ),
    kind_of(
        "named-hosts",
        "somebody calls these hosts by name, to log in to them or to run something there; whose they are is not said",
        TEXT,
        "nodes:str",
    ),
    kind_of(
        "host-slots",
        "hosts on which mpirun was told to start so many ranks each: `lark1:32,lark2:32`, and the options before and behind them",
        TEXT,
        "slots:str before:str behind:str",
    ),
    kind_of(
        "hosts-in-turn",
        "hosts that mpirun is told of without a number of ranks: `lark1,lark2`, and the options before and behind them",
        TEXT,
        "hosts:str before:str behind:str",
    ),
    kind_of(
        "listed-nodes",
        "nodes that a scheduler names, as it writes lists of them: `trn-[01-03],head`",
        TEXT,
        "nodes:str",
    ),
    kind_of(
        "visible-cores",
        "the cores that a process may use, as its runtime prints them: `0, 1` or `0-3`",
        TEXT,
        "cores:str",
    ),
    kind_of("core-layout", "how many cores each device of the host has, as a runtime says", TEXT, "per_device:int"),
    kind_of(
        "process-groups",
        "all process groups of one sort (`axis`: tp, dp, pp, ...) as a framework prints them; `groups` has the ranks of "
        "each in their order, `0-3 4-7`",
        TEXT,
        "axis:str groups:str",
    ),
    kind_of(
        "group-position",
        "the number that a rank has in a process group; `axis` is what the group is called, `group` its name, if said",
        TEXT,
        "axis:str group:str position:int",
    ),
    kind_of(
        "interface-use",
        "an EFA interface that a process sends or receives through, by its name or its number on the host",
        TEXT,
        "interface:str",
    ),
    kind_of(
        "shared-place",
        "the failing ranks share one place that few others share (see engine.shared_places): `what` is device, interface, "
        "stage, group, host, build or instance-type; `failing` of `of_failing` failing ranks are in it, and `others_there` "
        "of the rest of `population` known ranks; `odds` is how likely some place would hold so many by chance",
        TEXT + " flight-recorder",
        "what:str name:str description:str failing:int of_failing:int others_there:int population:int odds:float",
    ),
    kind_of("log-loss", "a log says that it lost records here, so that their absence proves nothing", TEXT),
)
