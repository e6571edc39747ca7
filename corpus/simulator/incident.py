"""One incident: a scenario, what truly happened, the files that are left of it, and the truth about its faults."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from neuron_doctor.corpus.simulator import catalogue, loss
from neuron_doctor.corpus.simulator.execution import execute
from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.knowable import judge
from neuron_doctor.corpus.simulator.scenario import Scenario
from neuron_doctor.corpus.simulator.truth import File, Truth


@dataclass(frozen=True, slots=True)
class Incident:
    """What is collected, and what is true."""

    scenario: Scenario
    history: History
    truth: Truth
    files: tuple[File, ...]


def simulate(scenario: Scenario) -> Incident:
    """Let it happen, write what every source shows of it, and lose what the scenario loses."""
    done = execute(scenario)
    rng = Random(f"{scenario.seed}/loss")
    style = loss.restyled(scenario.loss, scenario.style, rng)
    history = replace(done.history, job=loss.skewed(scenario.loss, done.history.job, rng))
    before = tuple(catalogue.files(history, style, Random(f"{scenario.seed}/files")))
    culprits = sorted({rank for fault in done.faults for rank in fault.ranks})
    after = loss.apply(scenario.loss, before, culprits, rng)
    truth = Truth(done.faults, judge(replace(done, history=history), style, before, after), healthy=not done.faults)
    return Incident(scenario, history, truth, after)


def write(incident: Incident, directory: Path) -> None:
    """The files under `input`, and the truth beside them."""
    for file in incident.files:
        path = directory / "input" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "truth.json").write_text(json.dumps(told(incident), indent=2) + "\n")


def told(incident: Incident) -> dict[str, Any]:
    """The truth as JSON: the faults, what is knowable of each, and what the scenario was."""
    scenario, truth = incident.scenario, incident.truth
    return {
        "seed": scenario.seed,
        "healthy": truth.healthy,
        "world": scenario.shape.world,
        "hosts": [host.name for host in incident.history.job.hosts],
        "recorder": scenario.style.recorder,
        "cell": scenario.loss.cell,
        "watcher": scenario.custom.watcher,
        "faults": [{**asdict(fault), "knowable": truth.knowable[number]} for number, fault in enumerate(truth.faults)],
    }
