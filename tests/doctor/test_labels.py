"""Labels of incidents: what they may say, and the differences that are told."""

from __future__ import annotations

from pathlib import Path

import pytest

import neuron_doctor
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.labels import LabelError, labelled, mistakes, read_label

DEMO = Path(neuron_doctor.__file__).parents[1] / "corpus" / "demo"


@pytest.fixture(scope="module")
def demo() -> Diagnosis:
    return neuron_doctor.diagnose([str(DEMO / "input")])


def told(folder: Path, text: str, diagnosis: Diagnosis) -> list[str]:
    (folder / "expect.yaml").write_text(text)
    return mistakes(read_label(folder), diagnosis)


def test_the_demo_is_as_labelled(demo: Diagnosis) -> None:
    assert labelled(DEMO) == [DEMO]
    assert mistakes(read_label(DEMO), demo) == []


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("status: healthy\nroots: [{cause: [hw-hbm-ue]}]", "the status is root-cause, not healthy"),
        ("roots: []", "hw-hbm-ue is a root cause too many"),
        ("roots: [{cause: [host-oom]}]", "no root cause is host-oom at {}"),
        ("roots: [{cause: [hw-hbm-ue], place: {device: 6}}]", "no root cause is hw-hbm-ue at {'device': 6}"),
        ("roots: [{cause: [hw-hbm-ue], actions: [wait]}]", "no root cause is hw-hbm-ue at {}"),
        ("expect_any_of: [host-oom]", "no root cause is host-oom"),
        ("expect_any_of: [healthy]", "no root cause is healthy"),
        ("expect_any_of: [hw-hbm-ue]\nmust_not: [hw-hbm-ue]", "hw-hbm-ue must not be a root cause"),
        (
            "roots: [{cause: [hw-hbm-ue]}]\nno_action_on: {replace-instance: [ip-10-0-3-7]}",
            "replace-instance is proposed for ip-10-0-3-7",
        ),
    ],
)
def test_each_difference_is_told(tmp_path: Path, demo: Diagnosis, text: str, mistake: str) -> None:
    assert mistake in told(tmp_path, text, demo)


def test_one_of_several_causes_will_do(tmp_path: Path, demo: Diagnosis) -> None:
    assert told(tmp_path, "expect_any_of: [host-oom, hw-hbm-ue]\nmust_not: [host-oom]", demo) == []


@pytest.mark.parametrize("text", ["", "- a", "status: healthy", "title: nothing said"])
def test_a_label_that_says_nothing_is_an_error(tmp_path: Path, demo: Diagnosis, text: str) -> None:
    with pytest.raises(LabelError, match="neither"):
        told(tmp_path, text, demo)
