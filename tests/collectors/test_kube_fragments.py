"""How containers ended, in parts that were cut out of a pod: with jq, jsonpath, grep or a template."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builtin_rules import rulebook
from snapshot_inputs import by_kind, claimed_by, facts_of, read

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

ENDED = {
    "containerID": "containerd://6e1b0f",
    "exitCode": 137,
    "finishedAt": "2026-05-26T10:41:02Z",
    "reason": "OOMKilled",
    "startedAt": "2026-05-26T09:12:44Z",
}
STATUS = {
    "containerID": "containerd://77aa",
    "image": "train:2.29",
    "imageID": "train@sha256:0",
    "lastState": {"terminated": ENDED},
    "name": "train",
    "ready": False,
    "restartCount": 1,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
}
YAML = """    lastState:
      terminated:
        containerID: containerd://6e1b0f
        exitCode: 137
        finishedAt: "2026-05-26T10:41:02Z"
        reason: OOMKilled
        startedAt: "2026-05-26T09:12:44Z"
    name: train
"""
GREPPED = """        exitCode: 137
        finishedAt: "2026-05-26T10:41:02Z"
        reason: OOMKilled
"""
ASKED = "$ kubectl -n ml get pod sft-w-3 -o"


@pytest.mark.parametrize(
    "text",
    [
        f"{ASKED} jsonpath='{{.status.containerStatuses[0].lastState.terminated}}'\n{json.dumps(ENDED)}\n",
        f"{ASKED} json | jq '.status.containerStatuses[0].lastState'\n{json.dumps({'terminated': ENDED}, indent=2)}\n",
        f"{ASKED} json | jq '.status.containerStatuses'\n{json.dumps([STATUS], indent=2)}\n",
        f"{ASKED} json | jq -c '.status.containerStatuses[]'\n{json.dumps(STATUS)}\n",
        f"{ASKED} json | jq .status\n{json.dumps({'containerStatuses': [STATUS], 'phase': 'Running'}, indent=2)}\n",
        f"{ASKED}=json | jq .status\n{json.dumps({'containerStatuses': [STATUS], 'phase': 'Running'}, indent=2)}\n",
        f"{ASKED} yaml | grep -A8 lastState\n{YAML}",
        f"{ASKED} yaml | grep -E 'exitCode|reason|finishedAt'\n{GREPPED}",
        "$ kubectl get pods -n ml -l job=sft -o json | jq -c '.items[] | {name: .metadata.name, state: .status...}'\n"
        + json.dumps({"name": "sft-w-3", "namespace": "ml", "state": {"terminated": ENDED}})
        + "\n",
        json.dumps({"pod": "sft-w-3", "namespace": "ml", "node": "ip-10-0-3-7", "lastState": {"terminated": ENDED}})
        + "\n",
    ],
)
def test_who_was_killed_for_memory_and_when(text: str) -> None:
    facts = by_kind(facts_of(text, "shown.txt"))
    [pod], [ended] = facts["pod"], facts["launcher-failure"]
    assert (pod.data["name"], pod.data["namespace"], pod.data["reason"]) == ("sft-w-3", "ml", "OOMKilled")
    assert (pod.data["exit_code"], ended.data["signal"], ended.place.container) == (137, 9, "sft-w-3")
    assert ended.instant is not None


def test_without_its_command_it_is_read_of_an_unknown_pod() -> None:
    facts = by_kind(facts_of(json.dumps({"terminated": ENDED}, indent=2), "state.json"))
    assert [pod.data["name"] for pod in facts["pod"]] == [""]
    assert [ended.place.container for ended in facts["launcher-failure"]] == [None]


ROWS = """$ kubectl get pods -o jsonpath='{range .items[*]}{.metadata.name}{.status...terminated.reason}{.exitCode}{"\\n"}{end}'
sft-w-0\tCompleted\t0
sft-w-1\tError\t1\tip-10-0-3-5.ec2.internal
sft-w-2\tOOMKilled\t137\tip-10-0-3-6.ec2.internal
"""


def test_rows_of_a_template() -> None:
    facts = by_kind(facts_of(ROWS, "shown.txt"))
    found = [(fact.place.container, fact.data["exitcode"], fact.place.host) for fact in facts["launcher-failure"]]
    assert found == [("sft-w-1", 1, "ip-10-0-3-5.ec2.internal"), ("sft-w-2", 137, "ip-10-0-3-6.ec2.internal")]
    assert [pod.data["reason"] for pod in facts["pod"]] == ["", "Error", "OOMKilled"]


def test_a_good_end_is_no_failure() -> None:
    good = {**ENDED, "exitCode": 0, "reason": "Completed"}
    for text in (json.dumps({"terminated": good}), f"{ASKED} json | jq .x\n{json.dumps(good)}\n"):
        assert "launcher-failure" not in by_kind(facts_of(text, "state.json"))


def test_a_cut_fragment_says_what_stands_before_the_cut() -> None:
    whole = f"{json.dumps({'pod': 'sft-w-3', 'state': {'terminated': ENDED}})}\n"
    facts, inp = read(whole + whole.replace("sft-w-3", "sft-w-4")[:-60] + "\n", "shown.txt")
    assert [fact.place.container for fact in facts if fact.kind == "launcher-failure"] == ["sft-w-3"]
    assert inp.problems


@pytest.mark.parametrize(
    "text",
    [
        '{"exitCode": 1, "reason": "Essential container in task exited", "lastStatus": "STOPPED"}\n',
        '{"level": "info", "msg": "container terminated", "exitCode": 137, "reason": "Error"}\n',
        "exitCode: 137\n",
        "sft-w-2 OOMKilled 137\n",
        f"{ASKED} yaml | grep exitCode\n        exitCode: 137\n",
        '{"nodes": {"x": {"finishedAt": "a", "startedAt": "b", "outputs": {"exitCode": "1"}, "displayName": "x"}}}\n',
    ],
)
def test_words_of_others_are_left_to_others(text: str) -> None:
    assert claimed_by(text.encode()) == []


def _shown(tmp_path: Path, text: str, log: str = "") -> list[str]:
    (tmp_path / "shown.txt").write_text(text)
    if log:
        (tmp_path / "sft-w-1.log").write_text(log)
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    return [one.cause for one in found.findings if one.id in found.root_causes]


def test_among_other_commands_and_in_colours(tmp_path: Path) -> None:
    coloured = json.dumps({"terminated": ENDED}, indent=2).replace('"exitCode"', '\x1b[34;1m"exitCode"\x1b[0m')
    text = (
        f"$ date\nTue May 26 11:00:00 UTC 2026\n{ASKED} json | jq '.status'\n{coloured}\n$ uptime\n 11:00 up 3 days\n"
    )
    assert _shown(tmp_path, text) == ["host-oom"]


STEPS = "2026-05-26 08:00:01,100 INFO step=100 loss=2.31\n2026-05-26 11:00:01,100 INFO step=200 loss=2.21\n"


@pytest.mark.parametrize(("day", "causes"), [("2026-04-26", []), ("2026-05-26", ["host-oom"])])
@pytest.mark.parametrize("whole", [True, False])
def test_a_restart_before_the_run_is_over(tmp_path: Path, day: str, causes: list[str], whole: bool) -> None:
    ended = {**ENDED, "finishedAt": f"{day}T10:41:02Z"}
    status = {**STATUS, "lastState": {"terminated": ended}, "ready": True, "state": {"running": {}}}
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "sft-w-3"},
        "status": {"containerStatuses": [status]},
    }
    text = json.dumps(pod) if whole else f"{ASKED} json | jq .status.containerStatuses[0]\n{json.dumps(status)}\n"
    assert _shown(tmp_path, text, STEPS) == causes


NAMED = {"name": "train", "lastState": {"terminated": ENDED}}


@pytest.mark.parametrize(
    "text",
    [
        f"{ASKED} json | jq '.status.containerStatuses[] | {{name, lastState}}'\n{json.dumps(NAMED, indent=2)}\n",
        f"{ASKED} json | jq '[.status.containerStatuses[] | {{name, lastState}}]'\n{json.dumps([NAMED])}\n",
        "$ kubectl get pods -n ml -o json | jq -c '.items[] | {name: .metadata.name, all: [.status...[] | {name, lastState}]}'\n"
        + json.dumps({"name": "sft-w-3", "namespace": "ml", "all": [NAMED]})
        + "\n",
    ],
)
def test_the_name_of_a_container_is_not_that_of_its_pod(text: str) -> None:
    assert {pod.data["name"] for pod in by_kind(facts_of(text, "shown.txt"))["pod"]} == {"sft-w-3"}


def test_containers_of_pods_that_are_not_named_are_left_to_others() -> None:
    command = "$ kubectl get pods -o json | jq -c '.items[].status.containerStatuses[] | {name, lastState}'\n"
    assert claimed_by((command + f"{json.dumps(NAMED)}\n" * 2).encode()) == []


def test_of_several_commands_each_is_read_by_itself(tmp_path: Path) -> None:
    one = f"{ASKED} json | jq '.status.containerStatuses[0].lastState'\n{json.dumps({'terminated': ENDED})}\n"
    (tmp_path / "shown.txt").write_text(one + one.replace("sft-w-3", "sft-w-4"))
    facts = collect(Request((str(tmp_path),)), rulebook()).facts
    assert {fact.data["name"] for fact in facts if fact.kind == "pod"} == {"sft-w-3", "sft-w-4"}
