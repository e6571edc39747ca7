"""The catalogue as a whole: every rule's examples, what every rule must have, and what the catalogue must cover."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor.collectors.nrt import SYMBOLS
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.engine.verdict import Finding
from neuron_doctor.examples import inputs_of
from neuron_doctor.lint.run import lint
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.ruletest import check_rule
from neuron_doctor.scan import Engine

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
#: Codes that are no failure by themselves: success, nothing to read, still under way.
HARMLESS_CODES = {0, 15, 1100}
SEED_CAUSES = {
    "driver-install-failed", "driver-missing", "driver-incompatible", "driver-not-reloaded", "core-in-use",
    "neff-version-mismatch", "unsupported-opcode", "device-oom", "insufficient-cores", "nrt-numerical-error",
    "python-env-mismatch", "device-stale-state", "device-open-failed", "nrt-oob-access", "hw-sram-ue", "hw-hbm-ue",
    "hw-dma-abort", "collectives-hang", "exec-timeout", "collectives-lib-missing", "efa-installer-missing",
    "efa-not-enabled", "comm-timeout", "comm-peer-lost", "benign-efa-dereg", "bootstrap-interface-ipv6",
    "name-resolution-failed", "gpsimd-exception", "efa-fork-safe-unset",
}  # fmt: skip


def findings(text: str) -> tuple[Finding, ...]:
    return diagnose(RULEBOOK, collect_inputs(inputs_of({"run.log": text}), ENGINE)).findings


@pytest.mark.parametrize("rule", RULEBOOK.rules, ids=lambda rule: rule.id)
def test_the_examples_of_a_rule_come_out_as_it_says(rule: Rule) -> None:
    assert [str(failure) for failure in check_rule(rule, RULEBOOK, ENGINE)] == []


@pytest.mark.parametrize("rule", RULEBOOK.rules, ids=lambda rule: rule.id)
def test_a_rule_has_a_positive_and_a_near_miss(rule: Rule) -> None:
    assert rule.examples is not None
    assert rule.examples.positive
    assert rule.examples.negative


@pytest.mark.parametrize("rule", RULEBOOK.rules, ids=lambda rule: rule.id)
def test_weak_sources_alone_make_no_sure_rule(rule: Rule) -> None:
    """Notes by others, field reports and inference are no documents, no source code and no log."""
    if rule.role == "root" and set(rule.trust) <= {"RE", "F", "INF"}:
        assert rule.status == "experimental"


@pytest.mark.parametrize("name", ["hw-sram-ue", "hw-hbm-ue", "hw-hbm-ue-repairable", "hw-dma-abort"])
def test_a_rule_says_where_platforms_disagree_on_what_is_done_to_the_node(name: str) -> None:
    [explanation] = [rule.explanation for rule in RULEBOOK.rules if rule.id == name]
    assert "HyperPod" in explanation


def test_the_lint_finds_nothing() -> None:
    assert [str(problem) for problem in lint(RULEBOOK)] == []


def test_every_cause_of_the_seed_has_a_rule() -> None:
    assert {rule.cause.id for rule in RULEBOOK.rules} >= SEED_CAUSES


FORMS = (
    "2026-May-01 12:00:31.067150 4242:4243 ERROR  NMGR:dlr_infer    Inference completed with err: {code}. mode->h_nn=1001, lnc=0",
    "2026-May-01 12:00:31.067150 4242:4243 ERROR  NMGR:dlr_exec_wait   Execution completed with err: {code}. mode->h_nn=1008",
    "2026-May-01 12:00:31.067150 4242:4242 ERROR   NRT:nrt_infodump    Failure: {symbol} in nrt_execute()",
    "NrtError: {symbol}({code})",
    "RuntimeError: Failed to execute the model status={code} message=Some Words",
)


@pytest.mark.parametrize("code", sorted(SYMBOLS.keys() - HARMLESS_CODES))
@pytest.mark.parametrize("form", FORMS)
def test_every_status_code_is_known_in_every_form(code: int, form: str) -> None:
    assert findings(form.format(code=code, symbol=SYMBOLS[code]) + "\n")


@pytest.mark.parametrize("code", sorted(HARMLESS_CODES))
def test_codes_that_are_no_failure_are_none(code: int) -> None:
    assert not [f for f in findings(f"nrt status code {code}\n") if f.role.value in ("root", "cascade")]


def test_every_file_of_the_catalogue_is_a_rule_or_a_table_of_patterns() -> None:
    folder = Path(__file__).parents[2] / "rules"
    files = {file for file in folder.glob("*/*.yaml") if file.parent.name != "patterns"}
    assert len(files) == len(RULEBOOK.rules)
