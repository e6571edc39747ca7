"""Generated files that editors and scripts read are those of the code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_doctor.engine.manifest import manifest_schema
from neuron_doctor.engine.rulefile import rule_schema
from neuron_doctor.engine.sitefile import site_schema

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("of", "schema"), [("rule", rule_schema), ("pack", manifest_schema), ("site", site_schema)])
def test_the_schemas_beside_the_rules_are_up_to_date(of: str, schema: Callable[[], dict[str, object]]) -> None:
    """`make docs` writes them; the first line of each rule names its own for editors."""
    assert json.loads((ROOT / "rules" / f"{of}.schema.json").read_text()) == schema()


def test_every_rule_names_the_schema_for_editors() -> None:
    rules = [file for file in (ROOT / "rules").glob("*/*.yaml") if file.parent.name != "patterns"]
    assert rules
    for file in rules:
        assert file.read_text().startswith("# yaml-language-server: $schema=../rule.schema.json\n"), file.name
