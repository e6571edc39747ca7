"""Descriptions of kubectl: what their events are about."""

from __future__ import annotations

import pytest
from snapshot_inputs import facts_of, one

GROUP = """\
Name:         dpo
Namespace:    ml
API Version:  scheduling.volcano.sh/v1beta1
Kind:         {kind}
Spec:
  Min Resources:
    {asks}:  16
Events:
  Type     Reason         Age  From     Message
  ----     ------         ---  ----     -------
  Normal   Unschedulable  93s  volcano  queue resource quota insufficient
"""


@pytest.mark.parametrize(
    ("kind", "asks", "neuron"),
    [
        ("PodGroup", "aws.amazon.com/neuron", True),
        ("Job", "aws.amazon.com/neuroncore", True),
        ("PodGroup", "cpu", None),
    ],
)
def test_the_event_of_a_description_tells_whether_its_object_asks_for_devices(
    kind: str, asks: str, *, neuron: bool | None
) -> None:
    assert one(facts_of(GROUP.format(kind=kind, asks=asks)), "k8s-event").data.get("neuron") is neuron


CONDITIONS = """\
Name:               {name}
Conditions:
  Type                Status  LastHeartbeatTime                 LastTransitionTime                Reason            Message
  ----                ------  -----------------                 ------------------                ------            -------
  NeuronHealth        {status}    Mon, 21 Sep 2026 03:19:02 +0000   Mon, 21 Sep 2026 03:17:52 +0000   {reason}   {message}
"""


def test_a_node_that_is_cut_down_to_its_conditions_is_one_and_what_its_agent_quotes_is_no_error_of_a_log() -> None:
    sick = CONDITIONS.format(
        name="n1", status="True", reason="NeuronHasError_DMA_ERROR", message="NEURON_HW_ERR=DMA_ERROR"
    )
    well = CONDITIONS.format(name="n2", status="False", reason="NeuronHasNoError", message="Neuron has no error")
    facts = facts_of(f"{sick}\n{well}")
    assert [(f.place.host, f.data["healthy"]) for f in facts if f.kind == "node-condition"] == [
        ("n1", False),
        ("n2", True),
    ]
    assert all(fact.kind != "hw-err" for fact in facts)


def test_the_conditions_of_a_pod_have_no_heartbeat() -> None:
    pod = "Name:  p\nNamespace:  ml\nNode:  n1/10.0.0.1\nConditions:\n  Type    Status\n  Ready   False\n"
    assert all(fact.kind != "node-condition" for fact in facts_of(pod))
