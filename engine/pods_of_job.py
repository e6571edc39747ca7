"""Which of the pods that events tell of are pods of the job: the events of a cluster are those of whoever runs there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.bystanders import CONTROLLERS, bystanders, is_of_pod, names_of_files, word_of
from neuron_doctor.engine.facts import Fact, Source, pod_of
from neuron_doctor.engine.regexes import regex

#: What makes the pods of a job, as events name it: `pytorchjob/sft`, `JobSet/sft`.
_JOB = regex(r"(?i:\w{0,40}job|jobset|workflow)/(?P<name>[^\s/]{1,253})")
#: A name of a file that may be that of a pod: `sft-worker-0`.
_OF_POD = regex(r"[a-z\d]{1,60}-[a-z\d.-]{0,190}\d[a-z\d.-]{0,190}")
#: The namespaces of the cluster itself begin so.
_OF_CLUSTER = "kube-"


def with_pods_of_job(facts: Sequence[Fact], sources: Sequence[Source]) -> Iterator[Fact]:
    """The facts; events about pods also say whether the pod is one `of_job`: it begins like one of which there is a log, or,
    where none of those that are listed has one, it is listed itself, or a job after which it is called."""
    if not any(map(_is_about_pod, facts)):
        yield from facts
        return
    known = bystanders(facts, sources).pods
    words = known or frozenset(_words(facts, sources))
    listed, jobs = set(_listed(facts)), set(_jobs(facts))
    for fact in facts:
        if _is_about_pod(fact):
            pod = pod_of(fact.place.container)
            shown = not known and (pod in listed or any(pod.startswith(f"{job}-") for job in jobs))
            yield replace(fact, data={**fact.data, "of_job": shown or word_of(pod) in words})
        else:
            yield fact


def _is_about_pod(fact: Fact) -> bool:
    return fact.kind == "k8s-event" and fact.place.container is not None and is_of_pod(fact)


def _words(facts: Iterable[Fact], sources: Iterable[Source]) -> Iterator[str]:
    """How the pods begin that logs say they are from, or may be called after."""
    controllers = frozenset(source.id for source in sources if source.kind in CONTROLLERS)
    yield from (word_of(pod_of(f.place.container)) for f in facts if f.place.container and f.source not in controllers)
    yield from (word_of(name) for name in names_of_files(sources, controllers) if _OF_POD.fullmatch(name))


def _listed(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        if fact.kind == "pod" and not str(fact.data["namespace"]).startswith(_OF_CLUSTER):
            yield str(fact.data["name"])


def _jobs(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        if fact.kind == "workload":
            yield str(fact.data["name"])
        elif fact.kind == "k8s-event" and (job := _JOB.fullmatch(str(fact.data["object"]))):
            yield job["name"]
