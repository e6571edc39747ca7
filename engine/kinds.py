"""The kinds of fact there are, with their typed fields: the one schema that rules, collectors and docs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

FieldType = Literal["int", "float", "str", "bool", "list"]


@dataclass(frozen=True, slots=True)
class FactKind:
    """One kind of fact: what it states, the type of each field, and which kinds of source can show it."""

    name: str
    doc: str
    fields: Mapping[str, FieldType]
    sources: tuple[str, ...]


def _kind(name: str, doc: str, sources: str, **fields: FieldType) -> FactKind:
    return FactKind(name, doc, MappingProxyType(dict(fields)), tuple(sources.split()))


_TEXT = "log kernel"

_ALL = (
    _kind("hit", "a log pattern matched a record; the pattern's own captures are further fields", _TEXT, pattern="str"),
    _kind(
        "status",
        "an NRT status was reported; `api` is the libnrt call, where said",
        _TEXT,
        code="int",
        symbol="str",
        api="str",
    ),
    _kind(
        "version",
        "a component's version (runtime, driver, collectives, firmware, compiler, kernel, torch ...)",
        _TEXT + " modinfo packages uname neuron-ls neuron-monitor",
        component="str",
        version="str",
    ),
    _kind(
        "identity",
        "two names of one thing, seen in one record (an alias of a host, a rank of a process)",
        _TEXT + " neuron-monitor kubectl core-dump slurm",
        instance_id="str",
        hostname="str",
        address="str",
        pod="str",
        instance_type="str",
    ),
    _kind("world", "how many ranks the job has, as one source says", _TEXT + " env slurm", size="int"),
    _kind(
        "progress",
        "the job advanced: the last training step, iteration or token count that a source reports",
        _TEXT,
        what="str",
        value="float",
    ),
    _kind("env", "an environment variable was set; values outside the allow-list read `<masked>`", _TEXT + " env", name="str", value="str"),
    _kind(
        "oom-kill",
        "the kernel killed a process for memory; `scope` is global or memcg",
        "kernel",
        scope="str",
        victim="str",
        victim_pid="int",
        cgroup="str",
        anon_rss_kb="int",
    ),
    _kind(
        "hw-err",
        "the runtime's NEURON_HW_ERR line in the kernel log; `raw` keeps what its keys do not say",
        _TEXT,
        name="str",
        action="str",
        serial="str",
        raw="str",
    ),
    _kind("attach", "a process opened the device (`npid_attach`)", "kernel", slot="int"),
    _kind("detach", "a process closed the device (`npid_detach`), usually by exiting", "kernel", slot="int"),
    _kind("reset", "a step in the life of a device reset: started, completed, failed", "kernel", request="int", phase="str"),
    _kind("pci-device", "a device node and its PCI address", "kernel lspci neuron-ls", bdf="str", kind="str"),
    _kind(
        "launcher-failure",
        "a launcher reported the end of a worker; `signal` is 0 where it exited by itself; `first` marks its own root-cause row",
        "log slurm kubectl",
        launcher="str",
        exitcode="int",
        signal="int",
        first="bool",
        message="str",
    ),
    _kind(
        "ndet-event",
        "an event of an NDET trace; times in microseconds of the trace; `complete` is false for an event that never ended",
        "ndet-trace ndet-console",
        event="str",
        complete="bool",
        start_us="float",
        end_us="float",
        exec_id="int",
        gid="int",
        ret="int",
        neff="str",
        peer="int",
    ),
    _kind("ndet-clean", "neuron-det found no error", "ndet-console"),
    _kind("ndet-raw", "a raw NDET log, readable only through neuron-det", "ndet-raw", trace_pid="int", started="str"),
    _kind(
        "fr-rank",
        "a flight-recorder dump: its rank's groups, status and in-flight operations (see engine.collectives)",
        "flight-recorder",
        version="str",
        dialect="str",
        entries="int",
        groups="list",
    ),
    _kind(
        "collective",
        "what matching the collectives of all ranks says of one group or of the wait-for graph: `verdict` is a class "
        "(rank-missing, rank-died, op-mismatch, size-mismatch, dtype-mismatch, order-mismatch, partial-completion, "
        "transport-stall, device-stuck, outside, p2p-missing, p2p-mismatch, p2p-order, straggler, undecided, healthy)",
        "flight-recorder",
        verdict="str",
        operation="str",
        ordinal="int",
        description="str",
        culprits="list",
        waiting="list",
        missing_dumps="list",
        culprit_frame="str",
        waiting_frame="str",
        difference="str",
    ),
    _kind(
        "counter",
        "a monotonic counter over a stream or between samples: first and last value and the sum of its increases",
        "neuron-monitor sysfs",
        name="str",
        first="int",
        last="int",
        increase="int",
        samples="int",
    ),
    _kind(
        "level",
        "a level over a stream: last, smallest and largest value, and the limit it is compared with (same unit, 0 if none)",
        "neuron-monitor sysfs",
        name="str",
        first="float",
        last="float",
        min="float",
        max="float",
        limit="float",
        samples="int",
    ),
    _kind("monitor-error", "neuron-monitor could not read a group: no data, which is not the same as healthy", "neuron-monitor", group="str", error="str"),
    _kind("device-state", "the state that the driver gives a device: resetting, ready or invalid", "sysfs", state="str"),
    _kind("unhealthy-component", "the driver lists a component of the device as unhealthy", "sysfs", component="str"),
    _kind(
        "core-dump",
        "a file of a runtime core dump; `part` is core, cc-core or log; the directory joins hosts by cluster id and time",
        "core-dump",
        part="str",
        cluster_id="str",
        dumped_at="str",
        tid="int",
        log_id="int",
        cc_core="int",
    ),
    _kind(
        "core-dump-args",
        "the arguments that neuron-dump was given",
        "core-dump log",
        neff="str",
        neff_uuid="str",
        date_time="str",
        log_id="int",
        cluster_id="str",
        api="str",
        code="int",
        output_dir="str",
        s3_prefix="str",
    ),
    _kind(
        "input-dump",
        "a directory of dumped input tensors; complete only when model_name.txt stands in it",
        "input-dump",
        complete="bool",
        files="int",
        handle="int",
        model="str",
    ),
    _kind("profile", "a profile of Neuron Explorer or neuron-profile: evidence of performance, not of failure", "profile", tool="str", part="str"),
    _kind(
        "device",
        "a device as neuron-ls lists it",
        "neuron-ls",
        bdf="str",
        cores="int",
        lnc="int",
        memory_bytes="int",
        connected_to="list",
    ),
    _kind("device-user", "a process that holds a device, as neuron-ls or a process table lists it", "neuron-ls", command="str", runtime_version="str"),
    _kind("device-count", "how many Neuron devices and EFA interfaces the host shows, and what the instance type must have (0: not known)", "neuron-ls neuron-monitor lspci sysfs", neuron="int", efa="int", expected_neuron="int", expected_efa="int", cores="int"),
    _kind("module", "a loaded kernel module and how many users it has (lsmod)", "lsmod", name="str", size="int", used_by="int"),
    _kind("module-absent", "a module listing that lacks the neuron module", "lsmod", name="str"),
    _kind("package", "an installed package; `state` is the packager's word for it", "packages", name="str", version="str", manager="str", state="str"),
    _kind("limit", "a resource limit of a shell (`ulimit -a`); unlimited is -1", "ulimit", name="str", value="int", unit="str"),
    _kind(
        "pod",
        "a Kubernetes pod or container as kubectl shows it",
        "kubectl",
        namespace="str",
        name="str",
        phase="str",
        reason="str",
        restarts="int",
        exit_code="int",
        signal="int",
        ready="bool",
        node="str",
    ),
    _kind("node", "a Kubernetes node: its status and how many Neuron resources it offers (-1: not shown)", "kubectl", name="str", status="str", neuron="int", neuroncore="int", efa="int"),
    _kind("node-condition", "a condition, taint or label of a Kubernetes node that speaks of health", "kubectl", name="str", type="str", status="str", reason="str", message="str"),
    _kind("k8s-event", "a Kubernetes event", "kubectl", type="str", reason="str", object="str", message="str", repeats="int"),
    _kind(
        "slurm-job",
        "a job or step as sacct or scontrol shows it",
        "slurm",
        job_id="str",
        step="str",
        name="str",
        state="str",
        exitcode="int",
        signal="int",
        derived_exitcode="int",
        nodes="str",
        reason="str",
        restarts="int",
    ),
    _kind("silence", "a source stopped before its peers, or showed nothing for long: the seconds, on one clock", _TEXT, seconds="float"),
)

KINDS: Mapping[str, FactKind] = MappingProxyType({kind.name: kind for kind in _ALL})
