"""Whether a pod that does not come up had run before, as events tell."""

from __future__ import annotations

import json

import pytest
from snapshot_inputs import by_kind, facts_of


def event(minute: int, kind: str, name: str, reason: str, message: str = "") -> str:
    about = {"kind": kind, "name": name}
    told = {"reason": reason, "message": message, "type": "Normal", "lastTimestamp": f"2026-02-03T09:{minute:02}:00Z"}
    return json.dumps({"kind": "Event", "apiVersion": "v1", "involvedObject": about, **told}) + "\n"


def again(*before: str) -> bool:
    text = "".join(before) + event(30, "Pod", "t5-worker-2", "FailedMount", "MountVolume.SetUp failed: timed out")
    return any(f.data.get("again") for f in by_kind(facts_of(text))["k8s-event"] if f.data["reason"] == "FailedMount")


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (event(5, "Pod", "t5-worker-2", "Started"), True),
        (event(5, "PyTorchJob", "t5", "ExitedWithCode", "Pod: ml.t5-worker-2 exited with code 137"), True),
        (event(5, "PyTorchJob", "t5", "ExitedWithCode", "Pod: ml.t5-worker-2 exited with code 0"), False),
        (event(5, "PyTorchJob", "t5", "ExitedWithCode", "Pod: ml.t5-worker-1 exited with code 1"), False),
        (event(5, "Pod", "t5-worker-1", "Started"), False),
        (event(5, "Pod", "t5-worker-2", "Scheduled"), False),
        (event(31, "PyTorchJob", "t5", "ExitedWithCode", "Pod: ml.t5-worker-2 exited with code 1"), False),
    ],
)
def test_what_had_started_or_failed_before_is_started_anew(before: str, *, told: bool) -> None:
    assert again(before) is told
