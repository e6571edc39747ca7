"""`neuron-doctor rules lint`: what is wrong with rules."""

from __future__ import annotations

from neuron_doctor.commands.inputs import NoBuiltin, Rules
from neuron_doctor.commands.rule_inputs import finish, loaded


def lint(
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
) -> None:
    """Check the rules: schema, types, references, examples, costly patterns. Exit status 1 where something is wrong."""
    from neuron_doctor.rulelint import lint as lint_rulebook  # noqa: PLC0415

    finish(lint_rulebook(loaded(rules, builtin=not no_builtin_rules)), "problem", "in the rules")
