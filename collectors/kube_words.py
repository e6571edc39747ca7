"""The words of Kubernetes and of what runs jobs on it, that tell something here: names of resources, labels, kinds, reasons and
messages of events, conditions."""

from __future__ import annotations

from collections.abc import Mapping

from neuron_doctor.engine.bystanders import NODE_LOST
from neuron_doctor.engine.regexes import regex

#: What a node offers, by the names of the Neuron and EFA device plugins (`neurondevice` until 2023).
RESOURCES: Mapping[str, str] = {
    "aws.amazon.com/neuron": "neuron",
    "aws.amazon.com/neurondevice": "neuron",
    "aws.amazon.com/neuroncore": "neuroncore",
    "vpc.amazonaws.com/efa": "efa",
}

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
#: `aws:///us-west-2a/i-0592464924bd45322`; of HyperPod `aws:///usw2-az4/sagemaker/cluster/hyperpod-i-0592464924bd45322`.
PROVIDER = regex(r"aws:///(?:[\w-]{0,60}/){1,4}(?:hyperpod-)?(i-[0-9a-f]+)")

#: The device, and the core, that a node's condition or event names: in the runtime's line as it stands in the kernel log
#: (`nd-id=13 nc-id=5`), or in words of the one who read it (`detected on device 3`, `neuron device 3`, `/dev/neuron3`).
OF_DEVICE = regex(
    r"(?:\bnd-id=|\bnd|\b[Dd]evice[ =:#]{1,2}(?:nd|neuron)?|\b[Nn]euron)(?P<device>\d{1,3})\b(?: nc-id=(?P<core>\d{1,3})\b)?"
)
#: Whose conditions and events are about devices of this kind, by their reasons.
OF_NEURON = "Neuron"

#: The scheduler's message of an event `Scheduled`.
ASSIGNED = regex(r"Successfully assigned \S{1,320} to (?P<node>[\w.-]{1,253})\s*$")

#: Labels and taints that speak of health, and the values that are well (SageMaker HyperPod health monitoring agent).
HEALTH_KEYS = regex(
    r"sagemaker\.amazonaws\.com/(?:node-health-status|deep-health-check-status|fault-types|fault-reasons|fault-details)|node\.kubernetes\.io/(?:not-ready|unreachable|unschedulable|\w+-pressure|out-of-service)"
)
WELL = frozenset({"Schedulable", "Passed", "InProgress"})

#: What is told of a pod whose containers run: only then is it asked how it is.
RUNS = frozenset({"Pulling", "Pulled", "Created", "Started", "Unhealthy"})

#: How operators call that they have made a job (`MPIJobCreated`).
MADE = "JobCreated"
#: After one of these, an event of the other kind about the same object is over.
RESOLVES: Mapping[str, frozenset[str]] = {
    "FailedScheduling": RUNS | {"Scheduled"},
    "FailedCreatePodSandBox": RUNS,
    "FailedMount": RUNS | {"SuccessfulMountVolume"},
    "FailedAttachVolume": RUNS | {"SuccessfulAttachVolume"},
    "UnexpectedAdmissionError": frozenset({"Created", "Started", "Unhealthy"}),
    "Failed": frozenset({"Started"}),  # an image that came at last, a container that starts now
    "ErrImagePull": RUNS - {"Pulling"},
    NODE_LOST: frozenset({"NodeReady"}),
    "Pending": frozenset({"QuotaReserved", "Admitted"}),  # a workload of Kueue
    "Preempted": frozenset({"QuotaReserved", "Admitted"}),  # and later it has its turn again
    "FailedCreate": frozenset({"SuccessfulCreate"}),
    "Unschedulable": frozenset({"Scheduled"}),
}

#: Who tells these of a pod had it on a node: it was scheduled before. The pod of that name that comes after it is another one.
OF_SCHEDULED = frozenset({"Killing", "Unhealthy", "Evicted", "Preempted", "BackOff"})
#: What a later event of these about the same pod shows to be over. Only a container that runs is killed, so that its volumes
#: were mounted: kubelet looks after them while it works, too, and says so where it cannot.
SHOWN_OVER: Mapping[str, frozenset[str]] = {
    "FailedScheduling": OF_SCHEDULED,
    "FailedMount": frozenset({"Killing"}),
    "FailedAttachVolume": frozenset({"Killing"}),
}

#: What Kubeflow's training operator tells of a job (reason `ExitedWithCode`): Pod: ml.t5-worker-1 exited with code 1
ENDED = regex(r"Pod: (?:[a-z\d-]{1,63}\.)?(?P<pod>[a-z\d][a-z\d.-]{0,252}) exited with code [1-9]\d{0,2}")

#: Kinds of objects that end: Job, TrainJob, PyTorchJob, MPIJob, RayJob (Kubernetes, Kubeflow, KubeRay, Volcano, HyperPod), JobSet
#: and the workflows of Argo.
WORKLOAD = regex(r"[A-Z]?\w{0,40}Job|JobSet|Workflow")
#: How their conditions, phases and columns call a good and a bad end.
ENDS: Mapping[str, str] = {
    "complete": "complete",
    "completed": "complete",
    "succeeded": "complete",
    "failed": "failed",
    "error": "failed",
}


#: The kinds of jobs for which Kueue makes workloads (its integrations of 0.6 to 0.14, and that of HyperPod).
KUEUE_KINDS = (
    "appwrapper", "deployment", "hyperpodpytorchjob", "jaxjob", "job", "jobset", "leaderworkerset", "mpijob", "mxjob",
    "paddlejob", "pod", "pytorchjob", "raycluster", "rayjob", "rayservice", "sparkapplication", "statefulset", "tfjob",
    "trainjob", "xgboostjob",
)  # fmt: skip
#: How Kueue calls what it admits: after the kind and the name of the job, with a hash.
OF_KUEUE = regex(rf"(?:{'|'.join(KUEUE_KINDS)})-(?P<job>[a-z\d](?:[a-z\d.-]{{0,240}}[a-z\d])?)-[a-z\d]{{5}}")
#: Objects that stand in a queue, and the conditions by which they say that they still do: Kueue, Volcano.
QUEUED = frozenset({"Workload", "PodGroup"})
WAITING = frozenset({("QuotaReserved", "False"), ("Admitted", "False"), ("Unschedulable", "True")})
