"""`neuron-doctor evaluate`: how often the doctor is right, on simulated incidents and on labelled ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuron_doctor.commands.inputs import NoBuiltin, Rules, packs_from, stop_on_usage_errors

if TYPE_CHECKING:
    from neuron_doctor.engine.rulebook import Rulebook
    from neuron_doctor.evaluation import Cell, Outcome

FORMATS = ("text", "json")


def evaluate(
    seeds: int = typer.Option(1, min=0, help="So many incidents of each fault and each kind of loss; 0 for none."),
    first_seed: int = typer.Option(0, min=0, help="The first seed."),
    fault: list[str] = typer.Option([], help="Only this cause (repeatable); `pair`: two at once; `healthy`: none."),
    loss: list[str] = typer.Option([], help="Only this kind of loss (repeatable): what is missing."),
    cases: list[Path] = typer.Option([], help="Also all incidents below DIR that have an expect.yaml (repeatable)."),
    output: str = typer.Option("text", "--format", "-f", help=f"{' or '.join(FORMATS)}."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Tell every incident on standard error."),
    rules: Rules = [],  # noqa: B006 - typer reads the default, nothing changes it
    no_builtin_rules: NoBuiltin = False,
) -> None:
    """Simulate incidents of which the truth is known, diagnose them, and count how often the verdict is right.

    The figures are about the simulator's incidents; show them beside those on real cases (--cases DIR).
    """
    from neuron_doctor.evaluation import evaluate as outcomes_of  # noqa: PLC0415 - loaded when it runs, so that --help is quick
    from neuron_doctor.evaluation_report import evaluation_object, evaluation_text, told  # noqa: PLC0415
    from neuron_doctor.packs import load  # noqa: PLC0415

    with stop_on_usage_errors():
        if output not in FORMATS:
            raise typer.BadParameter(f"{output!r} is not a format; there are {', '.join(FORMATS)}")
        rulebook = load(packs_from(rules, builtin=not no_builtin_rules, isolated=True))
        cells = _cells(seeds, first_seed, fault, loss)
    outcomes: list[Outcome] = []
    for outcome in outcomes_of(rulebook, cells):
        outcomes.append(outcome)
        if verbose:
            print(told(outcome), file=sys.stderr)
    judged = [row for folder in cases for row in _labelled(rulebook, folder)]
    if output == "json":
        import json  # noqa: PLC0415 - `--help` loads this module

        sys.stdout.write(json.dumps(evaluation_object(outcomes, judged), indent=1) + "\n")
    else:
        sys.stdout.write(evaluation_text(outcomes, judged))


def _cells(seeds: int, first: int, faults: list[str], losses: list[str]) -> list[Cell]:
    from neuron_doctor.corpus.simulator.loss import CELLS  # noqa: PLC0415
    from neuron_doctor.corpus.simulator.scenario import CAUSES, HEALTHY  # noqa: PLC0415
    from neuron_doctor.evaluation import PAIR, Cell  # noqa: PLC0415

    all_faults, all_losses = (*CAUSES, PAIR, HEALTHY), [cell.cell for cell in CELLS]
    for chosen, known in ((faults, all_faults), (losses, all_losses)):
        unknown = sorted(set(chosen) - set(known))
        if unknown:
            raise typer.BadParameter(f"{', '.join(unknown)}: not simulated; there are {', '.join(sorted(known))}")
    return [
        Cell(fault, loss, seed)
        for fault in faults or all_faults
        for loss in losses or all_losses
        for seed in range(first, first + seeds)
    ]


def _labelled(rulebook: Rulebook, folder: Path) -> list[tuple[str, list[str]]]:
    from neuron_doctor.labels import LabelError, labelled, mistakes, read_label  # noqa: PLC0415
    from neuron_doctor.pipeline import diagnose_paths  # noqa: PLC0415
    from neuron_doctor.request import Packs, Request  # noqa: PLC0415

    judged: list[tuple[str, list[str]]] = []
    for incident in labelled(folder):
        try:
            label = read_label(incident)
        except LabelError as error:
            raise typer.BadParameter(str(error)) from error
        found = diagnose_paths(Request((str(incident / "input"),), packs=Packs(isolated=True)), rulebook)
        judged.append((incident.name, mistakes(label, found)))
    return judged
