"""`neuron-doctor rules ...`: what a rule author needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import NoBuiltin, Rules, packs_from, stop_on_usage_errors
from neuron_doctor.exits import Exit

if TYPE_CHECKING:
    from neuron_doctor.engine.rulebook import Rulebook

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
    unknown = set(names or ()) - {rule.id for rule in rulebook.rules}
    if unknown:
        raise typer.BadParameter(f"there is no rule {', '.join(sorted(unknown))}")
    engine = Engine.of(rulebook)
    chosen = [rule for rule in rulebook.rules if not names or rule.id in names]
    _finish(
        [failure for rule in chosen for failure in check_rule(rule, rulebook, engine)],
        "failure",
        f"in {counted(len(chosen), 'rule')}",
    )


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
