"""`rules list` and `rules show`, as a user types them."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from neuron_doctor.cli import app
from neuron_doctor.packs import load
from neuron_doctor.request import Packs

RULES = {rule.id: rule for rule in load(Packs()).rules}


def listed(*args: str) -> dict[str, list[str]]:
    done = CliRunner().invoke(app, ["rules", "list", *args])
    assert done.exit_code == (0 if done.stdout else 1)
    return {line.split("\t")[0]: line.split("\t") for line in done.stdout.splitlines()}


def test_all_rules_are_listed_in_the_order_of_their_names() -> None:
    assert list(listed()) == sorted(RULES)


@pytest.mark.parametrize(("option", "value", "column"), [("--cause", "hw-hbm-ue", 1), ("--status", "experimental", 3)])
def test_a_list_has_what_was_asked_for_and_all_of_it(option: str, value: str, column: int) -> None:
    found = listed(option, value)
    assert found
    assert {row[column] for row in found.values()} == {value}
    assert found.keys() == {name for name, row in listed().items() if row[column] == value}


def test_a_family_is_that_of_the_cause() -> None:
    assert set(listed("--family", "network")) == {
        name for name, rule in RULES.items() if rule.cause.family == "network"
    }


def test_where_nothing_fits_the_exit_status_is_1() -> None:
    assert listed("--cause", "hw-hbm-ue", "--status", "deprecated") == {}


def test_a_family_that_does_not_exist_is_wrong_usage() -> None:
    done = CliRunner().invoke(app, ["rules", "list", "--family", "hardwar"])
    assert done.exit_code == 2
    assert "there are collectives" in done.stderr


def test_a_rule_is_shown_as_its_page_has_it() -> None:
    done = CliRunner().invoke(app, ["rules", "show", "hw-hbm-ue"])
    assert done.exit_code == 0
    assert done.stdout.startswith("# hw-hbm-ue\n\n**Uncorrectable HBM error**\n")
    assert "## What it looks like" in done.stdout
