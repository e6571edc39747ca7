"""Incidents that say which places their failing ranks share get exactly these told (`shared` in corpus/README.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builtin_rules import rulebook

from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.request import Request

CORPUS = Path(__file__).parents[2] / "corpus" / "incidents"
LABELS = {path.parent: yaml.safe_load(path.read_text("utf-8")) for path in sorted(CORPUS.glob("*/expect.yaml"))}


@pytest.mark.parametrize("incident", [path for path in LABELS if "shared" in LABELS[path]], ids=lambda path: path.name)
def test_the_places_that_failing_ranks_share_are_those_of_the_label(incident: Path) -> None:
    wanted: list[dict[str, Any]] = LABELS[incident]["shared"]
    diagnosis = diagnose_paths(Request((str(incident / "input"),)), rulebook())
    found = [finding for finding in diagnosis.findings if finding.cause == "shared-place"]
    places = [{**finding.place.known(), "ranks": list(finding.place.ranks)} for finding in found]
    assert len(places) == len(wanted), [finding.title for finding in found]
    for place, label in zip(places, wanted, strict=True):
        assert {name: place.get(name) for name in label} == label
    assert all(set(finding.sums_up) <= {f.id for f in diagnosis.findings} and finding.sums_up for finding in found)
