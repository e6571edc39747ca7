"""What the commands for rule authors share: the rules of their packs, one of them by name, and how a check ends."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import stop_on_usage_errors
from neuron_doctor.exits import Exit

if TYPE_CHECKING:
    from neuron_doctor.engine.rulebook import Rule, Rulebook
    from neuron_doctor.request import Packs


def loaded(packs: Packs) -> Rulebook:
    """The rules with their examples. What is wrong with them ends the program."""
    from neuron_doctor.packs import load_with_examples  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    with stop_on_usage_errors():
        return load_with_examples(packs)


def named(rulebook: Rulebook, name: str) -> Rule:
    """The rule of this id. Raises typer.BadParameter with the nearest one."""
    from difflib import get_close_matches  # noqa: PLC0415

    rules = {rule.id: rule for rule in rulebook.rules}
    if name not in rules:
        near = get_close_matches(name, rules, 1)
        raise typer.BadParameter(f"there is no rule {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return rules[name]


def tell_gone(rulebook: Rulebook) -> None:
    """Say in one line on standard error what is left out of the site file, for no pack has what it is about."""
    if rulebook.site and rulebook.site.gone:
        from neuron_doctor.reports.site import gone_words  # noqa: PLC0415

        told = "; ".join(map(gone_words, rulebook.site.gone))
        print(f"neuron-doctor: left out of the site file {rulebook.site.name}: {told}", file=sys.stderr)


def finish(problems: Iterable[object], noun: str, where: str) -> None:
    """Print what a check found, a line each, and exit with 1 if that is anything."""
    from neuron_doctor.reports.wording import counted  # noqa: PLC0415

    found = list(problems)
    for problem in found:
        print(problem)
    print(counted(len(found), noun), where, file=sys.stderr)
    raise typer.Exit(Exit.FOUND if found else Exit.NOTHING)
