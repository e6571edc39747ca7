"""Workloads of Kueue are the jobs that they were made for, and what happened to them may be over."""

from __future__ import annotations

import json

import pytest
from snapshot_inputs import by_kind, facts_of


def preempted(text: str) -> list[object]:
    return [f.data["resolved"] for f in by_kind(facts_of(text))["k8s-event"] if f.data["reason"] == "Preempted"]


@pytest.mark.parametrize(
    ("name", "job"),
    [
        ("pytorchjob-sft-qwen-5c1a2", "sft-qwen"),
        ("job-a-0b1c2", "a"),
        ("train", "train"),
        ("sft-qwen-rest-of-it", "sft-qwen-rest-of-it"),
        ("jobset-sft-qwen-5c1a2", "sft-qwen"),
        ("leaderworkerset-vllm-0-5c1a2", "vllm-0"),
        ("qwen-sft-second-5c1a2", "qwen-sft-second-5c1a2"),
    ],
)
def test_a_workload_of_kueue_is_the_job_that_it_was_made_for(name: str, job: str) -> None:
    event = {
        "kind": "Event",
        "apiVersion": "v1",
        "reason": "Preempted",
        "type": "Normal",
        "message": "Preempted to make room",
    }
    event["involvedObject"] = {"kind": "Workload", "name": name}  # type: ignore[assignment]
    (fact,) = by_kind(facts_of(json.dumps(event)))["k8s-event"]
    assert fact.place.container == job


def test_what_was_preempted_and_has_its_turn_again_is_no_longer_so() -> None:
    gone = "Normal  Preempted  130m  kueue-admission  Preempted to accommodate a workload"
    for age, over in (("54m", True), ("180m", False)):
        back = f"Normal  QuotaReserved  {age}  kueue-admission  Quota reserved in ClusterQueue cq"
        assert preempted(f"Events:\n  {gone}\n  {back}\n") == [over]
