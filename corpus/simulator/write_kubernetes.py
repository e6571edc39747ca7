"""Kubernetes' side of a job: `kubectl describe` of its pods and nodes, with their events."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from neuron_doctor.corpus.simulator import clocks, layout, pci
from neuron_doctor.corpus.simulator.history import (
    End,
    Event,
    HardwareError,
    History,
    HostRebooted,
    KernelOom,
    SchedulerSaid,
    StepDone,
)
from neuron_doctor.corpus.simulator.host_events import host_of
from neuron_doctor.corpus.simulator.style import Style
from neuron_doctor.corpus.simulator.text import Lines
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_kernel_faults import hardware_error_line

_IMAGE = "public.ecr.aws/neuron/pytorch-training-neuronx:2.7.0-neuronx-py310-sdk2.25.0-ubuntu22.04"
_DOMAIN = "us-west-2.compute.internal"
_NODE_LOST = "Kubelet stopped posting node status."
# What the Neuron node problem detector makes of the runtime's hardware errors.
_DETECTED = {
    "hbm-ue": "HBM_UNCORRECTABLE_ERROR",
    "sram-ue": "SRAM_UNCORRECTABLE_ERROR",
    "dma-abort": "DMA_ERROR",
}
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_NOTICED = 45.0  # seconds until the control plane sees that a kubelet is silent


@dataclass(frozen=True, slots=True)
class _Notice:
    """An event of the Kubernetes API."""

    time: float
    kind: str  # Normal, Warning
    reason: str
    source: str
    message: str
    fault: int | None = None


@dataclass(frozen=True, slots=True)
class _Stop:
    """How a pod's container ended."""

    reason: str
    code: int
    time: float
    fault: int | None = None


def kubernetes_files(history: History, style: Style, random: Random) -> Iterator[File]:
    """All pods in one file, all nodes in another."""
    history = replace(history, events=tuple(event for event in history.events if not isinstance(event, StepDone)))
    pods, nodes = Lines(), Lines()
    detector = random.choice((True, False))
    for host in range(len(history.job.hosts)):
        if host:
            pods.line("\n")
            nodes.line("\n")
        _pod(history, host, random, pods)
        _node(history, host, nodes, detector=detector)
    path = layout.path_for(style, history.job, source="kubernetes", name="kubectl-describe-pods.txt")
    yield pods.file(path, "kubernetes")
    path = layout.path_for(style, history.job, source="kubernetes", name="kubectl-describe-nodes.txt")
    yield nodes.file(path, "kubernetes")


def _node_name(history: History, host: int) -> str:
    return f"{history.job.hosts[host].name}.{_DOMAIN}"


def _pod(history: History, host: int, random: Random, lines: Lines) -> None:
    job, machine = history.job, history.job.hosts[host]
    stop = _stop(history, host)
    status = "Running" if stop is None else ("Succeeded" if stop.code == 0 else "Failed")
    started = clocks.rfc1123(job.start - 8)
    for text in (
        f"Name:             {machine.pod}",
        "Namespace:        default",
        "Priority:         0",
        "Service Account:  default",
        f"Node:             {_node_name(history, host)}/{machine.address}",
        f"Start Time:       {clocks.rfc1123(job.start - 30)}",
        f"Labels:           batch.kubernetes.io/job-name={job.name}",
        f"                  training.kubeflow.org/replica-index={host}",
        f"Status:           {status}",
        f"IP:               {machine.address}",
        "Containers:",
        "  trainer:",
        f"    Container ID:  containerd://{random.getrandbits(256):064x}",
        f"    Image:         {_IMAGE}",
    ):
        lines.line(text)
    if stop is None:
        lines.line("    State:          Running")
        lines.line(f"      Started:      {started}")
    else:
        lines.line("    State:          Terminated")
        lines.line(f"      Reason:       {stop.reason}", stop.fault)
        lines.line(f"      Exit Code:    {stop.code}")
        lines.line(f"      Started:      {started}")
        lines.line(f"      Finished:     {clocks.rfc1123(stop.time)}")
    for text in (
        f"    Ready:          {stop is None}",
        "    Restart Count:  0",
        "    Limits:",
        f"      aws.amazon.com/neuron:  {machine.devices}",
        f"      vpc.amazonaws.com/efa:  {len(pci.interfaces(machine))}",
    ):
        lines.line(text)
    _events([*_pod_events(history, host, stop)], history.collected, lines)


