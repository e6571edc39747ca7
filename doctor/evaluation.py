"""How often the doctor is right on simulated incidents: by class of fault, by what was missing, by how sure it was."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from neuron_doctor.collectors.discover import discover
from neuron_doctor.corpus.simulator.incident import Incident, simulate, write
from neuron_doctor.corpus.simulator.scenario import PAIRABLE, Scenario, draw
from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.judging import Judgement, judge
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.scan import Engine

PAIR = "pair"
#: Lower ends of the bins of the reliability table.
BINS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Cell:
    """What to simulate: a cause of the simulator, `HEALTHY` or `PAIR` (two independent faults); what is missing; a seed."""

    fault: str
    loss: str
    seed: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One incident: which faults it had, what was missing, and how the diagnosis of it was judged."""

    cell: Cell
    faults: tuple[str, ...]
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over outcomes, of `incidents`."""

    incidents: int
    top: int
    exact: int
    blamed: int
    drained: int
    silent: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """Of `verdicts` roots given with a confidence from `low` to `high`, `right` were; `mean` is their mean confidence."""

    low: float
    high: float
    verdicts: int
    right: int
    mean: float


def evaluate(rulebook: Rulebook, cells: Iterable[Cell]) -> Iterator[Outcome]:
    """Simulate each cell's incident, diagnose its files, and judge the verdict."""
    engine = Engine.of(rulebook)
    for cell in cells:
        incident = simulate(scenario_of(cell))
        with tempfile.TemporaryDirectory(prefix="neuron-doctor-") as folder:
            yield _outcome(rulebook, engine, cell, incident, Path(folder))


def scenario_of(cell: Cell) -> Scenario:
    """What the simulator makes of a cell."""
    if cell.fault == PAIR:
        first, second = Random(cell.seed).sample(PAIRABLE, 2)  # noqa: S311 - no secret
        return draw(cell.seed, pair=(first, second), loss=cell.loss)
    return draw(cell.seed, fault=cell.fault, loss=cell.loss)


def _outcome(rulebook: Rulebook, engine: Engine, cell: Cell, incident: Incident, folder: Path) -> Outcome:
    write(incident, folder)
    diagnosis = diagnose_once(rulebook, collect_inputs(discover([str(folder / "input")]), engine))
    faults = tuple(sorted(fault.cause for fault in incident.truth.faults))
    return Outcome(cell, faults or ("healthy",), judge(incident.truth, diagnosis, incident.history.job))


def tally(outcomes: Sequence[Outcome]) -> Tally:
    """How many of these were right, and how many wronged somebody."""
    judged = [outcome.judgement for outcome in outcomes]
    return Tally(
        incidents=len(judged),
        top=sum(j.top for j in judged),
        exact=sum(j.exact for j in judged),
        blamed=sum(j.blamed for j in judged),
        drained=sum(j.drained for j in judged),
        silent=sum(j.silent for j in judged),
    )


def by(outcomes: Iterable[Outcome], key: Callable[[Outcome], Iterable[str]]) -> dict[str, Tally]:
    """The tallies of the outcomes by a key; one with several keys counts for each."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        for name in sorted(set(key(outcome))):
            groups[name].append(outcome)
    return {name: tally(groups[name]) for name in sorted(groups)}


def reliability(outcomes: Iterable[Outcome]) -> list[Reliability]:
    """How often roots were right, by how sure the doctor was of them."""
    given = [pair for outcome in outcomes for pair in outcome.judgement.sure]
    rows = []
    for low, high in zip(BINS, (*BINS[1:], 1.01), strict=True):
        inside = [(confidence, right) for confidence, right in given if low <= confidence < high]
        if inside:
            mean = sum(confidence for confidence, _ in inside) / len(inside)
            rows.append(Reliability(low, min(high, 1.0), len(inside), sum(right for _, right in inside), mean))
    return rows
