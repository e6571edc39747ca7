"""`neuron-doctor rules ...`: what a rule author needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import (
    Assumed,
    Label,
    NoBuiltin,
    Paths,
    Rules,
    packs_from,
    request_from,
    stop_on_usage_errors,
)
from neuron_doctor.commands.terminal import columns, in_colour
from neuron_doctor.exits import Exit

if TYPE_CHECKING:
    from neuron_doctor.engine.rulebook import Rule, Rulebook

app = typer.Typer(help="Check, test and document rules.", rich_markup_mode=None, no_args_is_help=True)


def _loaded(rules: list[Path], *, builtin: bool) -> Rulebook:
    from neuron_doctor.packs import load_with_examples  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    with stop_on_usage_errors():
        return load_with_examples(packs_from(rules, builtin=builtin))


@app.command()
def lint(
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
) -> None:
    """Check the rules: schema, types, references, examples, costly patterns. Exit status 1 where something is wrong."""
    from neuron_doctor.rulelint import lint as lint_rulebook  # noqa: PLC0415

    _finish(lint_rulebook(_loaded(rules, builtin=not no_builtin_rules)), "problem", "in the rules")


@app.command()
def test(
    names: list[str] = typer.Argument(None, metavar="[RULE]...", help="The rules to test; all if none is named."),
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
) -> None:
    """Run the examples of the rules. Exit status 1 where one fails."""
    from neuron_doctor.reports.wording import counted  # noqa: PLC0415
    from neuron_doctor.ruletest import check_rule  # noqa: PLC0415
    from neuron_doctor.scan import Engine  # noqa: PLC0415

    rulebook = _loaded(rules, builtin=not no_builtin_rules)
    chosen = [_named(rulebook, name) for name in dict.fromkeys(names or ())] or rulebook.rules
    engine = Engine.of(rulebook)
    _finish(
        [failure for rule in chosen for failure in check_rule(rule, rulebook, engine)],
        "failure",
        f"in {counted(len(chosen), 'rule')}",
    )


def _named(rulebook: Rulebook, name: str) -> Rule:
    from difflib import get_close_matches  # noqa: PLC0415

    rules = {rule.id: rule for rule in rulebook.rules}
    if name not in rules:
        near = get_close_matches(name, rules, 1)
        raise typer.BadParameter(f"there is no rule {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return rules[name]


@app.command("why")
def why_command(
    rule: str = typer.Argument(metavar="RULE", help="The id of the rule."),
    paths: Paths = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
    label: Label = [],  # noqa: B006
    assume_timezone: Assumed = "",
    verbose: bool = typer.Option(False, "--verbose", "-v", help="All places and all records."),
) -> None:
    """Say why a rule fires on what was collected, or what came closest. Exit status 0 if it fires, 1 if it does not."""
    from neuron_doctor.pipeline import rulebook_for  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.reports.text_why import render_why  # noqa: PLC0415
    from neuron_doctor.rulewhy import why_of  # noqa: PLC0415

    with stop_on_usage_errors():
        request = request_from(paths, rules, label, assume_timezone, builtin=not no_builtin_rules)
        rulebook = rulebook_for(request)
        told = why_of(request, rulebook, _named(rulebook, rule), sys.stdin.buffer)
    sys.stdout.write(render_why(told, width=columns(), colour=in_colour(), verbose=verbose))
    raise typer.Exit(Exit.NOTHING if any(look.reason.held for look in told.looks) else Exit.FOUND)


def _finish(problems: Iterable[object], noun: str, where: str) -> None:
    from neuron_doctor.reports.wording import counted  # noqa: PLC0415

    found = list(problems)
    for problem in found:
        print(problem)
    print(counted(len(found), noun), where, file=sys.stderr)
    raise typer.Exit(Exit.FOUND if found else Exit.NOTHING)


@app.command()
def schema() -> None:
    """Print the JSON schema of rule files, for editors."""
    from neuron_doctor.engine.rulefile import rule_schema  # noqa: PLC0415

    print(json.dumps(rule_schema(), indent=2))


@app.command()
def docs(
    directory: Path = typer.Argument(Path("docs"), help="Where to write the pages."),
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
) -> None:
    """Write the generated pages: one for each rule, their indexes, and the kinds of fact."""
    from neuron_doctor.ruledocs import write_pages  # noqa: PLC0415

    write_pages(_loaded(rules, builtin=not no_builtin_rules), directory)
