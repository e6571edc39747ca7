"""The Python API: the same objects as the JSON, typed."""

from __future__ import annotations

from pathlib import Path

import pytest

import neuron_doctor
from neuron_doctor.collectors.walk import MissingPath

DEMO = str(Path(__file__).parents[2] / "corpus" / "demo" / "input")


def test_a_diagnosis_has_typed_roots_and_the_object_of_the_contract() -> None:
    diagnosis = neuron_doctor.diagnose([DEMO], labels={DEMO: "demo"})
    report = neuron_doctor.report(diagnosis, exit_status=1)
    assert report["root_causes"] == list(diagnosis.root_causes)
    [root] = [finding for finding in diagnosis.findings if finding.id in diagnosis.root_causes]
    assert (root.cause, root.place.host, root.place.device) == ("hw-hbm-ue", "ip-10-0-3-7", 5)
    assert root.evidence[0].path.startswith("demo/")


def test_a_missing_path_is_an_error_of_its_own() -> None:
    with pytest.raises(MissingPath):
        neuron_doctor.diagnose(["/nowhere/at/all"])
