"""Conditions and events of nodes are of the device that their messages name."""

from __future__ import annotations

import json

import pytest
from snapshot_inputs import facts_of, one

HW_ERR = "NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322 hostname=w-7 nd-id=13 nc-id=5"


@pytest.mark.parametrize(
    ("reason", "message", "device", "core"),
    [
        ("NeuronSRAMUncorrectableError", HW_ERR, 13, 5),
        ("NeuronHasError_HBM_UNCORRECTABLE_ERROR", f"reason: {HW_ERR.removesuffix(' nc-id=5')}", 13, None),
        ("NeuronHBMUncorrectableError", "Neuron HBM uncorrectable error detected on device 3", 3, None),
        ("NeuronHBMUncorrectableError", "neuron device 3 reported an HBM uncorrectable error", 3, None),
        ("NeuronDMAError", "DMA error on /dev/neuron11", 11, None),
        ("NeuronDMAError", "DMA errors on nd3 and nd4", None, None),
        ("NeuronHealth", "16 neuron devices found", None, None),
        ("EFAErrorMetric", "retrans_bytes increased from 0 to 1288490188 for device: 3", None, None),
    ],
)
def test_the_condition_and_the_event_of_a_node_are_of_the_device_that_they_name(
    reason: str, message: str, device: int | None, core: int | None
) -> None:
    title = "LAST SEEN   TYPE      REASON     OBJECT     MESSAGE\n"
    event = one(facts_of(f"{title}9m12s       Warning   {reason}   node/n7   {message}\n"), "k8s-event")
    condition = {"type": "AcceleratedHardwareReady", "status": "False", "reason": reason, "message": message}
    node = {"kind": "Node", "metadata": {"name": "n7"}, "status": {"conditions": [condition]}}
    for fact in (event, one(facts_of(json.dumps(node)), "node-condition")):
        assert (fact.place.host, fact.place.device, fact.place.core) == ("n7", device, core)
