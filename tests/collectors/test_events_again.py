"""Whether a pod that does not come up had run before, as events tell."""

from __future__ import annotations

import json

import pytest
from snapshot_inputs import by_kind, facts_of

from neuron_doctor.collectors import kube


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


def test_of_thousands_of_events_each_is_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    real = kube.ENDED.fullmatch

    class Counted:
        def fullmatch(self, text: str) -> object:
            nonlocal looked
            looked += 1
            return real(text)

    monkeypatch.setattr(kube, "ENDED", Counted())
    events = [event(n % 60, "Pod", f"t{n}", "FailedMount" if n % 2 else "Started") for n in range(1000)]
    facts_of("".join(events))
    assert looked <= 2 * len(events)


@pytest.mark.parametrize(("begun", "told"), [("12m", True), ("9m", False), ("10m", False), ("<unknown>", False)])
def test_ages_tell_it_too(begun: str, *, told: bool) -> None:
    rows = [
        f"{begun}   Normal   Started   pod/t5-worker-2   x",
        "10m   Warning   FailedMount   pod/t5-worker-2   timed out",
    ]
    text = "\n".join(["LAST SEEN   TYPE   REASON   OBJECT   MESSAGE", *rows])
    (failed,) = (f for f in by_kind(facts_of(text))["k8s-event"] if f.data["reason"] == "FailedMount")
    assert bool(failed.data.get("again")) is told
