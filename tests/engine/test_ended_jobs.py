"""A pod is of the job that it is called after, and not of one whose name its own job's name only begins with."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.ended_jobs import Job, ended_jobs, job_of_object
from neuron_doctor.engine.facts import Fact, Place, Span


def shown(kind: str, name: str, state: str = "complete") -> Fact:
    return Fact("workload", {"object": kind, "name": name, "state": state}, Place(), Span("k8s"), "k8s")


def event(reason: str, name: str) -> Fact:
    return Fact("k8s-event", {"reason": reason, "object": name}, Place(), Span("k8s"), "k8s")


@pytest.mark.parametrize(
    ("kind", "pod"),
    [
        ("job.batch", "train-x7k2p"),
        ("Job", "train-0-x7k2p"),
        ("", "train-0"),
        ("PyTorchJob", "train-master-0"),
        ("MPIJob", "train-launcher-x7k2p"),
        ("", "train-worker-12"),
        ("JobSet", "train-workers-0-1-x7k2p"),
        ("TrainJob", "train-dataset-initializer-0-0-x7k2p"),
        ("RayJob", "train-raycluster-x7k2p-head-p2k7x"),
        ("RayJob", "train-x7k2p"),
        ("Workflow", "train-fetch-data-1234567890"),
    ],
)
def test_a_pod_is_of_the_complete_job_that_names_it(kind: str, pod: str) -> None:
    job = job_of_object(kind, "train")
    assert ended_jobs([shown(kind, "train")]).of(pod) == {job}
    assert not ended_jobs([shown(kind, "train"), shown(kind, "train", "failed")]).of(pod)
    assert not ended_jobs([shown(kind, "tra")]).of(pod)


@pytest.mark.parametrize("kind", ["", "Job", "PyTorchJob", "MPIJob", "JobSet", "TrainJob"])
@pytest.mark.parametrize(
    "pod",
    [
        "train-eval-x7k2p",
        "train-eval-worker-0",
        "train-eval-launcher-x7k2p",
        "train",
        "train-",
        "train-evals",
        "train-1-proxy",
    ],
)
def test_a_pod_of_a_job_whose_name_goes_on_is_not(kind: str, pod: str) -> None:
    assert not ended_jobs([shown(kind, "train")]).of(pod)


def test_nor_is_one_that_a_longer_name_of_a_job_that_failed_explains() -> None:
    good = [shown("RayJob", "train")]
    assert ended_jobs(good).of("train-x7k2p-worker-0")
    assert not ended_jobs([*good, shown("Job", "train-x7k2p", "failed")]).of("train-x7k2p-worker-0")


def test_events_tell_of_jobs_too_and_others_do_not() -> None:
    assert ended_jobs([event("Completed", "job.batch/train")]).complete == {Job("job", "train")}
    assert ended_jobs([event("AllJobsCompleted", "jobset/train")]).of("train-w-0-0-x7k2p")
    assert not ended_jobs([event("BackoffLimitExceeded", "job/train"), event("Completed", "")]).complete


def test_only_pods_of_a_job_of_which_each_does_the_same_are_copies() -> None:
    assert Job("job", "train").copies("train-x7k2p")
    assert Job("job", "train").copies("train-1-x7k2p")
    assert not Job("job", "train").copies("train-worker-1")
    assert not Job("job", "train").copies("train-evals")  # Kubernetes makes no words
    assert not Job("pytorchjob", "train").copies("train-x7k2p")
