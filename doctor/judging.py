"""Whether a diagnosis is right, by the simulator's truth: what it named, what it missed, whom it wronged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec.structs

from neuron_doctor.corpus.simulator.job import Job
from neuron_doctor.corpus.simulator.truth import Fault, Knowable, Truth
from neuron_doctor.engine.grades import ActionKind
from neuron_doctor.engine.verdict import NODE_ACTIONS, Diagnosis, Finding

#: What ranks say that wait: the contract calls these victims, so silence about a root is right.
_WAITING = frozenset(
    {"collectives-barrier-timeout", "collectives-hang", "comm-timeout", "comm-peer-lost", "exec-unit-unrecoverable"}
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to be said of one diagnosis. `top`: the first root is right, or there is none and none could be known.
    `exact`: all knowable faults are named and nothing else is. `blamed`: somebody innocent is named as a root.
    `drained`: a node action is proposed for a host without such a fault. `sure`: each root's confidence and whether it
    is right. `said` is what the verdict said, in short."""

    top: bool
    exact: bool
    blamed: bool
    drained: bool
    silent: bool
    sure: tuple[tuple[float, bool], ...]
    said: str


def judge(truth: Truth, diagnosis: Diagnosis, job: Job | None = None) -> Judgement:
    """The diagnosis of an incident held against the truth about it. By the job all names of a host are known, and the
    ranks of a device."""
    diagnosis = _with_host_names(diagnosis, job) if job else diagnosis
    truth = replace(truth, faults=tuple(_on_its_device(fault, job) for fault in truth.faults)) if job else truth
    by_id = {finding.id: finding for finding in diagnosis.findings}
    roots = [by_id[i] for i in diagnosis.root_causes]
    wanted = [
        number
        for number, fault in enumerate(truth.faults)
        if fault.is_root and fault.cause not in _WAITING and truth.knowable.get(number) is not Knowable.HIDDEN
    ]
    named = [_named(truth, root) for root in roots]
    return Judgement(
        top=(named[0] is not None) if roots else not wanted,
        exact=None not in named and set(wanted) <= set(named),
        blamed=any(_is_innocent(truth.faults, root) for root in roots),
        drained=any(_drains(truth.faults, finding) for finding in diagnosis.findings),
        silent=not roots,
        sure=tuple((root.confidence, number is not None) for root, number in zip(roots, named, strict=True)),
        said=_said(diagnosis, roots),
    )


def _with_host_names(diagnosis: Diagnosis, job: Job) -> Diagnosis:
    """The pod, the address, the instance and the full name of a host (as Kubernetes calls its node) are names of it."""
    names = {
        alias: host.name
        for host in job.hosts
        for alias in (host.pod, host.address, host.instance_id, host.name)
        if alias
    }
    findings = [
        msgspec.structs.replace(
            f, hosts=tuple(sorted({names.get(host) or names.get(host.partition(".")[0], host) for host in f.hosts}))
        )
        for f in diagnosis.findings
    ]
    return msgspec.structs.replace(diagnosis, findings=tuple(findings))


def _on_its_device(fault: Fault, job: Job) -> Fault:
    """A fault of a device is that of all its ranks."""
    if fault.device is None or not fault.ranks:
        return fault
    hosts = {job.seats[rank].host for rank in fault.ranks}
    ranks = [seat.rank for seat in job.seats if seat.host in hosts and seat.device == fault.device]
    return replace(fault, ranks=tuple(sorted({*fault.ranks, *ranks})))


def _named(truth: Truth, root: Finding) -> int | None:
    """The fault that a root names, by number."""
    fitting = (n for n, fault in enumerate(truth.faults) if _fits(fault, truth.knowable.get(n), root))
    return next(fitting, None)


def _fits(fault: Fault, knowable: Knowable | None, root: Finding) -> bool:
    stated = knowable is Knowable.STATED and fault.cause not in _WAITING
    causes = {fault.cause} if stated else {fault.cause, *fault.weaker}
    return fault.is_root and root.cause in causes and _is_there(fault, root)


def _is_there(fault: Fault, root: Finding) -> bool:
    """Whether a root's place is the fault's. A rank or a host of it must be named where the fault has one."""
    ranks = set(root.place.ranks)
    if not fault.ranks and not fault.hosts:
        return ranks <= set(fault.involved)
    wrong_device = None not in (fault.device, root.place.device) and fault.device != root.place.device
    right_host = bool(set(root.hosts) & set(fault.hosts))
    if wrong_device or (root.hosts and fault.hosts and not right_host):
        return False
    if ranks and (fault.ranks or fault.involved):
        return ranks <= {*fault.ranks, *fault.involved}
    return right_host or bool(ranks)


def _is_innocent(faults: Sequence[Fault], root: Finding) -> bool:
    """Whether a root names a rank, or else a host, that no fault has anything to do with."""
    guilty = {rank for fault in faults for rank in (*fault.ranks, *fault.involved)}
    hosts = {host for fault in faults for host in fault.hosts}
    if root.place.ranks:
        return bool(set(root.place.ranks) - guilty) and not hosts.issuperset(root.hosts or ("",))
    return bool(root.hosts) and bool(hosts) and not hosts & set(root.hosts)


def _drains(faults: Sequence[Fault], finding: Finding) -> bool:
    """Whether a node action is the first advice for a host that has no fault of its own to be cured by one."""
    sick = {host for fault in faults if fault.node_action for host in fault.hosts}
    acts = bool(finding.actions) and finding.actions[0].action in NODE_ACTIONS
    replaces = any(action.action is ActionKind.REPLACE_INSTANCE for action in finding.actions)
    return finding.role == "root" and (acts or replaces) and not sick & set(finding.hosts)


def _said(diagnosis: Diagnosis, roots: Sequence[Finding]) -> str:
    if not roots:
        return str(diagnosis.verdict.status)
    return "; ".join(f"{root.cause}@{_where(root)}[{root.rule}]" for root in roots)


def _where(root: Finding) -> str:
    device = f"/nd{root.place.device}" if root.place.device is not None else ""
    ranks = ",".join(map(str, root.place.ranks[:6]))
    return f"{','.join(root.hosts[:3])}{device}" + (f" r{ranks}" if ranks else "")
