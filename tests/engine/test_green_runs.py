"""Which logs are of the steps of a run that a service calls good, and what its word for them undoes."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import NOWHERE, Collection, Fact, Span, Value
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.green_runs import logs_of_good_runs

LOG, DOCUMENT = "ci/logs/3_test.txt", "ci/run.json"


def said(kind: str, name: str, **data: Value) -> Fact:
    return Fact(kind, data, NOWHERE, Span(name, 2, 10, 1, 1, kind, f"{kind}{name}"), name)


def good(name: str = DOCUMENT) -> Fact:
    return said("completion", name, exited=True, run=True)


def roles(folder: Path, *facts: Fact) -> set[tuple[str, Role]]:
    rules = pack(
        folder,
        rule("broke", "record: broke", cause="broken-device", patterns=("broke",)),
        rule("raised", "record: raising", cause="bug", patterns=("raising",)),
    )
    sources = tuple(source(name) for name in sorted({fact.source for fact in facts}))
    return {(found.rule, found.role) for found in diagnose(rules, Collection(sources, facts)).findings}


def test_the_word_for_a_run_holds_for_the_logs_of_its_steps_but_for_hardware(tmp_path: Path) -> None:
    facts = hit("raising", source=LOG), hit("broke", source=LOG, offset=5), said("ci-log", LOG)
    assert roles(tmp_path, *facts) == {("raised", Role.ROOT), ("broke", Role.ROOT)}
    assert roles(tmp_path, *facts, good()) == {("raised", Role.SURVIVED), ("broke", Role.ROOT)}


def test_it_does_not_hold_where_a_worker_is_reported_to_have_failed(tmp_path: Path) -> None:
    failed = said("launcher-failure", LOG, launcher="batch", exitcode=1, signal=0, first=True, message="")
    found = roles(tmp_path, hit("raising", source=LOG, offset=5), said("ci-log", LOG), failed, good())
    assert ("raised", Role.ROOT) in found


@pytest.mark.parametrize(
    ("facts", "logs"),
    [
        ([said("ci-log", LOG), good()], {LOG}),
        ([said("ci-log", "logs.zip!3_test.txt"), good("logs.zip!run.json")], {"logs.zip!3_test.txt"}),
        ([said("ci-log", "other/train.log"), good()], set()),  # beside no document
        ([hit("raising", source=LOG), good()], set()),  # no runner wrote it
        ([said("ci-log", LOG), good(), good("ci/old/run.json")], set()),  # of which run?
        ([said("ci-log", LOG), said("completion", DOCUMENT, exited=True)], set()),  # of a job of some launcher
        ([said("ci-log", LOG)], set()),
    ],
)
def test_logs_of_a_run_stand_below_its_document(facts: list[Fact], logs: set[str]) -> None:
    assert logs_of_good_runs(facts) == logs
