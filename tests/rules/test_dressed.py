"""Launchers, container runtimes and terminals dress the lines of a log; a rule sees through it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.examples import inputs_of
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
DRESS: dict[str, Callable[[str], str]] = {
    "torchrun": lambda line: f"[rank3]: {line}",
    "CRI": lambda line: f"2026-07-01T10:00:00.123456789Z stderr F {line}",
    "Python logging": lambda line: f"2024-08-12 18:34:56,116::ERROR: {line}",
    "Windows": lambda line: f"{line}\r",
}


@pytest.mark.heavy
@pytest.mark.parametrize("dress", DRESS.values(), ids=list(DRESS))
def test_a_dressed_example_is_the_same_example(dress: Callable[[str], str]) -> None:
    missed = []
    for rule in RULEBOOK.rules:
        for example in rule.examples.positive if rule.examples else ():
            if example.text is None or example.text.lstrip().startswith("{"):
                continue
            text = "\n".join(dress(line) for line in example.text.splitlines()) + "\n"
            found = diagnose(RULEBOOK, collect_inputs(inputs_of({"run.log": text}), ENGINE)).findings
            if rule.id not in {finding.rule for finding in found}:
                missed.append((rule.id, example.name))
    assert missed == []
