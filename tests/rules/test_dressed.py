"""Launchers, container runtimes and terminals dress the lines of a log; a rule sees through it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.rulefile import ExampleDoc
from neuron_doctor.examples import inputs_of
from neuron_doctor.packs import load_with_examples
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.request import Packs
from neuron_doctor.rulefiles import texts_of
from neuron_doctor.scan import Engine

RULEBOOK = load_with_examples(Packs())
ENGINE = Engine.of(RULEBOOK)
DRESS: dict[str, Callable[[str], str]] = {
    "torchrun": lambda line: f"[rank3]: {line}",
    "CRI": lambda line: f"2026-07-01T10:00:00.123456789Z stderr F {line}",
    "Python logging": lambda line: f"2024-08-12 18:34:56,116::ERROR: {line}",
    "Windows": lambda line: f"{line}\r",
}


def logs_of(example: ExampleDoc) -> dict[str, str]:
    """The logs of an example that is one text or a directory, by path; none where a launcher would not dress its lines: where it
    has other things than logs, whose form is their meaning."""
    files = texts_of(example) if example.text is not None or example.directory else {}
    plain = all(path.endswith(".log") and not text.lstrip().startswith("{") for path, text in files.items())
    return files if plain else {}


def test_the_logs_of_a_directory_are_dressed_too(tmp_path: Path) -> None:
    (tmp_path / "host-1").mkdir()
    (tmp_path / "host-1" / "rank_0.log").write_text("acme: full\n")
    example = ExampleDoc(name="a", directory=str(tmp_path))
    assert logs_of(example) == {"host-1/rank_0.log": "acme: full\n"}
    (tmp_path / "host-1" / "neuron-ls.json").write_text("{}")
    assert logs_of(example) == {}


@pytest.mark.heavy
@pytest.mark.parametrize("launcher", DRESS)
def test_a_dressed_example_is_the_same_example(launcher: str) -> None:
    dress, missed = DRESS[launcher], []
    for rule in RULEBOOK.rules:
        for example in rule.examples.positive if rule.examples else ():
            files = logs_of(example)
            # torchrun dresses what its workers say, not what it says itself
            if not files or (launcher == "torchrun" and "torch.distributed.elastic" in "".join(files.values())):
                continue
            dressed = {path: "".join(f"{dress(line)}\n" for line in text.splitlines()) for path, text in files.items()}
            found = diagnose(RULEBOOK, collect_inputs(inputs_of(dressed), ENGINE)).findings
            if rule.id not in {finding.rule for finding in found}:
                missed.append((rule.id, example.name))
    assert missed == []
