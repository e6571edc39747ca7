"""`neuron-doctor rules test`: the examples of rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import NoBuiltin, Rules, stop_on_usage_errors
from neuron_doctor.commands.rule_inputs import finish, loaded, named

if TYPE_CHECKING:
    from neuron_doctor.ruletest import Outcome


def test(
    names: list[str] = typer.Argument(None, metavar="[RULE]...", help="The rules to test; all if none is named."),
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
    junit: Path | None = typer.Option(None, metavar="FILE", help="Write how each example came out, as JUnit XML."),
) -> None:
    """Run the examples of the rules. Exit status 1 where one fails."""
    from neuron_doctor.examples import exhibits_of  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.reports.wording import counted  # noqa: PLC0415
    from neuron_doctor.ruletest import outcome  # noqa: PLC0415
    from neuron_doctor.scan import Engine  # noqa: PLC0415

    rulebook = loaded(rules, builtin=not no_builtin_rules)
    chosen = [named(rulebook, name) for name in dict.fromkeys(names or ())] or rulebook.rules
    engine = Engine.of(rulebook)
    outcomes = [outcome(exhibit, rule, rulebook) for rule in chosen for exhibit in exhibits_of(rule, rulebook, engine)]
    if junit:
        _write_junit(outcomes, junit)
    finish([one for one in outcomes if one.fault], "failure", f"in {counted(len(chosen), 'rule')}")


def _write_junit(outcomes: Sequence[Outcome], file: Path) -> None:
    from neuron_doctor.request import UsageError  # noqa: PLC0415
    from neuron_doctor.rulejunit import render_junit  # noqa: PLC0415

    with stop_on_usage_errors():
        try:
            file.write_text(render_junit(outcomes), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from error
