"""A pod is at the node where Kubernetes shows it, and stands for its host in a finding where nothing shows it anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span
from neuron_doctor.engine.pods import on_their_nodes


def hosts_of(folder: Path, *containers: str, host: str | None = None) -> tuple[str, ...]:
    rulebook = pack(folder, rule("raised", "record: raising", cause="bug", at="job", patterns=("raising",)))
    facts = tuple(hit("raising", offset=n, container=name, host=host) for n, name in enumerate(containers))
    return diagnose(rulebook, Collection((source("s"),), facts)).findings[0].hosts


def test_the_pod_is_named_where_no_node_is_known(tmp_path: Path) -> None:
    assert hosts_of(tmp_path, "worker-1/train", "worker-1/sidecar") == ("worker-1",)


def test_a_known_node_wins(tmp_path: Path) -> None:
    assert hosts_of(tmp_path, "worker-1/train", host="ip-10-0-0-1") == ("ip-10-0-0-1",)


def test_of_two_pods_none_is_named(tmp_path: Path) -> None:
    assert hosts_of(tmp_path, "worker-1/train", "worker-2/train") == ()


def shown(pod: str, node: str, kind: str = "pod") -> Fact:
    return Fact(kind, {"name": pod}, Place(container=pod, host=node), Span("pods.txt"), "k")


def listed(pod: str, node: str) -> Fact:
    """A row of a listing in the log of a terminal."""
    return Fact("identity", {"pod": pod}, Place(host=node), Span("typescript"), "t")


@pytest.mark.parametrize(
    ("rows", "node"), [((("w-0", "n3"),), "n3"), ((("w-0", "n3"), ("w-0", "n4")), None), ((("w-1", "n3"),), None)]
)
def test_a_pod_is_at_the_node_of_its_row_in_a_listing(rows: tuple[tuple[str, str], ...], node: str | None) -> None:
    assert at_nodes(Place(container="w-0/main"), *(listed(*row) for row in rows)).host == node


def at_nodes(place: Place, *seen: Fact) -> Place:
    """The place of a source and of its fact, which are the same."""
    collection = Collection((Source("s", "s", "log", place=place),), (Fact("hit", {}, place, Span("s"), "s"), *seen))
    moved = on_their_nodes(collection)
    assert moved.sources[0].place == moved.facts[0].place
    return moved.facts[0].place


def test_what_the_launcher_of_an_mpijob_tells_of_a_worker_was_on_the_node_of_that() -> None:
    seen = shown("lm-worker-3", "n7"), shown("lm-launcher-x2k9p", "n1")
    assert at_nodes(Place(host="lm-worker-3", container="lm-launcher-x2k9p"), *seen).host == "n7"
    assert at_nodes(Place(host="lm-worker-3.lm", container="lm-launcher-x2k9p"), seen[0]).host == "n7"
    assert at_nodes(Place(host="lm-worker-4", container="lm-launcher-x2k9p"), *seen).host == "lm-worker-4"
    assert at_nodes(Place(host="lm-worker-3", container="bert-launcher-x2k9p"), *seen).host == "lm-worker-3"


def test_what_a_pod_tells_was_on_its_node() -> None:
    for seen in (shown("worker-1", "ip-10-0-0-1"), shown("worker-1", "ip-10-0-0-1", "k8s-event")):
        assert at_nodes(Place(container="worker-1/train"), seen).host == "ip-10-0-0-1"
        assert at_nodes(Place(container="worker-2/train"), seen).host is None


def test_the_name_of_a_pod_that_stands_for_a_host_gives_way_to_its_node() -> None:
    seen = shown("worker-1", "ip-10-0-0-1")
    assert at_nodes(Place(host="worker-1"), seen) == Place(host="ip-10-0-0-1", container="worker-1")
    both = Place(host="worker-1", container="worker-1/train")
    assert at_nodes(both, seen) == Place(host="ip-10-0-0-1", container="worker-1/train")
    elsewhere = Place(host="node7", container="worker-1/train")
    assert at_nodes(elsewhere, seen) == elsewhere


def test_what_the_dns_of_the_cluster_calls_a_pod_is_that_pod() -> None:
    seen = shown("bert-worker-1", "ip-10-0-0-1")
    for name in ("bert-worker-1.bert.train.svc.cluster.local", "bert-worker-1.all.train.svc", "bert-worker-1.bert"):
        assert at_nodes(Place(host=name), seen) == Place(host="ip-10-0-0-1", container="bert-worker-1")
        assert at_nodes(Place(host=name, container="bert-worker-1"), seen).host == "ip-10-0-0-1"
        assert at_nodes(Place(host=name, container="bert-worker-2"), seen).host == name
    for other in ("bert-worker-1.corp.example.com", "bert-worker-1.lab", "bert-worker-3.bert.train.svc.cluster.local"):
        assert at_nodes(Place(host=other), seen) == Place(host=other)


def test_a_pod_that_was_seen_on_two_nodes_stays_a_pod() -> None:
    two = shown("worker-1", "ip-10-0-0-1"), shown("worker-1", "ip-10-0-0-2", "k8s-event")
    assert at_nodes(Place(container="worker-1/train"), *two).host is None


def opening(node: str, *pids: int) -> list[Fact]:
    return [Fact("attach", {"slot": 0}, Place(host=node, pid=pid), Span("dmesg"), f"dmesg-{node}") for pid in pids]


def saying(pod: str, *pids: int) -> list[Fact]:
    return [Fact("hit", {}, Place(container=f"{pod}/train", pid=pid), Span("log"), pod) for pid in pids]


@pytest.mark.parametrize(
    ("facts", "node"),
    [
        ([*opening("node7", 71, 72, 73), *saying("worker-1", 71, 72, 73)], "node7"),
        ([*opening("node7", 71, 72, 73, 99), *saying("worker-1", 71, 72, 73, 4, 5)], "node7"),
        ([*opening("node7", 71, 72), *saying("worker-1", 71, 72, 73)], None),
        ([*opening("node7", 71, 72, 73), *saying("worker-1", 71, 72, 73, 4, 5, 6, 7)], None),
        ([*opening("node7", 71, 72, 73), *opening("node8", 71, 72, 73), *saying("worker-1", 71, 72, 73)], None),
        ([*opening("node7", 71, 72, 73), *saying("worker-1", 71, 72, 73), *saying("worker-2", 71, 72, 73)], None),
        ([*opening("node7", 1, 2, 3), *opening("node8", 4, 5, 6), *saying("worker-1", 1, 2, 3, 4, 5, 6)], None),
        ([*opening("node7", 1, 2, 3), *saying("worker-1", 1, 2, 3), shown("worker-1", "node9")], "node9"),
    ],
    ids=["all", "most", "too-few", "not-half", "two-nodes", "two-pods", "torn", "kubernetes-knows"],
)
def test_a_pod_is_where_the_kernel_saw_its_processes(facts: list[Fact], node: str | None) -> None:
    moved = on_their_nodes(Collection((), tuple(facts)))
    assert {fact.place.host for fact in moved.facts if fact.kind == "hit" and fact.source == "worker-1"} == {node}


def test_a_machine_that_was_asked_its_name_within_a_pod_is_the_node() -> None:
    """`Nodename:` of the runtime in a pod, and `hostname=` in what an agent read of it."""
    named = {"hostname": "worker-1", "instance_id": "i-1"}
    told = Fact("identity", named, Place(pid=7), Span("s"), "s")
    known = on_their_nodes(Collection((), (told, shown("worker-1", "ip-10-0-0-1"))))
    assert known.facts[0].data == {**named, "hostname": "ip-10-0-0-1"}
    unknown = on_their_nodes(Collection((), (told, shown("worker-2", "ip-10-0-0-1"))))
    assert unknown.facts[0].data == named


def called(pod: str, node: str, instance: str) -> Fact:
    """NEURON_HW_ERR in the kernel log of a node: the runtime says the name that its machine has for it."""
    place = Place(host=node, instance_id=instance)
    return Fact("identity", {"hostname": pod}, place, Span("kern.log"), "kern")


def test_a_pod_is_on_the_node_whose_kernel_has_a_record_of_the_runtime_in_it() -> None:
    told = called("w-0", "n3", "i-0a")
    assert at_nodes(Place(container="w-0/main"), told).host == "n3"
    assert at_nodes(Place(host="w-0", container="w-0/main"), told).host == "n3"
    assert at_nodes(Place(container="w-1/main"), told).host is None


def test_a_host_that_collects_the_records_of_others_is_no_node_of_their_pods() -> None:
    told = called("w-0", "log-1", "i-0a"), called("w-1", "log-1", "i-0b")
    assert at_nodes(Place(container="w-0/main"), *told).host is None
    assert at_nodes(Place(container="w-0/main"), called("w-0", "n3", "i-0a"), called("w-0", "n4", "i-0b")).host is None


def test_what_kubernetes_shows_wins() -> None:
    assert at_nodes(Place(container="w-0/main"), called("w-0", "n3", "i-0a"), shown("w-0", "n4")).host == "n4"
