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
        ("train-worker-1.pytorch.previous.log", None),
        ("train-worker-12.log", None),
        ("other.log", None),
        ("train/out.log", None),
    ],
)
def test_a_name_states_a_pod_that_kubernetes_lists(path: str, container: str | None) -> None:
    listed = pod("train-worker-1", "pytorch"), pod("train-worker-0", "pytorch"), pod("train")
    assert containers(path, *listed) == (container, container)


def test_what_lines_of_another_file_are_from_names_a_file_too() -> None:
    line = Fact("hit", {"pattern": "p"}, Place(container="w-b"), Span("insights.csv"), "insights.csv")
    assert containers("w-b.dmesg", line) == ("w-b", "w-b")
    assert containers("w-a.dmesg", line) == (None, None)


def test_what_is_not_listed_is_no_pod() -> None:
    assert containers("train-worker-1.log") == (None, None)
    assert containers("train-worker-1.log", pod("train-worker-2")) == (None, None)


def test_a_known_place_stays() -> None:
    listed = pod("train-worker-1")
    assert containers("train-worker-1.log", listed, place=Place(host="node7")) == (None, None)
    assert containers("train-worker-1.log", listed, said=Place(container="x/y")) == ("train-worker-1", "x/y")
