"""How often the verdict is right: what is counted, how it is shown, and what must hold for what the simulator makes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_doctor.corpus.simulator.incident import simulate, write
from neuron_doctor.corpus.simulator.loss import CELLS
from neuron_doctor.corpus.simulator.scenario import CAUSES, HEALTHY
from neuron_doctor.engine.grades import Severity
from neuron_doctor.evaluation import PAIR, Cell, Outcome, Reliability, by, evaluate, reliability, scenario_of, tally
from neuron_doctor.evaluation_report import evaluation_object, evaluation_text, told
from neuron_doctor.judging import Judgement
from neuron_doctor.packs import load
from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.request import Packs, Request

RULEBOOK = load(Packs(isolated=True))
RIGHT = Judgement(top=True, exact=True, blamed=False, drained=False, silent=False, sure=((0.95, True),), said="a")
UNJUST = Judgement(
    top=False, exact=False, blamed=True, drained=True, silent=False, sure=((0.97, False), (0.4, True)), said="b"
)
SILENT = Judgement(top=True, exact=False, blamed=False, drained=False, silent=True, sure=(), said="healthy")
OUTCOMES = [
    Outcome(Cell("hw-hbm-ue", "full", 1), ("hw-hbm-ue",), RIGHT),
    Outcome(Cell("hw-hbm-ue", "skewed", 1), ("hw-hbm-ue",), SILENT),
    Outcome(Cell(PAIR, "full", 2), ("host-oom", "hw-hbm-ue"), UNJUST),
]


def run(*args: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_doctor", "evaluate", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd="/")


def test_each_count_is_over_all_incidents() -> None:
    total = tally(OUTCOMES)
    assert (total.incidents, total.top, total.exact, total.blamed, total.drained, total.silent) == (3, 2, 1, 1, 1, 1)


def test_an_incident_of_two_faults_counts_for_both() -> None:
    counted = {name: row.incidents for name, row in by(OUTCOMES, lambda outcome: outcome.faults).items()}
    assert counted == {"host-oom": 1, "hw-hbm-ue": 3}


def test_the_reliability_is_the_share_of_right_roots_in_each_bin_and_empty_bins_are_left_out() -> None:
    assert reliability(OUTCOMES) == [
        Reliability(0.3, 0.5, 1, 1, 0.4),
        Reliability(0.95, 1.0, 2, 1, pytest.approx(0.96)),
    ]


def test_the_tables_show_shares_and_what_is_not_as_labelled() -> None:
    text = evaluation_text(OUTCOMES, [("a-case", []), ("b-case", ["the status is healthy, not root-cause"])])
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "| simulated | 3 | 66.7 % | 33.3 % | 33.3 % | 1 | 1 |" in rows
    assert "| (pair) | 1 | 0.0 % | 0.0 % | 0.0 % | 1 | 1 |" in rows
    assert "| skewed | 1 | 100.0 % | 0.0 % | 100.0 % | 0 | 0 |" in rows
    assert "| 0.95 to 1.00 | 0.96 | 2 | 50.0 % |" in rows
    assert text.endswith("Labelled incidents: 1 of 2 as labelled.\n- b-case: the status is healthy, not root-cause\n\n")


def test_the_object_lists_what_was_not_exact() -> None:
    listed = evaluation_object(OUTCOMES, [])["not_exact"]
    assert isinstance(listed, list)
    assert [(one["fault"], one["loss"], one["said"]) for one in listed] == [
        ("hw-hbm-ue", "skewed", "healthy"),
        (PAIR, "full", "b"),
    ]


def test_one_line_says_how_bad_it_was() -> None:
    assert told(OUTCOMES[0]) == "hw-hbm-ue full seed 1: exact: a"
    assert told(OUTCOMES[1]) == "hw-hbm-ue skewed seed 1: top-1: healthy"
    assert told(OUTCOMES[2]) == "host-oom+hw-hbm-ue full seed 2: WRONG BLAMED DRAINED: b"


def test_the_command_simulates_diagnoses_and_counts() -> None:
    done = run("--fault", "hw-hbm-ue", "--loss", "full", "--first-seed", "310000", "--verbose")
    assert done.returncode == 0
    assert done.stderr.startswith("hw-hbm-ue full seed 310000: exact: hw-hbm-ue@")
    assert "| simulated |         1 | 100.0 % |   100.0 % |   0.0 % |               0 |           0 |" in done.stdout


def test_labelled_incidents_are_counted_and_one_that_is_not_as_labelled_is_named(tmp_path: Path) -> None:
    incident = tmp_path / "quiet"
    (incident / "input").mkdir(parents=True)
    (incident / "input" / "train.log").write_text("step 1 loss=2.5\nstep 2 loss=2.4\n")
    label = "title: t\nstory: s\nstatus: {}\nroots: []\nmust_not: []\nexit_status: 0\n"
    (incident / "expect.yaml").write_text(label.format("healthy"))
    right = run("--seeds", "0", "--cases", tmp_path)
    assert (right.returncode, right.stdout) == (0, "Labelled incidents: 1 of 1 as labelled.\n\n")
    (incident / "expect.yaml").write_text(label.format("victims-only"))
    wrong = run("--seeds", "0", "--cases", tmp_path, "--format", "json")
    assert json.loads(wrong.stdout)["labelled"] == {"quiet": ["the status is healthy, not victims-only"]}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--fault", "no-such"), "no-such: not simulated; there are "),
        (("--loss", "no-such"), "no-such: not simulated; there are "),
        (("--format", "yaml"), "'yaml' is not a format; there are text, json"),
    ],
)
def test_what_is_not_simulated_or_no_format_is_wrong_usage(args: tuple[str, str], said: str) -> None:
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


@pytest.mark.heavy
def test_nobody_innocent_is_blamed_or_drained_whatever_failed_and_whatever_is_missing() -> None:
    faults = (*CAUSES, PAIR, HEALTHY)
    cells = [Cell(fault, CELLS[number % len(CELLS)].cell, 320000) for number, fault in enumerate(faults)]
    outcomes = list(evaluate(RULEBOOK, cells))
    assert [told(one) for one in outcomes if one.judgement.blamed or one.judgement.drained] == []
    assert len({one.judgement.said for one in outcomes}) > len(faults) // 2, "most of them are named"


#: Incidents that were once misread, each with what told them in the end.
ONCE_MISREAD = {
    "ranks a stage of the pipeline after the straggler": Cell("straggler", "full", 341001),
    "a pod on the node whose kernel saw its processes": Cell("hw-pcie-error", "full", 341003),
    "sends and receives that do not add up": Cell("p2p-mismatch", "full", 341002),
    "groups of the same program": Cell("p2p-mismatch", "full", 341007),
    "the same beside a collective that seems to stall": Cell("p2p-mismatch", "full", 346001),
    "a short round before the last one": Cell("p2p-missing", "full", 340000),
    "an order that only one rank changed": Cell("p2p-order", "full", 344001),
    "an order that another rank of the same program kept": Cell("p2p-order", "full", 345002),
    "an open transfer that only one end started": Cell("collectives-device-stuck", "full", 341002),
    "a monitor that began before the job": Cell("hang-outside-collectives", "full", 341009),
    "a controller that goes on for long": Cell("hang-outside-collectives", "full", 342000),
    "one that did not heed that it was to end": Cell("collectives-rank-missing", "full", 366001),
    "the one core of which no kernel says that it hangs": Cell("collectives-rank-missing", "full", 365003),
    "a rank that only received from the one that it was to send to": Cell("p2p-mismatch", "full", 369002),
    "two for whom others wait a hundredth of what they wait for a third": Cell("straggler", "full", 377001),
    "a host of which half of the logs are missing": Cell("exec-timeout", "logs-50", 369100),
    "one that outlived three who gave up": Cell("collectives-rank-missing", "full", 366004),
    "one that only lost those who had long given up": Cell("collectives-device-stuck", "full", 366009),
    "a log that ends in the middle of a line": Cell("collectives-barrier-timeout", "cut-tails", 342000),
    "a log that only one rank lacks": Cell("collectives-size-mismatch", "no-recorder+logs-10", 343001),
}


@pytest.mark.heavy
@pytest.mark.parametrize("cell", ONCE_MISREAD.values(), ids=ONCE_MISREAD)
def test_what_was_once_misread_is_not_misread_again(cell: Cell) -> None:
    [outcome] = evaluate(RULEBOOK, [cell])
    assert told(outcome) == f"{cell.fault} {cell.loss} seed {cell.seed}: exact: {outcome.judgement.said}"


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(200000, 200012))
def test_a_healthy_job_has_no_error(seed: int, tmp_path: Path) -> None:
    write(simulate(scenario_of(Cell(HEALTHY, "full", seed))), tmp_path)
    diagnosis = diagnose_paths(Request((str(tmp_path / "input"),), packs=Packs(isolated=True)), RULEBOOK)
    assert [one.rule for one in diagnosis.findings if one.severity.rank >= Severity.ERROR.rank] == []