def _stop(history: History, host: int) -> _Stop | None:
    """A container lives as long as its launcher: until the last of its ranks ended."""
    if any(_went_down(event, host) for event in history.events):
        return None  # nobody can tell the API
    ranks = history.job.ranks_on(host)
    lives = [history.lives[rank] for rank in ranks]
    ends = [life.ended for life in lives if life.ended is not None]
    if len(ends) < len(lives) or not ends:
        return None
    at = max(ends) + 1.5
    for event in history.events:
        if isinstance(event, KernelOom) and event.cgroup is not None and host_of(event, history.job) == host:
            return _Stop("OOMKilled", 137, at, event.fault if len(ranks) == 1 else None)
    if all(life.end is End.FINISHED for life in lives):
        return _Stop("Completed", 0, at)
    return _Stop("Error", 1, at)


def _went_down(event: Event, host: int) -> bool:
    return isinstance(event, HostRebooted) and event.host == host


def _pod_events(history: History, host: int, stop: _Stop | None) -> Iterator[_Notice]:
    start, machine = history.job.start, history.job.hosts[host]
    assigned = f"Successfully assigned default/{machine.pod} to {_node_name(history, host)}"
    yield _Notice(start - 30, "Normal", "Scheduled", "default-scheduler", assigned)
    yield _Notice(start - 28, "Normal", "Pulled", "kubelet", f'Container image "{_IMAGE}" already present on machine')
    yield _Notice(start - 9, "Normal", "Created", "kubelet", "Created container: trainer")
    yield _Notice(start - 8, "Normal", "Started", "kubelet", "Started container trainer")
    for event in history.events:
        if isinstance(event, SchedulerSaid):
            yield from _decided(event, history, host)
        elif _went_down(event, host) and event.time + _NOTICED < history.collected:
            text = "Node is not ready"
            yield _Notice(event.time + _NOTICED, "Warning", "NodeNotReady", "node-controller", text, event.fault)
    if stop is not None and stop.code:
        text = "Back-off restarting failed container trainer in pod " + str(machine.pod)
        yield _Notice(stop.time + 10, "Warning", "BackOff", "kubelet", text)


def _decided(event: SchedulerSaid, history: History, host: int) -> Iterator[_Notice]:
    """What a decision of the scheduler or of a user leaves at a pod."""
    node = _node_name(history, host)
    if event.what == "node-fail":
        if event.host == host:
            yield _Notice(event.time, "Warning", "NodeNotReady", "node-controller", "Node is not ready", event.fault)
        return
    if event.what == "preempted":
        text = f"Preempted by pod 5f1c2b9e-8d0f-4c7b-9f0a-2f1d0c9b7e11 on node {node}"
        yield _Notice(event.time - 0.5, "Normal", "Preempted", "default-scheduler", text, event.fault)
    if event.what == "time-limit":
        text = "Job was active longer than specified deadline"
        yield _Notice(event.time - 0.5, "Warning", "DeadlineExceeded", "job-controller", text, event.fault)
    told = event.fault if event.what == "cancelled" else None
    yield _Notice(event.time, "Normal", "Killing", "kubelet", "Stopping container trainer", told)


def _node(history: History, host: int, lines: Lines, *, detector: bool) -> None:
    machine = history.job.hosts[host]
    lines.line(f"Name:               {_node_name(history, host)}")
    lines.line("Roles:              <none>")
    lines.line(f"Labels:             node.kubernetes.io/instance-type={machine.instance_type}")
    lines.line("                    topology.kubernetes.io/zone=us-west-2d")
    lines.line(f"CreationTimestamp:  {clocks.rfc1123(machine.boot + 90)}")
    lines.line("Conditions:")
    lines.line(
        "  Type             Status   LastHeartbeatTime                 LastTransitionTime                Reason   Message"
    )
    lines.line(
        "  ----             ------   -----------------                 ------------------                ------   -------"
    )
    for condition, fault in _conditions(history, host, detector=detector):
        lines.line(condition, fault)
    lines.line("Addresses:")
    lines.line(f"  InternalIP:   {machine.address}")
    lines.line(f"  InternalDNS:  {_node_name(history, host)}")
    lines.line("System Info:")
    lines.line(f"  ProviderID:   aws:///us-west-2d/{machine.instance_id}")
    _events([*_node_events(history, host)], history.collected, lines)


