"""`neuron-doctor rules list`: which rules there are."""

from __future__ import annotations

import typer

from neuron_doctor.commands.inputs import Isolated, NoBuiltin, Rules, packs_from, stop_on_usage_errors


def list_rules(
    cause: str = typer.Option("", metavar="CAUSE", help="Only rules for this cause."),
    family: str = typer.Option("", metavar="FAMILY", help="Only rules for causes of this family."),
    status: str = typer.Option(
        "", metavar="STATUS", help="Only rules of this status: stable, experimental, deprecated."
    ),
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
    isolated: Isolated = False,
) -> None:
    """List the rules: id, cause, severity, status, title and pack, with tabs between. Exit status 1 if there is none."""
    from neuron_doctor.exits import Exit  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.packs import load  # noqa: PLC0415

    with stop_on_usage_errors():
        rulebook = load(packs_from(rules, builtin=not no_builtin_rules, isolated=isolated))
    known = {
        "--cause": (cause, set(rulebook.causes)),
        "--family": (family, {one.family for one in rulebook.causes.values()}),
        "--status": (status, {"stable", "experimental", "deprecated"}),
    }
    for option, (given, names) in known.items():
        if given and given not in names:
            raise typer.BadParameter(f"{option} {given}: there are {', '.join(sorted(names))}")
    wanted = [
        rule
        for rule in sorted(rulebook.rules, key=lambda rule: rule.id)
        if cause in ("", rule.cause.id) and family in ("", rule.cause.family) and status in ("", rule.status)
    ]
    for rule in wanted:
        print(rule.id, rule.cause.id, rule.severity.value, rule.status, rule.title, rule.pack, sep="\t")
    raise typer.Exit(Exit.NOTHING if wanted else Exit.FOUND)
