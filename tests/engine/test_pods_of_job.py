"""Of the pods that events tell of, those of the job are known by logs, or by lists where no log is that of a pod."""

from __future__ import annotations

import pytest
from builders import hit, source

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.pods_of_job import with_pods_of_job

EVENTS = source("events", kind="kubectl")


def event(object_: str, **place: object) -> Fact:
    data = {"type": "Normal", "reason": "Evicted", "object": object_, "message": "", "repeats": 1, "resolved": False}
    return Fact("k8s-event", data, Place(**place), Span("events", 0, 10, 1, 1, object_), "events")  # type: ignore[arg-type]


def evicted(pod: str) -> Fact:
    return event(f"pod/{pod}", container=pod)


def listed(pod: str, namespace: str = "") -> Fact:
    data = {"namespace": namespace, "name": pod}
    return Fact("pod", data, Place(container=pod), Span("events", 50, 10, 1, 1, pod), "events")


def of_job(pod: str, *others: Fact, log: str = "rank_0.log") -> object:
    """What is known of a pod that an event tells of, beside this log."""
    found = list(with_pods_of_job((evicted(pod), *others), (source(log), EVENTS)))
    return found[0].data["of_job"]


@pytest.mark.parametrize("log", ["sft-worker-0.log", "sft-master-0/main.log", "logs.tar!sft-worker-0.txt"])
@pytest.mark.parametrize("others", [(), (listed("sft-worker-0"),)])
def test_pods_that_begin_like_one_with_a_log_are_of_the_job(log: str, others: tuple[Fact, ...]) -> None:
    assert of_job("sft-worker-1", *others, log=log) is True
    assert of_job("coredns-5d78c9869d-x", *others, log=log) is False


def test_a_log_whose_lines_say_their_pod_is_one_of_that_pod() -> None:
    line = hit("x", source="rank_0.log", container="sft-worker-0/trainer")
    assert of_job("sft-worker-1", line) is True
    assert of_job("eval-worker-1", line) is False


def test_where_no_log_is_that_of_a_pod_lists_tell() -> None:
    assert of_job("sft-worker-1") is False
    assert of_job("sft-worker-1", listed("sft-worker-1")) is True
    assert of_job("coredns-5d78c9869d-x", listed("coredns-5d78c9869d-x", "kube-system")) is False
    assert of_job("sft-worker-1", event("pytorchjob/sft")) is True
    assert of_job("sft-worker-1", event("pytorchjob/eval")) is False


def test_a_list_of_all_pods_does_not_make_those_of_others_ones_of_the_job() -> None:
    others = (listed("sft-worker-0"), listed("grafana-7c9"))
    assert of_job("grafana-7c9", *others, log="sft-worker-0.log") is False


def test_what_is_about_no_pod_stays_as_it_is() -> None:
    facts = (event("node/n1", host="n1"), hit("x"))
    assert tuple(with_pods_of_job(facts, (EVENTS,))) == facts
