"""Files that are called after pods: whose they are, and what only seems to be called so."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.pod_files import placed_by_pods
from neuron_doctor.engine.facts import NOWHERE, Collection, Fact, Place, Source, Span


def pod(name: str, container: str = "") -> Fact:
    return Fact("pod", {"name": name, "container": container}, Place(container=name), Span("pods.txt"), "pods.txt")


def containers(path: str, *pods: Fact, place: Place = NOWHERE, said: Place = NOWHERE) -> tuple[str | None, str | None]:
    """The container of a source, and that of a fact of it."""
    fact = Fact("hit", {"pattern": "p"}, said, Span(path), path)
    placed = placed_by_pods(Collection((Source(path, path, "log", place=place),), (fact, *pods)))
    return placed.sources[0].place.container, placed.facts[0].place.container


@pytest.mark.parametrize(
    ("path", "container"),
    [
        ("logs/train-worker-1.log", "train-worker-1"),
        ("train-worker-1/out.log", "train-worker-1"),
        ("all.tar!train-worker-1.log.gz", "train-worker-1"),
        ("train-worker-1_pytorch.log", "train-worker-1/pytorch"),
        ("train-worker-1.pytorch.previous.log", "train-worker-1/pytorch"),
        ("train-worker-1-previous.log", "train-worker-1"),
        ("train-worker-1.restart0.log", "train-worker-1"),
        ("train-worker-1_pytorch.restart1.log", "train-worker-1/pytorch"),
        ("train-worker-1-crash-2.log.gz", "train-worker-1"),
        ("train-worker-1.attempt=1.log", "train-worker-1"),
        ("train-worker-1-restarts-of-the-day.log", None),
        ("02-train-worker-1.log", "train-worker-1"),
        ("case/7_train-worker-1_pytorch.log", "train-worker-1/pytorch"),
        ("02-big-train-worker-1.log", None),
        ("train-worker-12.log", None),
        ("other.log", None),
        ("train/out.log", None),
    ],
)
def test_a_name_states_a_pod_that_kubernetes_lists(path: str, container: str | None) -> None:
    listed = pod("train-worker-1", "pytorch"), pod("train-worker-0", "pytorch"), pod("train")
    assert containers(path, *listed) == (container, container)


@pytest.mark.parametrize(
    ("path", "container"),
    [
        ("train-worker-1_vllm.log", "train-worker-1/vllm"),
        ("train-worker-1_vllm_previous.log", "train-worker-1/vllm"),
        ("train-worker-1_vllm_2.log", "train-worker-1/vllm"),
        ("train-worker-1-vllm.log", None),
        ("train-worker-1_of_the_job.log", None),
    ],
)
def test_of_a_pod_whose_containers_nothing_names_any_name_will_do(path: str, container: str | None) -> None:
    assert containers(path, pod("train-worker-1"), pod("train-worker-0")) == (container, container)


def test_what_lines_of_another_file_are_from_names_a_file_too() -> None:
    line = Fact("hit", {"pattern": "p"}, Place(container="w-b"), Span("insights.csv"), "insights.csv")
    assert containers("w-b.dmesg", line) == ("w-b", "w-b")
    assert containers("w-a.dmesg", line) == (None, None)


def test_what_is_not_listed_is_no_pod() -> None:
    assert containers("train-worker-1.log") == (None, None)
    assert containers("train-worker-1.log", pod("train-worker-2")) == (None, None)


def test_what_lies_beside_the_file_of_a_pod_and_is_called_like_it_is_of_a_pod_too() -> None:
    listed = pod("sft-worker-1")
    sources = tuple(
        Source(path, path, "log") for path in ("sft-worker-0.log", "sft-worker-1.log", "x/sft-worker-2.log")
    )
    placed = placed_by_pods(Collection(sources, (listed,)))
    assert [source.place.container for source in placed.sources] == ["sft-worker-0", "sft-worker-1", None]
    assert containers("sft-worker-0.log", listed) == (None, None), "no file of a pod lies beside it"


def test_a_pod_whose_name_looks_like_that_of_a_host_is_a_pod() -> None:
    assert containers("sft-node901.log", pod("sft-node901"), place=Place(host="sft-node901")) == ("sft-node901",) * 2


def test_a_known_place_stays() -> None:
    listed = pod("train-worker-1")
    assert containers("train-worker-1.log", listed, place=Place(host="node7")) == (None, None)
    assert containers("train-worker-1.log", listed, said=Place(container="x/y")) == ("train-worker-1", "x/y")


@pytest.mark.parametrize(
    ("path", "container"),
    [
        ("logs/train-worker-1.log", "train-worker-1"),
        ("logs/train-worker-1.previous.log", "train-worker-1"),
        ("train-launcher.log", "train-launcher"),
        ("train-1.log", None),
        ("train-notes.log", None),
        ("retrain-worker-1.log", None),
    ],
)
def test_a_name_states_a_replica_of_a_job_that_kubernetes_shows(path: str, container: str | None) -> None:
    job = Fact("workload", {"object": "PyTorchJob", "name": "train", "state": "complete"}, NOWHERE, Span("j"), "j")
    assert containers(path, job) == (container, container)


@pytest.mark.parametrize(
    ("kind", "path", "stated"),
    [
        ("JobSet", "train-workers-0-1-x7k2m.log", True),
        ("JobSet", "train-workers-0-1.log", True),
        ("TrainJob", "train-node-0-3.log", True),
        ("JobSet", "train-run-3.log", False),
        ("Job", "train-0-x7k2m.log", True),
        ("Job", "train-x7k2m.log", True),
        ("Job", "train-debug.log", False),
        ("Job", "other-x7k2m.log", False),
        ("PyTorchJob", "train-workers-0-1.log", False),
        ("PyTorchJob", "train-worker-1.log", True),
        ("PyTorchJob", "train-ps.log", False),
        ("PyTorchJob", "train-ps-1.log", False),
        ("PyTorchJob", "train-server-1.log", False),
        ("TFJob", "train-ps-1.log", True),
        ("TFJob", "train-ps.log", False),
        ("TFJob", "train-chief-0.log", True),
        ("TFJob", "train-server-1.log", False),
        ("MXJob", "train-server-1.log", True),
    ],
)
def test_a_name_states_a_pod_of_a_job_by_how_its_kind_calls_them(kind: str, path: str, stated: bool) -> None:
    job = Fact("workload", {"object": kind, "name": "train", "state": "complete"}, NOWHERE, Span("j"), "j")
    name = path.removesuffix(".log") if stated else None
    assert containers(path, job) == (name, name)
