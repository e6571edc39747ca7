"""The catalogue against the fact sheet: each entry of its tables, in each wording, bare and as logs dress it, gives what the
entry says."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from entry_messages import Case, cases, entries, families, ids
from entry_verdicts import wrongs_of

from neuron_doctor.packs import load_with_examples
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine

pytestmark = pytest.mark.heavy

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
IDS = ids()
CASES = [case for family in families() for entry in entries(family) for case in cases(entry)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_message_gives_what_is_recorded(case: Case) -> None:
    assert wrongs_of(case.files, case.expected, RULEBOOK, ENGINE) == []


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
