"""`neuron-doctor rules lint`: what is wrong with rules."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import Isolated, NoBuiltin, Rules, SiteFile, packs_from
from neuron_doctor.exits import Exit

if TYPE_CHECKING:
    from neuron_doctor.engine.packfiles import PackFile


class Format(StrEnum):
    """For whom the problems are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def lint(
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
    site: SiteFile = None,
    isolated: Isolated = False,
    form: Format = typer.Option(
        Format.TEXT, "--format", "-f", help="text for people, json, sarif, or github for annotations of a pull request."
    ),
) -> None:
    """Check the rules and the site file. Exit status 1 where something is wrong, 2 where they cannot be used at all."""
    from datetime import date  # noqa: PLC0415 - loaded when it runs, so that --help is quick

    from neuron_doctor.lint.run import problems_of  # noqa: PLC0415
    from neuron_doctor.packs import directories, files_of, site_file  # noqa: PLC0415
    from neuron_doctor.reports.problems import FORMATS, RuleFile  # noqa: PLC0415
    from neuron_doctor.reports.wording import counted  # noqa: PLC0415

    packs = packs_from(rules, builtin=not no_builtin_rules, isolated=isolated, sited=True, site=site)
    files, of_site = files_of(packs), site_file(packs)
    problems, usable = problems_of(files, date.today(), directories(packs), of_site)
    everything = [*files, of_site] if of_site else files
    known = {file.shown: RuleFile(_path(file), file.content.decode("utf-8", "replace")) for file in everything}
    sys.stdout.write(FORMATS[form](problems, known))
    sys.stdout.flush()
    print(counted(len(problems), "problem" if usable else "error"), "in the rules", file=sys.stderr)
    raise typer.Exit(Exit.USAGE if not usable else Exit.FOUND if problems else Exit.NOTHING)


def _path(file: PackFile) -> str:
    """A file as tools name it that run where we run: from here on, if it is below, and not all is."""
    path = Path(file.path)
    here = Path.cwd()
    below = path.is_relative_to(here) and here != Path(here.anchor)
    return path.relative_to(here).as_posix() if below else file.path
