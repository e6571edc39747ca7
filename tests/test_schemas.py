"""Generated files that editors and scripts read are those of the code."""

from __future__ import annotations

import json
from pathlib import Path

from neuron_doctor.engine.rulefile import rule_schema

ROOT = Path(__file__).parents[1]


def test_the_schema_beside_the_rules_is_up_to_date() -> None:
    """`make docs` writes it; the first line of each rule names it for editors."""
    assert json.loads((ROOT / "rules" / "rule.schema.json").read_text()) == rule_schema()


def test_every_rule_names_the_schema_for_editors() -> None:
    rules = [file for file in (ROOT / "rules").glob("*/*.yaml") if file.parent.name != "patterns"]
    assert rules
    for file in rules:
        assert file.read_text().startswith("# yaml-language-server: $schema=../rule.schema.json\n"), file.name
