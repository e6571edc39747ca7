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
