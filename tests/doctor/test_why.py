"""`rules why`: the proof of one rule, or what came closest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.engine.why import why as looked_at
from neuron_doctor.examples import inputs_of
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine

pytestmark = pytest.mark.heavy

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
DEMO = Path(__file__).parents[2] / "corpus" / "demo" / "input"


def why(*args: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_doctor", "rules", "why", *map(str, args)]
    done = subprocess.run(command, input=stdin, capture_output=True, env={}, timeout=120, check=False, cwd="/")
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_rule_that_fires_shows_its_lines_and_what_became_of_it() -> None:
    done = why("hw-hbm-ue", DEMO)
    assert done.returncode == 0
    assert done.stdout.startswith("hw-hbm-ue: Uncorrectable HBM error\nIt holds at 1 of 1 place")
    assert "  in the report: hw-hbm-ue-" in done.stdout
    assert "    yes record status where code == 1201\n" in done.stdout
    assert "dmesg.txt:127\n" in done.stdout
    assert done.stderr == ""


def test_a_rule_that_does_not_fire_shows_the_nearest_record_and_exits_with_1() -> None:
    done = why("hw-sram-ue", DEMO)
    assert done.returncode == 1
    assert "closest: code is 1201" in done.stdout
    assert 'closest: name is "HBM_UNCORRECTABLE_ERROR"' in done.stdout


@pytest.mark.parametrize("rule", ["hw-hbm-ue", "hw-sram-ue", "compile-cache-lock-wait", "collectives-rank-silent"])
def test_only_places_of_evidence_are_wider_than_a_terminal(rule: str) -> None:
    wide = [line for line in why(rule, DEMO).stdout.splitlines() if len(line) > 80]
    assert [line for line in wide if " " in line.strip()] == []


def test_verbose_leaves_nothing_out() -> None:
    assert "more record" in why("hw-hbm-ue", DEMO).stdout
    assert "more record" not in why("hw-hbm-ue", DEMO, "--verbose").stdout


def test_standard_input_is_read_once() -> None:
    line = (
        b"[ND 3] Uncorrectable HBM memory error is detected. Execution results may be invalid. Please terminate this\n"
    )
    assert why("hw-hbm-ue", "-", stdin=line).returncode == 0
    missed = why("hw-sram-ue", "-", stdin=line)
    assert (missed.returncode, missed.stderr) == (1, "")


def test_an_unknown_rule_is_wrong_usage_and_the_nearest_name_is_told() -> None:
    done = why("hw-hmb-ue", DEMO)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "did you mean 'hw-hbm-ue'?" in done.stderr


def test_a_rule_whose_finding_another_one_replaced_says_which(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    for name, more in (("general", ""), ("special", "supersedes: [general]\n")):
        (rules / f"{name}.yaml").write_text(
            f"id: {name}\ntitle: {name}\ncause: disk-full\nseverity: error\ntrust: [F]\n{more}"
            f"patterns:\n  {name}-text:\n    regex: 'the acme disk is full'\nwhen: {name}-text\n"
            "explanation: It is full.\nreferences: [https://wiki.example]\n"
        )
    log = tmp_path / "rank_0.log"
    log.write_text("2026-05-01 12:00:00 the acme disk is full\n")
    done = why("general", log, "--rules", rules, "--no-builtin-rules")
    assert done.returncode == 0
    assert "Not in the report: superseded by special." in done.stdout


@pytest.mark.parametrize("rule", RULEBOOK.rules, ids=lambda rule: rule.id)
def test_every_rule_holds_where_its_examples_say_so(rule: Rule) -> None:
    assert rule.examples is not None
    for example in rule.examples.positive:
        collection = collect_inputs(inputs_of(example.files or {"run.log": example.text or ""}), ENGINE)
        told = looked_at(RULEBOOK, rule, collection, {})
        assert told.looks[0].reason.held, example.name
        assert told.findings, example.name
