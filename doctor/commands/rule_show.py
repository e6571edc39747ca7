"""`neuron-doctor rules show`: one rule, as its page has it."""

from __future__ import annotations

import sys

import typer

from neuron_doctor.commands.inputs import Isolated, NoBuiltin, Rules, SiteFile, packs_from
from neuron_doctor.commands.rule_inputs import loaded, named, tell_gone


def show(
    rule: str = typer.Argument(metavar="RULE", help="The id of the rule."),
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
    site: SiteFile = None,
    isolated: Isolated = False,
) -> None:
    """Print the page of a rule: what it means, what to do, what it explains, what it looks for, and its examples."""
    from neuron_doctor.ruledocs import page_of  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    rulebook = loaded(packs_from(rules, builtin=not no_builtin_rules, isolated=isolated, sited=True, site=site))
    tell_gone(rulebook)
    sys.stdout.write(page_of(named(rulebook, rule), rulebook))
