"""`neuron-doctor rules new`: a first draft of a rule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import NoBuiltin, Rules, stop_on_usage_errors
from neuron_doctor.commands.outputs import write
from neuron_doctor.engine.grades import Severity

if TYPE_CHECKING:
    from neuron_doctor.ruledraft import Draft


def new(
    name: str = typer.Argument(metavar="ID", help="What the rule is called: small letters, digits and hyphens."),
    source: list[str] = typer.Option(
        [],
        "--from",
        metavar="LOG:LINES",
        help="Lines that it is to find, such as run.log:17 or run.log:17-19,40; repeat.",
    ),
    title: str = typer.Option(..., prompt="Title (what failed, in a few words)", help="The headline of its findings."),
    cause: str = typer.Option(..., prompt="Cause (an id of causes.yaml)", help="What is at fault."),
    explanation: str = typer.Option(..., prompt="Explanation (for someone woken at night)", help="Plain words."),
    reference: str = typer.Option(..., prompt="Reference (where it is from)", help="A page, an issue, a source file."),
    severity: Severity = typer.Option(Severity.ERROR, help="What --fail-on compares."),
    output: Path = typer.Option(Path(), "--output", "-o", metavar="DIR", help="The folder of the pack."),
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
) -> None:
    """Draft a rule from lines of a log: what varies in them is replaced, near misses are proposed, and the draft is tried.

    What no option says is asked for. Exit status 1 if the draft does not pass its own examples.
    """
    import json  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    from neuron_doctor.commands.rule_inputs import finish  # noqa: PLC0415
    from neuron_doctor.engine.rulefile import rule_schema  # noqa: PLC0415
    from neuron_doctor.packs import load_with_examples  # noqa: PLC0415
    from neuron_doctor.request import Packs  # noqa: PLC0415
    from neuron_doctor.ruledraft import SCHEMA, as_yaml  # noqa: PLC0415
    from neuron_doctor.ruletest import check_rule  # noqa: PLC0415
    from neuron_doctor.scan import Engine  # noqa: PLC0415

    target = output / f"{name}.yaml"
    if target.exists():
        raise typer.BadParameter(f"{target} exists already")
    try:
        draft = _drafted(source)
    except (OSError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    said = {
        "title": title,
        "cause": cause,
        "severity": severity.value,
        "trust": ["F"],
        "status": "experimental",
        "confidence": 0.6,
        "explanation": explanation,
        "references": [reference],
    }
    output.mkdir(parents=True, exist_ok=True)
    write(output / SCHEMA, (json.dumps(rule_schema(), indent=2) + "\n").encode())
    write(target, as_yaml(draft, name, said).encode())
    print(f"{target}: {draft.regex}", flush=True)
    with stop_on_usage_errors():
        rulebook = load_with_examples(
            Packs((*(pack.resolve() for pack in rules), output.resolve()), not no_builtin_rules, sited=False)
        )
    [rule] = [rule for rule in rulebook.rules if rule.id == name]
    finish(check_rule(rule, rulebook, Engine.of(rulebook)), "failure", "in the draft's own examples")


def _drafted(sources: list[str]) -> Draft:
    """From marked lines; where none are, from those that are asked for, or from a line that is pasted there."""
    from neuron_doctor.ruledraft import drafted, everything, marked_lines, names_a_log  # noqa: PLC0415

    answer = "" if sources else typer.prompt("Lines that it is to find (LOG:LINES, or such a line itself)")
    if answer and not names_a_log(answer):
        return drafted([answer], ())
    marked = sources or [answer]
    return drafted(marked_lines(marked), everything(marked))
