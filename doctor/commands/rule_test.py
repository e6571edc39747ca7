"""`neuron-doctor rules test`: the examples of rules."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import Isolated, NoBuiltin, NoPlugins, Rules, packs_from, stop_on_usage_errors
from neuron_doctor.commands.outputs import write
from neuron_doctor.commands.rule_inputs import finish, loaded, named

if TYPE_CHECKING:
    from neuron_doctor.rulestrength import Strength
    from neuron_doctor.ruletest import Outcome


def test(
    names: list[str] = typer.Argument(None, metavar="[RULE]...", help="The rules to test; all if none is named."),
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
    isolated: Isolated = False,
    no_plugins: NoPlugins = False,
    junit: Path | None = typer.Option(None, metavar="FILE", help="Write how each example came out, as JUnit XML."),
    coverage: bool = typer.Option(
        False, "--coverage", help="Say which parts of the conditions the examples do not exercise."
    ),
    mutate: bool = typer.Option(
        False,
        "--mutate",
        help="Change the rules in one small thing at a time, and say which changes no example notices.",
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Of coverage and mutants print the numbers alone."),
) -> None:
    """Run the examples of the rules, with the defaults of their parameters. Exit status 1 where one fails."""
    from neuron_doctor.examples import exhibits_of  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.packs import directories  # noqa: PLC0415
    from neuron_doctor.plugins import engine_for  # noqa: PLC0415
    from neuron_doctor.reports.wording import counted  # noqa: PLC0415
    from neuron_doctor.rulestrength import exercised, noticed  # noqa: PLC0415
    from neuron_doctor.ruletest import located, outcome  # noqa: PLC0415

    packs = packs_from(rules, builtin=not no_builtin_rules, isolated=isolated, plugins=not no_plugins)
    rulebook, folders = loaded(packs), directories(packs)
    chosen = [named(rulebook, name) for name in dict.fromkeys(names or ())] or rulebook.rules
    with stop_on_usage_errors():
        engine = engine_for(packs, rulebook)
    outcomes: list[Outcome] = []
    covered: list[Strength] = []
    mutated: list[Strength] = []
    for rule in chosen:
        exhibits = list(exhibits_of(rule, rulebook, engine))
        came_out = [outcome(exhibit, rule) for exhibit in exhibits]
        outcomes += came_out
        if coverage:
            covered.append(exercised(rule, exhibits, folders))
        if mutate:
            good = [exhibit for exhibit, one in zip(exhibits, came_out, strict=True) if not one.fault]
            mutated.append(noticed(rule, good, folders))
    if junit:
        _write_junit(outcomes, junit)
    _tell(covered, "coverage", "parts of the conditions are exercised", quiet=quiet)
    _tell(mutated, "mutants", "are noticed", quiet=quiet)
    finish([located(one, folders) for one in outcomes if one.fault], "failure", f"in {counted(len(chosen), 'rule')}")


def _tell(strengths: Sequence[Strength], what: str, said: str, *, quiet: bool) -> None:
    """Print what is lacking, a line each, and then how much of all that is."""
    lacks = [lack for strength in strengths for lack in strength.lacks]
    for lack in lacks if not quiet else ():
        print(lack)
    if strengths:
        of = sum(strength.of for strength in strengths)
        shown = f"{of - len(lacks):,} of {of:,} {said} ({1 - len(lacks) / of:.1%})" if of else "there are none"
        sys.stdout.flush()  # both may be one terminal, or one file
        print(f"{what}: {shown}", file=sys.stderr)


def _write_junit(outcomes: Sequence[Outcome], file: Path) -> None:
    from neuron_doctor.rulejunit import render_junit  # noqa: PLC0415

    write(file, render_junit(outcomes).encode())
