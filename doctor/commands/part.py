"""`neuron-doctor part`: what this machine's sources say, as one small file that is diagnosed together with those of others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import (
    Isolated,
    Jobs,
    Label,
    NoBuiltin,
    NoPlugins,
    Paths,
    Rules,
    packs_from,
    request_from,
    stop_on_usage_errors,
)
from neuron_doctor.commands.outputs import write
from neuron_doctor.exits import Exit

if TYPE_CHECKING:
    from neuron_doctor.engine.readings import Reading

_STDOUT = Path("-")


def part(
    paths: Paths = [],  # noqa: B006 - typer reads the default, nothing changes it
    output: Path = typer.Option(..., "--output", "-o", metavar="FILE", help="Where to write the part; - for stdout."),
    rules: Rules = [],  # noqa: B006
    no_builtin_rules: NoBuiltin = False,
    isolated: Isolated = False,
    no_plugins: NoPlugins = False,
    label: Label = [],  # noqa: B006
    jobs: Jobs = 0,
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Say on standard error what was written."),
) -> None:
    """Write what the sources say as a part: small, to be diagnosed together with those of other machines.

    Parts among the paths are merged. On a node: neuron-doctor part --label $(hostname)=/var/log/neuron -o $(hostname).part

    Exit status: 0 written; 2 usage or rule error, a missing PATH, or FILE cannot be written; 3 written, but nothing could be
    read as evidence; 4 internal error.
    """
    from neuron_doctor.engine.searched import searched_by  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.parts import part_of  # noqa: PLC0415
    from neuron_doctor.pipeline import read, rulebook_for  # noqa: PLC0415

    with stop_on_usage_errors():
        packs = packs_from(rules, builtin=not no_builtin_rules, isolated=isolated, plugins=not no_plugins)
        request = request_from(paths, packs, label, "", jobs=jobs)
        rulebook = rulebook_for(request)
        readings = read(request, rulebook, sys.stdin.buffer, but=output)
    data = b"".join(part_of(readings, searched_by(rulebook)))
    if output == _STDOUT:
        sys.stdout.buffer.write(data)
    else:
        write(output, data)
    if verbose:
        print(_told(output, readings, len(data)), file=sys.stderr)
    usable = any(reading.facts or reading.source.records for reading in readings)
    raise typer.Exit(Exit.NOTHING if usable else Exit.NOT_EVALUABLE)


def _told(output: Path, readings: Sequence[Reading], size: int) -> str:
    facts = sum(len(reading.facts) for reading in readings)
    problems = sum(len(reading.source.problems) for reading in readings)
    trouble = f", {problems} problems" if problems else ""
    return f"{output}: {len(readings)} sources, {facts} facts{trouble}, {size} bytes"
