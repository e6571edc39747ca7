"""An incident is the same bytes for the same scenario, and keeps its truth apart from its files."""

import json
from pathlib import Path

import pytest

from neuron_doctor.corpus.simulator.__main__ import main
from neuron_doctor.corpus.simulator.incident import simulate
from neuron_doctor.corpus.simulator.scenario import draw
from neuron_doctor.corpus.simulator.truth import Knowable


@pytest.mark.parametrize("seed", range(6))
def test_the_same_scenario_writes_the_same_bytes(seed: int) -> None:
    scenario = draw(seed, ranks=4)
    assert simulate(scenario).files == simulate(scenario).files


@pytest.mark.parametrize("fault", ["hw-hbm-ue", "host-oom", "application-exception", "node-lost", "compile-failed"])
def test_what_is_reported_by_a_line_is_stated_when_nothing_is_lost(fault: str) -> None:
    truth = simulate(draw(1, fault=fault, ranks=8)).truth
    assert truth.knowable == {0: Knowable.STATED}
    assert not truth.healthy


def test_a_healthy_job_has_no_faults_and_no_marks() -> None:
    incident = simulate(draw(1, fault="healthy", ranks=8))
    assert incident.truth.healthy
    assert not any(file.marks for file in incident.files)


def test_the_truth_lies_beside_the_input_and_not_in_it(tmp_path: Path) -> None:
    main(["--seed", "1", "--out", str(tmp_path), "--fault", "hw-hbm-ue", "--ranks", "4"])
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["faults"][0]["cause"] == "hw-hbm-ue"
    assert {path.name for path in tmp_path.iterdir()} == {"input", "truth.json"}
    assert not list((tmp_path / "input").rglob("truth.json"))
