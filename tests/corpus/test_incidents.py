"""Every labelled incident gets the verdict that stands beside it (corpus/README.md has the format)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.verdict import ActionKind, Diagnosis, Finding, Severity, Status
from neuron_doctor.exits import exit_status
from neuron_doctor.pipeline import diagnose_paths, rulebook_for
from neuron_doctor.request import Request

CORPUS = Path(__file__).parents[2] / "corpus"
INCIDENTS = [CORPUS / "demo", *sorted((CORPUS / "incidents").iterdir())]
TAXONOMY = yaml.safe_load((CORPUS.parent / "rules" / "causes.yaml").read_text())


@cache
def rulebook() -> Rulebook:
    return rulebook_for(Request(()))


@cache
def diagnosed(incident: Path) -> Diagnosis:
    return diagnose_paths(Request((str(incident / "input"),)), rulebook())


def expected(incident: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((incident / "expect.yaml").read_text())
    return found


def roots(diagnosis: Diagnosis) -> list[Finding]:
    return [finding for finding in diagnosis.findings if finding.id in diagnosis.root_causes]


def fits(root: Finding, label: dict[str, Any]) -> bool:
    if root.cause not in label["cause"]:
        return False
    place = {**root.place.known(), "ranks": list(root.place.ranks), "hosts": list(root.hosts)}
    place.setdefault("host", root.hosts[0] if len(root.hosts) == 1 else None)
    if any(place.get(name) != value for name, value in label.get("place", {}).items()):
        return False
    wanted = label.get("actions")
    return not wanted or (bool(root.actions) and root.actions[0].action in wanted)


def _first_action(finding: Finding) -> str:
    return finding.actions[0].action.value if finding.actions else "-"


def shown(diagnosis: Diagnosis) -> str:
    lines = [f"{diagnosis.verdict.status.value}: {diagnosis.verdict.headline}"]
    for finding in diagnosis.findings[:10]:
        action = finding.actions[0].action.value if finding.actions else "-"
        lines.append(f"  {finding.role.value} {finding.rule} {finding.place.known()} {finding.hosts} {action}")
    return "\n".join(lines)


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_the_verdict_is_the_one_that_stands_beside_the_incident(incident: Path) -> None:
    label, diagnosis = expected(incident), diagnosed(incident)
    found = roots(diagnosis)
    statuses = label["status"] if isinstance(label["status"], list) else [label["status"]]
    assert diagnosis.verdict.status.value in statuses, shown(diagnosis)
    assert not {root.cause for root in found} & set(label.get("must_not", [])), shown(diagnosis)
    unmatched = list(found)
    for wanted in label["roots"]:
        match = next((root for root in unmatched if fits(root, wanted)), None)
        assert match is not None, f"no root fits {wanted}\n{shown(diagnosis)}"
        unmatched.remove(match)
    assert not unmatched, f"more roots than there are: {[r.rule for r in unmatched]}\n{shown(diagnosis)}"
    for action, hosts in label.get("no_action_on", {}).items():
        aimed = {host for root in found for a in root.actions if a.action == action for host in root.hosts}
        assert not aimed & set(hosts), shown(diagnosis)
    assert exit_status(diagnosis, fail_on=Severity.ERROR) == label["exit_status"], shown(diagnosis)


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_a_label_uses_the_words_of_the_contract(incident: Path) -> None:
    label = expected(incident)
    causes = {cause for family in TAXONOMY.values() for cause in family}
    statuses = label["status"] if isinstance(label["status"], list) else [label["status"]]
    assert set(statuses) <= {status.value for status in Status}
    assert {cause for root in label["roots"] for cause in root["cause"]} | set(label.get("must_not", [])) <= causes
    assert {a for root in label["roots"] for a in root.get("actions", [])} <= {kind.value for kind in ActionKind}
    assert (incident / "input").is_dir()
