"""Objects of lists that say of the whole list alone what kind its items are, as the API does (`kubectl get --raw`)."""

from __future__ import annotations

import pytest
from snapshot_inputs import by_kind, facts_of

PODS = """\
{"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "81"}, "items": [
 {"metadata": {"name": "ocr-2", "namespace": "lab"}, "spec": {"nodeName": "rack-5"}, "status": {"phase": "Failed",
  "containerStatuses": [{"name": "main", "restartCount": 0,
   "state": {"terminated": {"exitCode": 2, "reason": "Error", "finishedAt": "2026-02-03T09:00:01Z"}}}]}}]}
"""
NODES = """\
{"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": [
 {"metadata": {"name": "rack-5"}, "status": {"allocatable": {"aws.amazon.com/neuron": "16"},
  "conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kernelVersion": "6.1.0"}}}]}
"""


@pytest.mark.parametrize("kind", ["PodList", "List"])
def test_what_has_states_of_containers_is_a_pod(kind: str) -> None:
    found = by_kind(facts_of(PODS.replace("PodList", kind)))
    assert [fact.data["name"] for fact in found["pod"]] == ["ocr-2"]
    assert [fact.data["exitcode"] for fact in found["launcher-failure"]] == [2]


def test_what_has_a_kubelet_is_a_node() -> None:
    assert [fact.data["name"] for fact in by_kind(facts_of(NODES))["node"]] == ["rack-5"]


def test_what_only_has_a_name_and_a_phase_may_be_anything() -> None:
    text = PODS.replace("PodList", "List").replace("containerStatuses", "replicaStatuses")
    assert "pod" not in by_kind(facts_of(text))
    assert "node" not in by_kind(facts_of(NODES.replace("nodeInfo", "info")))


def test_an_object_is_of_the_kind_that_it_says() -> None:
    assert "pod" not in by_kind(
        facts_of(PODS.replace('{"metadata": {"name"', '{"kind": "Vessel", "metadata": {"name"'))
    )


def test_what_a_container_cannot_be_started_for_now_counts_and_not_how_an_earlier_one_ended() -> None:
    state = (
        '{"name": "main", "ready": false, "state": {"waiting": {"reason": "ImagePullBackOff"}}, "lastState": '
        '{"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-05-20T11:00:00Z"}}}'
    )
    pod = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w-1"}, "status": {"containerStatuses": [%s]}}'
    [found] = by_kind(facts_of(pod % state))["pod"]
    assert found.data["reason"] == "ImagePullBackOff"
