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


def test_a_site_file_counts_for_the_api_too(tmp_path: Path) -> None:
    site = tmp_path / "site.yaml"
    site.write_text("name: west\nsilences: [{causes: [hw-hbm-ue], until: '2099-01-31', reason: OPS-12}]\n")
    diagnosis = neuron_doctor.diagnose([DEMO], site=str(site), isolated=True, plugins=False)
    hidden = [finding.rule for finding in diagnosis.findings if finding.silenced]
    assert "hw-hbm-ue" in hidden
    assert "OPS-12" in diagnosis.verdict.headline


def test_a_missing_path_is_an_error_of_its_own() -> None:
    with pytest.raises(MissingPath):
        neuron_doctor.diagnose(["/nowhere/at/all"])
