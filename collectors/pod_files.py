"""Files that are called after a pod of which Kubernetes tells (`kubectl logs train-worker-3 > train-worker-3.log`; a directory
that has its namespace before it, `pods/train_llm-worker-2/trainer/0.log`, as the kubelet calls it), after what
the operators of Kubeflow call the pods of a job of which it tells (PyTorchJob `train`, replica `worker`, 3), or after what
the lines of another file say that they are from (a pod, a log stream); and the files beside these whose names differ from
theirs in nothing but numbers. A pod whose name looks like that of a host (`sft-node1.log`) is a pod all the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from neuron_doctor.collectors.hints import plain
from neuron_doctor.engine.facts import Collection, Fact, Place, Source, pod_of
from neuron_doctor.engine.pod_names import SHORTENED, SUFFIX
from neuron_doctor.engine.regexes import regex

#: A name without this may mean anything (`train/`).
_TELLING = regex(r"\d|-")
_NUMBER = regex(r"\d+")
#: `kubectl logs --previous`: the same container before it was started anew; or its starts have numbers.
_PREVIOUS = regex(r"[._-](?:prev(?:ious)?|(?:(?:re)?start|attempt|try|run|crash)[._=-]?\d{1,4})$")
#: Who collects files by hand may number them: `02-train-worker-3.log`.
_ORDER = regex(r"\A\d{1,3}[._-](?=[a-z])")
#: A container, perhaps with how often it had been restarted.
_CONTAINER = regex(r"(?P<name>[a-z\d][a-z\d-]{0,62})(?:_(?:previous|\d{1,3}))?")
#: Behind the name of a job (kubeflow/training-operator, mpi-operator).
_REPLICA = regex(r"-(?:worker|master|launcher)(?:-\d{1,5})?")
#: Behind the name of a JobSet: a replicated job, its number, the number of the pod, and letters that Kubernetes adds; behind that
#: of a Job: the number of the pod, if it is indexed, and the letters.
_OF_KIND = {
    "jobset": regex(rf"-[a-z\d](?:[a-z\d-]{{0,40}}[a-z\d])?-\d{{1,5}}-\d{{1,5}}(?:-{SHORTENED})?"),
    "job": regex(rf"(?:-\d{{1,5}})?-{SUFFIX}"),
}
#: `train-ps.log` is a list of processes, and `train-server-1.log` of a machine: only these kinds have such replicas, numbered.
_OF_KIND |= {"trainjob": _OF_KIND["jobset"], "tfjob": regex(r"-(?:chief|ps|evaluator)-\d{1,5}")}
_OF_KIND |= {"mxjob": regex(r"-(?:scheduler|server)-\d{1,5}")}
#: What may stand between the names of a pod and a container, or between a pod and other words.
_BETWEEN = "._-"


def placed_by_pods(collection: Collection) -> Collection:
    """The collection with the pods that the names of sources state, for them and their facts: of those without a place."""
    pods: dict[str, set[str]] = defaultdict(set)
    for fact in collection.facts:
        pod, _, container = (fact.place.container or "").partition("/")
        if _TELLING.search(pod):
            pods[pod].add(str(fact.data.get("container") or container))
    for name in _of_workloads(collection):
        pods[name].add("")
    if not pods:
        return collection
    found = {s.path: pod for s in collection.sources if (pod := _named(s, pods)) and _is_free(s.place, pod)}
    found |= _siblings(collection, found)
    sources = tuple(replace(s, place=_of(s.place, found[s.path])) if s.path in found else s for s in collection.sources)
    facts = tuple(
        replace(f, place=_of(f.place, found[f.span.path])) if _moves(f, found) else f for f in collection.facts
    )
    return Collection(sources, facts)


def _of_workloads(collection: Collection) -> Iterator[str]:
    """The names of files that are those of replicas of the jobs that Kubernetes shows."""
    told = (fact.data for fact in collection.facts if fact.kind == "workload" and fact.data["name"])
    jobs = {(str(job["name"]), str(job["object"]).lower()) for job in told}
    for source in collection.sources if jobs else ():
        name = _PREVIOUS.sub("", plain(_name(source.path)))
        if any(name.startswith(f"{job}-") and _is_replica(name[len(job) :], kind) for job, kind in jobs):
            yield name


def _is_replica(rest: str, kind: str) -> bool:
    return any(form and form.fullmatch(rest) for form in (_REPLICA, _OF_KIND.get(kind)))


def _is_free(place: Place, container: str) -> bool:
    return place.host in (None, pod_of(container)) and place.container is None


def _moves(fact: Fact, found: Mapping[str, str]) -> bool:
    return fact.span.path in found and fact.place.container is None


def _of(place: Place, container: str) -> Place:
    """The place in the container. What a path hinted at as a host is no host if it is the pod."""
    return replace(place, container=container, host=None if place.host == pod_of(container) else place.host)


def _siblings(collection: Collection, found: Mapping[str, str]) -> dict[str, str]:
    """The pods after which the other files are called that lie beside the files of pods, by their names."""
    shapes = {_shape(path) for path, container in found.items() if container == plain(_name(path))}
    free = (s for s in collection.sources if s.path not in found and _shape(s.path) in shapes)
    return {s.path: pod for s in free if _is_free(s.place, pod := plain(_name(s.path)))}


def _name(path: str) -> str:
    return path.replace("!", "/").rpartition("/")[2]


def _shape(path: str) -> str:
    """The path without the numbers of its last part."""
    name = _name(path)
    return path.removesuffix(name) + _NUMBER.sub("#", name)


def _named(source: Source, pods: Mapping[str, set[str]]) -> str:
    """The pod, and container, after which the innermost part of the path is called that names one."""
    *directories, last = source.path.replace("!", "/").split("/")
    for part in (last, *reversed(directories)):
        of_kubelet = part.split("_")[1:2] if part is not last else []
        names = (part, plain(part), _PREVIOUS.sub("", plain(part)), *of_kubelet)
        for name in dict.fromkeys((*names, *(_ORDER.sub("", name) for name in names))):
            if name in pods:
                return name
            for pod, container in _containers(name, pods):
                return f"{pod}/{container}"
    return ""


def _containers(name: str, pods: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """`train-worker-3_pytorch`: a pod and one of its containers. Of a pod whose containers nothing names, any name will do
    behind a character that no name of a pod has."""
    for at in (n for n, letter in enumerate(name) if letter in _BETWEEN):
        pod, container = name[:at], name[at + 1 :]
        if container and container in pods.get(pod, ()):
            yield pod, container
        elif (
            name[at] == "_"
            and not _PREVIOUS.fullmatch(name[at:])
            and pods.get(pod) == {""}
            and (found := _CONTAINER.fullmatch(container))
        ):
            yield pod, found["name"]
