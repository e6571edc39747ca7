"""Whose kubelet tells an event of a pod: the pod runs there."""

from __future__ import annotations

import pytest
from snapshot_inputs import by_kind, facts_of

EVENTS = """\
apiVersion: v1
items:
- apiVersion: v1
  involvedObject: {kind: Pod, name: t5-worker-2}
  lastTimestamp: "2026-02-03T09:00:01Z"
  message: 'Readiness probe failed: dial tcp 10.0.0.9:22: connect: connection refused'
  reason: Unhealthy
  SOURCE
  type: Warning
kind: List
"""


@pytest.mark.parametrize(
    ("source", "node"),
    [
        ("source: {component: kubelet, host: rack-5.lab}", "rack-5.lab"),
        ("reportingComponent: kubelet\n  reportingInstance: rack-5.lab", "rack-5.lab"),
        ("source: {component: default-scheduler, host: rack-6.lab}", None),
        ("reportingComponent: default-scheduler\n  reportingInstance: scheduler-rack-6", None),
        ("count: 3", None),
    ],
)
def test_a_pod_is_on_the_node_whose_kubelet_tells_of_it(source: str, node: str | None) -> None:
    (event,) = by_kind(facts_of(EVENTS.replace("SOURCE", source)))["k8s-event"]
    assert (event.place.host, event.place.container) == (node, "t5-worker-2")


def test_a_pod_that_is_stopped_leaves_its_node() -> None:
    text = EVENTS.replace("SOURCE", "source: {component: kubelet, host: rack-5.lab}").replace("Unhealthy", "Killing")
    assert by_kind(facts_of(text))["k8s-event"][0].place.host is None
