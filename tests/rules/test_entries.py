"""The catalogue against the fact sheet: each entry of its tables, in each wording, bare and as logs dress it, gives what the
entry says."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from entry_messages import Case, cases, entries, families, ids

from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.grades import Role, Status
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.examples import inputs_of
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine

pytestmark = pytest.mark.heavy

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
IDS = ids()
CASES = [case for family in families() for entry in entries(family) for case in cases(entry)]


def wrongs(case: Case) -> list[str]:
    """What is not as it is recorded, in words."""
    diagnosis = diagnose_once(RULEBOOK, collect_inputs(inputs_of(case.files), ENGINE))
    expected, status = case.expected, diagnosis.verdict.status
    if expected.cause:
        return _wrong_root(diagnosis, expected.cause, expected.rules)
    accepted = {Status.HEALTHY, Status.BENIGN}
    if expected.victim:
        accepted = {Status.VICTIMS_ONLY}
    elif expected.unknown:
        accepted = {Status.UNKNOWN_FAILURE}
    found = [] if status in accepted else [f"{status.value}: {_told(diagnosis)}"]
    if expected.risk and expected.risk not in {f.cause for f in diagnosis.findings if f.role is Role.CONTEXT}:
        found.append(f"no risk {expected.risk}: {_told(diagnosis)}")
    if expected.rules and not {f.rule for f in diagnosis.findings} & set(expected.rules):
        found.append(f"none of {expected.rules}: {_told(diagnosis)}")
    return found


def _wrong_root(diagnosis: Diagnosis, cause: str, rules: list[str]) -> list[str]:
    by_id = {finding.id: finding for finding in diagnosis.findings}
    roots = [by_id[root] for root in diagnosis.root_causes]
    if not roots or {root.cause for root in roots} != {cause}:
        return [f"no root {cause}, or others: {diagnosis.verdict.status.value}: {_told(diagnosis)}"]
    if rules and roots[0].rule not in rules:
        return [f"{roots[0].rule} told it, none of {rules}"]
    return []


def _told(diagnosis: Diagnosis) -> list[str]:
    return [f"{finding.rule} ({finding.cause}, {finding.role.value})" for finding in diagnosis.findings]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_message_gives_what_is_recorded(case: Case) -> None:
    assert wrongs(case) == []


def test_each_family_is_recorded() -> None:
    assert families() == sorted(IDS)


@pytest.mark.parametrize("family", families())
def test_each_entry_of_a_family_is_recorded_once(family: str) -> None:
    assert Counter(entry.id for entry in entries(family)) == Counter(IDS[family])


@pytest.mark.parametrize("family", families())
def test_an_entry_has_messages_or_an_excuse(family: str) -> None:
    assert [entry.id for entry in entries(family) if bool(entry.messages) == bool(entry.excused)] == []


@pytest.mark.parametrize("family", families())
def test_a_message_says_one_thing(family: str) -> None:
    for entry in entries(family):
        for case in cases(entry):
            said = case.expected
            says = (said.cause is not None, said.risk is not None, said.benign, said.victim, said.unknown)
            assert says.count(True) == 1, case.name


def test_the_rules_and_causes_that_are_named_exist() -> None:
    rules, causes = {rule.id for rule in RULEBOOK.rules}, {rule.cause.id for rule in RULEBOOK.rules}
    for case in CASES:
        assert rules.issuperset(case.expected.rules), case.name
        assert causes.issuperset({case.expected.cause, case.expected.risk} - {None}), case.name


def test_an_entry_that_can_be_shown_is_cited_by_a_rule() -> None:
    cited = {number for rule in RULEBOOK.rules for number in rule.entries}
    shown = {entry.id for family in families() for entry in entries(family) if not entry.excused}
    assert sorted(shown - cited) == []


def test_the_entries_that_rules_cite_exist() -> None:
    known = {number for family in IDS.values() for number in family}
    cited = {number for rule in RULEBOOK.rules for number in rule.entries if re.fullmatch(r"[A-N]\d\d[a-z]?", number)}
    assert cited - known == set()
