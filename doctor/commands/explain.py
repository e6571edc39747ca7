"""`neuron-doctor explain`: what a code, a name or a message means, without any logs."""

from __future__ import annotations

import sys

import typer

from neuron_doctor.commands.inputs import Isolated, NoBuiltin, Rules, SiteFile, packs_from, stop_on_usage_errors
from neuron_doctor.commands.terminal import columns, in_colour
from neuron_doctor.exits import Exit

FORMATS = ("text", "json")
#: So much of standard input is looked at: a message, not a log.
_MOST = 64 * 1024


def explain(
    what: list[str] = typer.Argument(
        metavar="WHAT...", help="A code, a name, a cause, a rule, a line of a log; - for lines on standard input."
    ),
    output: str = typer.Option("text", "--format", "-f", help=f"{' or '.join(FORMATS)}."),
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
    site: SiteFile = None,
    isolated: Isolated = False,
) -> None:
    """Say what a code, a name or a message means and what to do about it. Exit status 0, or 1 if it is not known."""
    from neuron_doctor.explain import explain as explained  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.packs import load, load_with_examples  # noqa: PLC0415
    from neuron_doctor.plugins import engine_for  # noqa: PLC0415

    if output not in FORMATS:
        raise typer.BadParameter(f"{output!r} is none of {', '.join(FORMATS)}")
    asked = " ".join(what) if what != ["-"] else sys.stdin.buffer.read(_MOST).decode("utf-8", "replace")
    if not asked.strip():
        raise typer.BadParameter("nothing to explain")
    with stop_on_usage_errors():
        packs = packs_from(rules, builtin=not no_builtin_rules, isolated=isolated, sited=True, site=site)
        rulebook = load(packs)
        found = explained(asked, rulebook, lambda: engine_for(packs, rulebook), lambda: load_with_examples(packs))
    if output == "json":
        from neuron_doctor.reports.json_explain import explanation_json  # noqa: PLC0415

        sys.stdout.write(explanation_json(found))
    else:
        from neuron_doctor.reports.text_explain import render_explanation  # noqa: PLC0415

        sys.stdout.write(render_explanation(found, width=columns(), colour=in_colour()))
    raise typer.Exit(Exit.NOTHING if found.topics else Exit.FOUND)
