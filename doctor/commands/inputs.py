"""The arguments that several commands share, and how their errors end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuron_doctor.exits import Exit

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from neuron_doctor.request import Packs, Request

Paths = Annotated[
    list[str], typer.Argument(metavar="PATH...", help="Directories, files, archives, or - for standard input.")
]
Rules = Annotated[list[Path], typer.Option("--rules", metavar="DIR", help="A further rule pack; may be repeated.")]
NoBuiltin = Annotated[bool, typer.Option("--no-builtin-rules", help="Use only the packs given with --rules.")]
Isolated = Annotated[
    bool,
    typer.Option("--isolated", help="Leave out packs, site file and plug-ins that were only found, not named here."),
]
NoPlugins = Annotated[bool, typer.Option("--no-plugins", help="Read without the collectors of installed packages.")]
SiteFile = Annotated[
    Path | None, typer.Option("--site", metavar="FILE", help="The site file; else the user's, else the machine's.")
]
Label = Annotated[list[str], typer.Option("--label", metavar="NAME=PATH", help="Read PATH, and show it as NAME/...")]
Assumed = Annotated[
    str, typer.Option("--assume-timezone", metavar="TZ", help="The zone of sources that do not prove theirs.")
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Processes that read the inputs; 0: one for each core.", metavar="N")
]


def request_from(
    paths: Sequence[str], packs: Packs, labels: Sequence[str], timezone: str, *, jobs: int = 1, scheduler: str = ""
) -> Request:
    """What the options ask for. Raises typer.BadParameter."""
    from neuron_doctor.request import Request  # noqa: PLC0415 - loaded when a command runs, so that --help is quick

    named = dict(_label(text) for text in labels)
    if not (paths or named):
        raise typer.BadParameter("no PATH, and no --label NAME=PATH")
    known = [path for path in named.values() if path not in paths]
    by_path = {path: name for name, path in named.items()}
    zone = _zone(timezone) if timezone else None
    return Request((*paths, *known), by_path, packs, zone, jobs or cores(), scheduler)


def _zone(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - it reads how Python was configured

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise typer.BadParameter(f"{name!r} is not a time zone") from error


def packs_from(
    rules: Sequence[Path],
    *,
    builtin: bool,
    isolated: bool = False,
    sited: bool = False,
    site: Path | None = None,
    plugins: bool = True,
) -> Packs:
    """The packs that the options name, and those that are found; `sited`: as a site file has them. Raises
    typer.BadParameter."""
    from neuron_doctor.request import Packs  # noqa: PLC0415 - loaded when a command runs, so that --help is quick

    for pack in rules:
        if not pack.is_dir():
            raise typer.BadParameter(f"{pack} is not a directory of rules")
    if site is not None and not site.is_file():
        raise typer.BadParameter(f"--site {site}: there is no such file")
    return Packs(
        tuple(pack.resolve() for pack in rules),
        builtin,
        sited=sited,
        site=site and site.resolve(),
        isolated=isolated,
        plugins=plugins,
    )


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _label(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise typer.BadParameter(f"{text!r} is not of the form NAME=PATH")
    return name, path


@contextmanager
def stop_on_usage_errors(status: int = Exit.USAGE) -> Iterator[None]:
    """A wrong option, a missing path or a wrong rule ends the program with this status, told on standard error."""
    from neuron_doctor.collectors.urls import NoStore  # noqa: PLC0415 - loaded when a command runs, so that --help is quick
    from neuron_doctor.collectors.walk import MissingPath  # noqa: PLC0415
    from neuron_doctor.engine.errors import RulebookError  # noqa: PLC0415
    from neuron_doctor.request import UsageError  # noqa: PLC0415

    try:
        yield
    except typer.BadParameter as error:
        if status == Exit.USAGE:
            raise
        print(f"neuron-doctor: {error}", file=sys.stderr)
        raise typer.Exit(status) from error
    except (UsageError, NoStore) as error:
        print(f"neuron-doctor: {error}", file=sys.stderr)
        raise typer.Exit(status) from error
    except MissingPath as error:
        print(f"neuron-doctor: no such file or directory: {error}", file=sys.stderr)
        raise typer.Exit(status) from error
    except RulebookError as error:
        from neuron_doctor.reports.wording import counted  # noqa: PLC0415

        for one in error.errors:
            print(one, file=sys.stderr)
        files = len({one.location.path for one in error.errors})
        print(f"neuron-doctor: {counted(len(error.errors), 'error')} in {counted(files, 'file')}", file=sys.stderr)
        raise typer.Exit(status) from error
