"""Launchers, container runtimes and terminals dress the lines of a log; a rule sees through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.examples import inputs_of
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.rulefiles import texts_of
from neuron_doctor.scan import Engine

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
#: A line of a rank as its launcher writes it.
DRESS: dict[str, Callable[[str, int], str]] = {
    "torchrun": lambda line, rank: f"[rank{rank}]: {line}",
    "CRI": lambda line, _rank: f"2026-07-01T10:00:00.123456789Z stderr F {line}",
    "Python logging": lambda line, _rank: f"2024-08-12 18:34:56,116::ERROR: {line}",
    "Windows": lambda line, _rank: f"{line}\r",
}


def is_log(path: str, text: str) -> bool:
    """Whether a launcher would dress the lines: of other things than logs the form is the meaning."""
    return path.endswith(".log") and not text.lstrip().startswith("{")


def dressed(files: Mapping[str, str], launcher: str) -> dict[str, str]:
    """The files with their logs dressed. torchrun dresses what a worker says: its rank is that of the path, or any of one log;
    the table in which it lists who failed is its own."""
    logs = {path for path, text in files.items() if is_log(path, text)}
    ranks = {path: place_of_path(path).rank for path in logs}
    if launcher == "torchrun":
        ranks = {path: 3 if len(logs) == 1 and rank is None else rank for path, rank in ranks.items()}
        is_own = {path for path in logs if "torch.distributed.elastic" in files[path] and "Root Cause" in files[path]}
        logs = {path for path in logs - is_own if ranks[path] is not None}
    return {
        path: "".join(f"{DRESS[launcher](line, ranks[path] or 0)}\n" for line in text.splitlines())
        if path in logs
        else text
        for path, text in files.items()
    }


def test_each_log_is_dressed_and_nothing_else() -> None:
    files = {"host-1/rank_0.log": "acme: full\n", "host-1/neuron-ls.json": "{}\n", "host-1/agent.log": "acme: lost\n"}
    assert dressed(files, "Windows") == {
        "host-1/rank_0.log": "acme: full\r\n",
        "host-1/neuron-ls.json": "{}\n",
        "host-1/agent.log": "acme: lost\r\n",
    }
    assert dressed(files, "torchrun") == {**files, "host-1/rank_0.log": "[rank0]: acme: full\n"}
    assert dressed({"run.log": "a\n"}, "torchrun") == {"run.log": "[rank3]: a\n"}


@pytest.mark.heavy
@pytest.mark.parametrize("launcher", DRESS)
def test_a_dressed_example_is_the_same_example(launcher: str) -> None:
    missed = []
    for rule in RULEBOOK.rules:
        for example in rule.examples.positive if rule.examples else ():
            files = texts_of(example)
            if (put_on := dressed(files, launcher)) != files:
                found = diagnose(RULEBOOK, collect_inputs(inputs_of(put_on), ENGINE)).findings
                if rule.id not in {finding.rule for finding in found}:
                    missed.append((rule.id, example.name))
    assert missed == []
