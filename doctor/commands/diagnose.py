"""`neuron-doctor diagnose`: the verdict on what was collected."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.__about__ import VERSION
from neuron_doctor.commands.inputs import (
    Assumed,
    Isolated,
    Jobs,
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
from neuron_doctor.commands.outputs import check_writable, write
from neuron_doctor.commands.terminal import Colour, columns, in_colour
from neuron_doctor.engine.grades import Severity
from neuron_doctor.exits import Exit, Nagios, exit_status

if TYPE_CHECKING:
    from neuron_doctor.engine.verdict import Diagnosis
    from neuron_doctor.request import Request

FORMATS = ("text", "json", "md")
#: The width of a report in a file.
_FILED = 80


class Runner(StrEnum):
    """Where the inputs are read."""

    LOCAL = "local"
    DASK = "dask"


def diagnose(
    paths: Paths = [],  # noqa: B006 - typer reads the default, nothing changes it
    formats: list[str] = typer.Option(
        ["text"],
        "--format",
        "-f",
        metavar="FORMAT[=FILE]",
        help=f"{', '.join(FORMATS)}; repeat with =FILE for several at once.",
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Write the report to this file."),
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
    site: SiteFile = None,
    isolated: Isolated = False,
    no_plugins: NoPlugins = False,
    ranks: str = typer.Option("", help="Show only findings about these ranks, such as 0-7,12. All are considered."),
    since: str = typer.Option("", help="Show only findings that last beyond this time (RFC 3339, or without a zone)."),
    until: str = typer.Option("", help="Show only findings that began before this time."),
    label: Label = [],  # noqa: B006
    assume_timezone: Assumed = "",
    jobs: Jobs = 0,
    engine: Runner = typer.Option(Runner.LOCAL, help="Who reads the inputs: this machine, or a Dask cluster."),
    scheduler: str = typer.Option("", metavar="ADDRESS|FILE", help="The Dask scheduler, for --engine dask."),
    time_budget: str = typer.Option(
        "", metavar="TIME", help="Answer within this time, such as 30s, with what is known by then; exit status 124."
    ),
    fail_on: Severity = typer.Option(Severity.ERROR, help="Exit with 1 for findings at or above this severity."),
    exit_zero: bool = typer.Option(False, "--exit-zero", help="Exit with 0 whatever is found."),
    nagios: bool = typer.Option(
        False, "--nagios", help="Exit as a Nagios check: 0 ok, 1 warning, 2 critical, 3 unknown."
    ),
    color: Colour = typer.Option(Colour.AUTO, help="Colour in text reports."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print only the headline of the text report."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="More detail in the text report."),
) -> None:
    """Say what failed first, where, why, and what to do.

    PATH is a directory, a file, an archive, or - for standard input. Exit status: 0 nothing found, 1 a failure, 2 usage
    or rule error, 3 nothing readable, 4 internal error, 124 the time budget was too short.
    """
    from neuron_doctor.shown import parse_filter  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    status_of_usage = Nagios.UNKNOWN if nagios else Exit.USAGE
    with stop_on_usage_errors(status_of_usage):
        targets = [_target(text, output) for text in formats]
        if len({str(file) for _, file in targets}) < len(targets):
            raise typer.BadParameter("several formats need a file each: --format json=FILE")
        for _, file in targets:
            if file is not None:
                check_writable(file, status_of_usage)
        shown = parse_filter(ranks, since, until)
        if (engine is Runner.DASK) != bool(scheduler):
            raise typer.BadParameter("--engine dask and --scheduler go together")
        packs = packs_from(
            rules, builtin=not no_builtin_rules, isolated=isolated, plugins=not no_plugins, sited=True, site=site
        )
        request = request_from(paths, packs, label, assume_timezone, jobs=jobs, scheduler=scheduler)
        found = _found(request, time_budget, quiet=quiet)
    status = exit_status(found, fail_on=fail_on, exit_zero=exit_zero, nagios=nagios)
    view = _View(shown.apply(found), status, color, quiet=quiet, verbose=verbose)
    rendered = [(view.render(name, file), file) for name, file in targets]
    for text, file in rendered:
        if file is None:
            sys.stdout.write(text)
        else:
            write(file, text.encode(), status_of_usage)
    raise typer.Exit(status)


def _found(request: Request, time_budget: str, *, quiet: bool) -> Diagnosis:
    """The diagnosis, the ends of the files first where somebody waits for it or the time is limited."""
    from neuron_doctor.pipeline import diagnose_paths, rulebook_for  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    seconds = _seconds(time_budget) if time_budget else None
    if seconds is None and (quiet or not sys.stderr.isatty()):
        return diagnose_paths(request, rulebook_for(request), sys.stdin.buffer)
    from neuron_doctor.progress import progress  # noqa: PLC0415
    from neuron_doctor.tailfirst import diagnose_tail_first  # noqa: PLC0415

    rulebook = rulebook_for(request)
    if quiet or not sys.stderr.isatty():
        return diagnose_tail_first(request, rulebook, sys.stdin.buffer, seconds=seconds)
    with progress() as line:
        return diagnose_tail_first(request, rulebook, sys.stdin.buffer, seconds=seconds, watch=line)


def _seconds(text: str) -> float:
    from neuron_doctor.engine.durations import parse_duration  # noqa: PLC0415

    try:
        seconds = parse_duration(text) / 1e9
    except ValueError as error:
        raise typer.BadParameter(f"--time-budget: {error}") from error
    if not seconds:
        raise typer.BadParameter("--time-budget: no time at all")
    return seconds


def _target(text: str, output: Path | None) -> tuple[str, Path | None]:
    name, _, file = text.partition("=")
    if name not in FORMATS:
        raise typer.BadParameter(f"{name!r} is not a format; there are {', '.join(FORMATS)}")
    return name, Path(file) if file else output


class _View:
    """A diagnosis with the ways of showing it."""

    def __init__(self, diagnosis: Diagnosis, status: int, colour: Colour, *, quiet: bool, verbose: bool) -> None:
        self._diagnosis = diagnosis
        self._status = status
        self._colour = colour
        self._quiet = quiet
        self._verbose = verbose

    def render(self, name: str, file: Path | None) -> str:
        """The report in one format; only that renderer is loaded."""
        if name == "json":
            from neuron_doctor.reports.json_report import render_json  # noqa: PLC0415

            return render_json(self._diagnosis, exit_status=self._status, version=VERSION)
        if name == "md":
            from neuron_doctor.reports.markdown import render_markdown  # noqa: PLC0415

            return render_markdown(self._diagnosis)
        from neuron_doctor.reports.text import render_headline, render_text  # noqa: PLC0415

        if self._quiet:
            return render_headline(self._diagnosis)
        return render_text(
            self._diagnosis,
            width=columns() if file is None else _FILED,
            colour=in_colour(self._colour, printed=file is None),
            verbose=self._verbose,
        )
