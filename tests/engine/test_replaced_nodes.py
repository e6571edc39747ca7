"""A device that broke is told until its node is gone and the job came to a good end on another one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from neuron_doctor import diagnose

BROKEN = (
    "2026-Oct-31 10:33:07.401000   346:426   ERROR  TDRV:exec_request_process_errors             "
    "(FATAL-RT-UNDEFINED-STATE) [ND 13][NC 0] Uncorrectable memory error is detected, metadata: 0x2. Please terminate or "
    "stop/start this instance to prevent future impact from the hardware error.\n"
)


def node(name: str) -> dict[str, object]:
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": "2026-10-28T07:00:11Z"}
    status = {"conditions": [ready], "allocatable": {"aws.amazon.com/neuroncore": "32"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {}}, "spec": {}, "status": status}


def roots(
    folder: Path,
    lists: Sequence[Sequence[str]],
    *,
    succeeded: bool = True,
    then: str = "hyperpod-i-0d77ee",
    on_new: bool = False,
) -> list[str]:
    for number, names in enumerate(lists):
        items = {"apiVersion": "v1", "kind": "List", "items": [node(f"hyperpod-i-{name}") for name in names]}
        (folder / f"nodes-{number}.json").write_text(json.dumps(items, indent=2))
    reason = "Succeeded" if succeeded else "Failed"
    (folder / "job.yaml").write_text(
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n  name: gptx\n  namespace: research\nstatus:\n"
        f'  conditions:\n  - lastTransitionTime: "2026-10-31T12:14:02Z"\n    reason: PyTorchJob{reason}\n'
        f'    status: "True"\n    type: {reason}\n'
    )
    first, last = "worker 2 on hyperpod-i-0c33cc ranks 64-95 fresh start\n", f"worker 2 on {then} ranks 64-95 restart\n"
    before, after = ("", BROKEN) if on_new else (BROKEN, "")
    (folder / "gptx-worker-2.previous.log").write_text(f"{first}step 10 loss 3.0\n{before}")
    (folder / "gptx-worker-2.log").write_text(
        f"{last}step 500 loss 2.7\n{after}step 2000 loss 2.1\ntraining complete\n"
    )
    return [finding.cause for finding in diagnose([str(folder)]).findings if finding.role.value == "root"]


OLD, NEW = ("0c11aa", "0c33cc"), ("0c11aa", "0d77ee")


def test_a_node_that_is_gone_from_the_list_which_has_its_successor_is_nothing_to_act_on(tmp_path: Path) -> None:
    assert roots(tmp_path, [OLD, NEW]) == []


@pytest.mark.parametrize(
    "lists",
    [
        [OLD],
        [NEW],  # never listed: it may be called otherwise there
        [OLD, (*OLD, "0d77ee")],  # still there, and may be scheduled
        [OLD, NEW, (*OLD, "0d77ee")],
        [OLD, ("0d77ee",)],  # of another cluster, or of what somebody asked for
        [OLD, ("0c11aa",)],
    ],
)
def test_one_that_may_still_be_there_is_told(tmp_path: Path, lists: Sequence[Sequence[str]]) -> None:
    assert roots(tmp_path, lists) == ["hw-sram-ue"]


def test_so_is_one_whose_job_failed_or_ran_on_it_again(tmp_path: Path) -> None:
    assert roots(tmp_path, [OLD, NEW], succeeded=False) == ["hw-sram-ue"]
    assert roots(tmp_path, [OLD, NEW], then="hyperpod-i-0c33cc") == ["hw-sram-ue"]


@pytest.mark.parametrize("lists", [[OLD, NEW], [NEW, OLD], [NEW], [OLD]])
def test_so_is_the_node_that_came_in_its_stead_when_it_breaks_itself(
    tmp_path: Path, lists: Sequence[Sequence[str]]
) -> None:
    assert roots(tmp_path, lists, on_new=True) == ["hw-sram-ue"]


# --- instances that had the name of a node --------------------------------------------------------------------------

HAD, HAS = "i-0592464924bd45322", "i-0d181be55c0e7a913"
TICKET = (
    f"2026-10-11 c7-02: kernel: NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id={HAD} hostname=c7-02 nd-id=3 nc-id=1 "
    "serial-num=19fcda00f5ff6eb9 action=TERMINATE_INSTANCE\n"
)
HEIR = f"2026-10-11 terminated, replaced by {HAS}, ticket closed\n"
ACCOUNTING = (
    "JobID           JobName      State ExitCode    Elapsed        NodeList\n"
    "30551            llm-7b {state:>10} {code:>8}   02:44:51     c7-[01-02]\n"
)


def of_ticket(folder: Path, heir: str = HEIR, now: str = HAS, state: str = "COMPLETED", code: str = "0:0") -> list[str]:
    (folder / "c7-02").mkdir()
    (folder / "c7-01").mkdir()
    (folder / "c7-02" / "history.txt").write_text(TICKET + heir)
    (folder / "c7-02" / "ec2-metadata.txt").write_text(f"instance-type: trn1.32xlarge\ninstance-id: {now}\n")
    (folder / "c7-01" / "out.log").write_text("14:07:29 step 4999 loss 1.7973\n14:07:38 step 5000 loss 1.7953\n")
    (folder / "sacct.txt").write_text(ACCOUNTING.format(state=state, code=code))
    return [finding.cause for finding in diagnose([str(folder)]).findings if finding.role.value == "root"]


@pytest.mark.parametrize(
    "heir", [HEIR, f"Replacing instance {HAD} with {HAS}\n", f"replaced with new instance {HAS}\n"]
)
def test_the_error_of_an_instance_that_was_replaced_is_nothing_to_act_on_after_a_good_end(
    tmp_path: Path, heir: str
) -> None:
    assert of_ticket(tmp_path, heir) == []


@pytest.mark.parametrize(
    ("heir", "now", "state", "code"),
    [
        ("2026-10-11 ticket closed\n", HAS, "COMPLETED", "0:0"),  # nobody says which was first
        (HEIR, HAD, "COMPLETED", "0:0"),  # it is still the one that broke
        ("replaced by i-0aaaaaaaaaaaaaaaa\n", HAS, "COMPLETED", "0:0"),
        (HEIR, HAS, "FAILED", "1:0"),  # it may have been replaced after that
    ],
)
def test_it_is_told_where_that_is_not_sure(tmp_path: Path, heir: str, now: str, state: str, code: str) -> None:
    assert "hw-sram-ue" in of_ticket(tmp_path, heir, now, state, code)
