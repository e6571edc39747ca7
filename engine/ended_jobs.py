"""Which jobs of Kubernetes ended, and which of them a pod is of, by its name: a Job or an operator calls its pods after itself,
and so may the next job be called, as `train-eval` beside `train`.

Names of pods: Jobs `JOB-[INDEX-]x7k2p` (their host `JOB-INDEX`); Kubeflow and Volcano `JOB-worker-0`, of MPI
`JOB-launcher-x7k2p`; JobSet and TrainJob `JOB-REPLICATED-0-0-x7k2p`; KubeRay `JOB-[raycluster-]x7k2p-head-p2k7x`; Argo
`WORKFLOW-TEMPLATE-1234567890`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.pod_names import SHORTENED, SUFFIX
from neuron_doctor.engine.regexes import regex

#: Reasons of events by which a Job, or an operator's job, has ended well.
JOB_ENDED = frozenset(
    {"Completed", "JobSucceeded", "PyTorchJobSucceeded", "MPIJobSucceeded", "TFJobSucceeded", "JAXJobSucceeded"}
    | {"AllJobsCompleted", "JobCompleted"}
)
#: How objects and tables call a Job of Kubernetes; a table of one kind does not say which.
_JOBS = frozenset({"", "job", "jobs"})
_COPY = regex(rf"(?:\d{{1,6}}-)?{SUFFIX}")
_PART = regex(
    r"\d{1,6}|(?:master|worker|launcher|chief|ps|evaluator|scheduler|server|driver|executor|head|leader|trainer|node|pods?)s?-\d{1,6}"
    rf"|launcher(?:-{SUFFIX})?"
)
#: Those that put something between their own name and the number.
_OF_SETS = regex(rf"(?:[a-z\d]{{1,40}}|[a-z]{{1,20}}-(?:initializer|node))-\d{{1,6}}(?:-\d{{1,6}}(?:-{SHORTENED})?)?")
_OF_RAY = regex(rf"(?:raycluster-)?{SUFFIX}(?:-[a-z\d-]{{1,60}})?")
_OF_ARGO = regex(r"(?:[a-z\d-]{1,200}-)?\d{6,10}")
_OWN = {"jobset": _OF_SETS, "trainjob": _OF_SETS, "rayjob": _OF_RAY, "workflow": _OF_ARGO}


class Job(Struct, frozen=True):
    """The kind of an object (in small letters; nothing where it is not told) and its name."""

    kind: str
    name: str

    def has(self, pod: str) -> bool:
        """Whether a pod is called as those of this job are."""
        rest, own = self._rest(pod), _OWN.get(self.kind)
        alike = own is not None and own.fullmatch(rest) is not None
        return bool(rest) and (alike or self.copies(pod) or _PART.fullmatch(rest) is not None)

    def copies(self, pod: str) -> bool:
        """Whether a pod is one of those of a Job of which each does what another was to do."""
        return self.kind in _JOBS and _COPY.fullmatch(self._rest(pod)) is not None

    def _rest(self, pod: str) -> str:
        return pod[len(self.name) + 1 :] if self.name and pod.startswith(f"{self.name}-") else ""


class EndedJobs(Struct, frozen=True):
    """Those that are complete, and those that are shown as failed."""

    complete: frozenset[Job] = frozenset()
    failed: frozenset[Job] = frozenset()

    def of(self, pod: str) -> frozenset[Job]:
        """The complete jobs of which a pod is: of a set, it may be the set and the job in it."""
        found = {job for job in self.complete if job.has(pod)}
        longest = max((len(job.name) for job in found), default=0)
        apart = any(len(job.name) > longest and job.has(pod) for job in self.failed)
        return frozenset() if apart else frozenset(found)


def job_of_object(kind: str, name: str) -> Job:
    """The job that an object is, as commands and events call it: `job.batch/train`, `pytorchjob/train`."""
    return Job(kind.lower().partition(".")[0], name)


def ended_jobs(facts: Iterable[Fact]) -> EndedJobs:
    """The jobs that events, objects or tables show as complete, or as failed."""
    complete, failed = set[Job](), set[Job]()
    for fact in facts:
        if fact.kind == "k8s-event" and fact.data["reason"] in JOB_ENDED:
            kind, _, name = str(fact.data["object"]).rpartition("/")
            complete.add(job_of_object(kind, name))
        elif fact.kind == "workload":
            job = job_of_object(str(fact.data["object"]), str(fact.data["name"]))
            (complete if fact.data["state"] == "complete" else failed).add(job)
    names = {job.name for job in failed} | {""}
    return EndedJobs(frozenset(job for job in complete if job.name not in names), frozenset(failed))
