"""`neuron-doctor rules why`: why a rule fires on what was collected, or does not."""

from __future__ import annotations

import sys

import typer

from neuron_doctor.commands.inputs import (
    Assumed,
    Isolated,
    Label,
    NoBuiltin,
    NoPlugins,
    Paths,
    Rules,
    SiteFile,
    packs_from,
    request_from,
    stop_on_usage_errors,
)
from neuron_doctor.commands.rule_inputs import named, tell_gone
from neuron_doctor.commands.terminal import columns, in_colour
from neuron_doctor.exits import Exit


def why(
    rule: str = typer.Argument(metavar="RULE", help="The id of the rule."),
    paths: Paths = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
    site: SiteFile = None,
    isolated: Isolated = False,
    no_plugins: NoPlugins = False,
    label: Label = [],  # noqa: B006
    assume_timezone: Assumed = "",
    verbose: bool = typer.Option(False, "--verbose", "-v", help="All places and all records."),
) -> None:
    """Say why a rule fires on what was collected, or what came closest. Exit status 0 if it fires, 1 if it does not."""
    from neuron_doctor.pipeline import rulebook_for  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.reports.text_why import render_why  # noqa: PLC0415
    from neuron_doctor.rulewhy import why_of  # noqa: PLC0415

    with stop_on_usage_errors():
        packs = packs_from(
            rules, builtin=not no_builtin_rules, isolated=isolated, plugins=not no_plugins, sited=True, site=site
        )
        request = request_from(paths, packs, label, assume_timezone)
        rulebook = rulebook_for(request)
        told = why_of(request, rulebook, named(rulebook, rule), sys.stdin.buffer)
    tell_gone(rulebook)
    sys.stdout.write(render_why(told, width=columns(), colour=in_colour(), verbose=verbose))
    raise typer.Exit(Exit.NOTHING if any(look.reason.held for look in told.looks) else Exit.FOUND)