def _conditions(history: History, host: int, *, detector: bool) -> Iterator[tuple[str, int | None]]:
    if detector:
        yield _neuron_health(history, host)
    down = next((event for event in history.events if _went_down(event, host)), None)
    up = clocks.rfc1123(history.job.hosts[host].boot + 100)
    if isinstance(down, HostRebooted) and (down.back is None or down.back > history.collected):
        since = clocks.rfc1123(down.time + _NOTICED)
        text = _condition("Ready", "Unknown", since, since, f"NodeStatusUnknown   {_NODE_LOST}")
        yield text, down.fault if down.time + _NOTICED < history.collected else None
        return
    now = clocks.rfc1123(history.collected - 60)
    yield (
        _condition(
            "MemoryPressure", "False", now, up, "KubeletHasSufficientMemory   kubelet has sufficient memory available"
        ),
        None,
    )
    yield _condition("Ready", "True", now, up, "KubeletReady   kubelet is posting ready status"), None


def _condition(name: str, status: str, heartbeat: str, since: str, reason: str) -> str:
    return f"  {name:<15}  {status:<7}  {heartbeat:<32}  {since:<32}  {reason}"


def _neuron_health(history: History, host: int) -> tuple[str, int | None]:
    """The condition that the Neuron node problem detector keeps."""
    now = clocks.rfc1123(history.collected - 60)
    for event in history.events:
        if isinstance(event, HardwareError) and event.error in _DETECTED and host_of(event, history.job) == host:
            line = hardware_error_line(event, _DETECTED[event.error], history)
            reason = f"NeuronHasError_{_DETECTED[event.error]}   {line}"
            return _condition("NeuronHealth", "True", now, clocks.rfc1123(event.time + 5), reason), event.fault
    since = clocks.rfc1123(history.job.hosts[host].boot + 200)
    return _condition("NeuronHealth", "False", now, since, "NeuronHasNoError   Neuron has no error"), None


def _node_events(history: History, host: int) -> Iterator[_Notice]:
    name = _node_name(history, host)
    for event in history.events:
        if isinstance(event, HostRebooted) and event.host == host:
            text = f"Node {name} status is now: NodeNotReady"
            yield _Notice(event.time + _NOTICED, "Normal", "NodeNotReady", "node-controller", text, event.fault)
            if event.back is not None:
                boot_id = f"{Random(f'boot:{name}').getrandbits(64):016x}"
                text = f"Node {name} has been rebooted, boot id: {boot_id}"
                yield _Notice(event.back + 60, "Warning", "Rebooted", "kubelet", text, event.fault)


def _events(notices: list[_Notice], now: float, lines: Lines) -> None:
    """The table of events with their ages, as far as they have happened."""
    past = sorted((notice for notice in notices if notice.time <= now), key=lambda notice: notice.time)
    if not past:
        lines.line("Events:              <none>")
        return
    lines.line("Events:")
    lines.line("  Type     Reason            Age    From               Message")
    lines.line("  ----     ------            ----   ----               -------")
    for notice in past:
        age = _age(now - notice.time)
        lines.line(
            f"  {notice.kind:<7}  {notice.reason:<16}  {age:<5}  {notice.source:<17}  {notice.message}", notice.fault
        )


def _age(seconds: float) -> str:
    """5s, 5m8s, 47m, 3h12m, 2d: as kubectl prints ages."""
    whole = int(seconds)
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return f"{whole // _MINUTE}m{whole % _MINUTE}s" if whole % _MINUTE else f"{whole // _MINUTE}m"
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE}m"
    return f"{whole // _DAY}d"
