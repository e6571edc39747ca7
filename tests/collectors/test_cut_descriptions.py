"""What a filter left of `kubectl describe`, below its command."""

from __future__ import annotations

import pytest
from snapshot_inputs import by_kind, claimed_by, facts_of

STATE = """    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Mon, 05 Oct 2026 10:00:00 +0000
      Finished:     Mon, 05 Oct 2026 13:02:11 +0000
    Ready:          False
"""
TAIL = f"""{STATE}Conditions:
  Type              Status
  Ready             False
Events:
  Type     Reason     Age   From     Message
  ----     ------     ----  ----     -------
  Warning  BackOff    2m    kubelet  Back-off restarting failed container
"""
NODE = """  MemoryPressure   False   Mon, 05 Oct 2026 13:00:00 +0000   Mon, 05 Oct 2026 10:00:00 +0000   KubeletHasMemory   ok
  NeuronHealth     False   Mon, 05 Oct 2026 13:00:00 +0000   Mon, 05 Oct 2026 10:00:00 +0000   NeuronHasError   HBM uncorrectable
"""


@pytest.mark.parametrize(
    "command",
    [
        "kubectl describe pod llama-w-1 -n train | grep -A8 'Last State'",
        "kubectl -n train describe pod/llama-w-1 | tail -20",
        "k describe po llama-w-1 | sed -n '/State/,$p'",
    ],
)
@pytest.mark.parametrize("shown", [STATE, TAIL])
def test_how_a_container_ended_is_of_the_pod_that_was_asked_for(command: str, shown: str) -> None:
    facts = by_kind(facts_of(f"$ {command}\n{shown}", "shown.txt"))
    [pod], [ended] = facts["pod"], facts["launcher-failure"]
    assert (pod.data["name"], pod.data["reason"], pod.data["exit_code"]) == ("llama-w-1", "OOMKilled", 137)
    assert ended.place.container == "llama-w-1"
    assert [event.data["object"] for event in facts["k8s-event"]] == (["pod/llama-w-1"] if shown is TAIL else [])


def test_conditions_are_of_the_node_that_was_asked_for() -> None:
    found = by_kind(facts_of(f"$ kubectl describe node ip-10-0-1-3.ec2.internal | grep False\n{NODE}", "shown.txt"))
    assert {(fact.place.host, fact.data["type"]) for fact in found["node-condition"]} == {
        ("ip-10-0-1-3.ec2.internal", "MemoryPressure"),
        ("ip-10-0-1-3.ec2.internal", "NeuronHealth"),
    }


@pytest.mark.parametrize(
    "text",
    [
        STATE,  # whose it is stands nowhere
        f"$ kubectl describe pods | grep -A8 'Last State'\n{STATE}",
        "$ kubectl describe pod llama-w-1 | grep -c State\n2\n",
        f"$ kubectl describe pod llama-w-1 | tail -8\n{STATE}$ date\nMon Oct  5 13:05:00 UTC 2026\nstep 4410 loss 1.9\n",
    ],
)
def test_what_is_no_such_part_is_left_to_others(text: str) -> None:
    assert claimed_by(text.encode()) == []
