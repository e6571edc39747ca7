"""`neuron-doctor rules test`: the examples of rules."""

from __future__ import annotations

import typer

from neuron_doctor.commands.inputs import NoBuiltin, Rules
from neuron_doctor.commands.rule_inputs import finish, loaded, named


def test(
    names: list[str] = typer.Argument(None, metavar="[RULE]...", help="The rules to test; all if none is named."),
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
) -> None:
    """Run the examples of the rules. Exit status 1 where one fails."""
    from neuron_doctor.reports.wording import counted  # noqa: PLC0415
    from neuron_doctor.ruletest import check_rule  # noqa: PLC0415
    from neuron_doctor.scan import Engine  # noqa: PLC0415

    rulebook = loaded(rules, builtin=not no_builtin_rules)
    chosen = [named(rulebook, name) for name in dict.fromkeys(names or ())] or rulebook.rules
    engine = Engine.of(rulebook)
    finish(
        [failure for rule in chosen for failure in check_rule(rule, rulebook, engine)],
        "failure",
        f"in {counted(len(chosen), 'rule')}",
    )
