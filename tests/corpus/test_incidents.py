"""Every labelled incident gets the verdict that stands beside it (corpus/README.md has the format)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from builtin_rules import rulebook

from neuron_doctor.engine.grades import ActionKind, Severity, Status
from neuron_doctor.engine.verdict import Diagnosis
from neuron_doctor.exits import exit_status
from neuron_doctor.labels import labelled, mistakes, read_label
from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.request import Request

CORPUS = Path(__file__).parents[2] / "corpus"
INCIDENTS = [CORPUS / "demo", *sorted((CORPUS / "incidents").iterdir()), *labelled(CORPUS / "recorder")]
TAXONOMY = yaml.safe_load((CORPUS.parent / "rules" / "causes.yaml").read_text())


@cache
def diagnosed(incident: Path) -> Diagnosis:
    return diagnose_paths(Request((str(incident / "input"),)), rulebook())


def expected(incident: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((incident / "expect.yaml").read_text())
    return found


def shown(diagnosis: Diagnosis) -> str:
    lines = [f"{diagnosis.verdict.status.value}: {diagnosis.verdict.headline}"]
    for finding in diagnosis.findings[:10]:
        action = finding.actions[0].action.value if finding.actions else "-"
        lines.append(f"  {finding.role.value} {finding.rule} {finding.place.known()} {finding.hosts} {action}")
    return "\n".join(lines)


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_the_verdict_is_the_one_that_stands_beside_the_incident(incident: Path) -> None:
    found = diagnosed(incident)
    assert mistakes(read_label(incident), found) == [], shown(found)
    assert exit_status(found, fail_on=Severity.ERROR) == expected(incident)["exit_status"], shown(found)


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_a_label_uses_the_words_of_the_contract(incident: Path) -> None:
    label = expected(incident)
    causes = {cause for family in TAXONOMY.values() for cause in family}
    statuses = label["status"] if isinstance(label["status"], list) else [label["status"]]
    assert set(statuses) <= {status.value for status in Status}
    assert {cause for root in label["roots"] for cause in root["cause"]} | set(label.get("must_not", [])) <= causes
    assert {a for root in label["roots"] for a in root.get("actions", [])} <= {kind.value for kind in ActionKind}
    assert (incident / "input").is_dir()
