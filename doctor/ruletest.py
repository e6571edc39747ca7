"""Runs the examples that stand in rules: positives must fire the rule, near misses must not."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.rulefile import ExampleDoc
from neuron_doctor.engine.verdict import Finding
from neuron_doctor.pipeline import collect_inputs
from neuron_doctor.scan import Engine


@dataclass(frozen=True, slots=True)
class Failure:
    """An example that came out otherwise than its rule says."""

    rule: str
    example: str
    what: str

    def __str__(self) -> str:
        return f"{self.rule}: example {self.example!r}: {self.what}"


def check_rule(rule: Rule, rulebook: Rulebook, engine: Engine) -> Iterator[Failure]:
    """The examples of one rule that fail."""
    if rule.examples is None:
        return
    for example in rule.examples.positive:
        findings = [f for f in _findings(example, rulebook, engine) if f.rule == rule.id]
        if not findings:
            yield Failure(rule.id, example.name, "the rule does not fire")
        elif not any(_as_expected(finding, example) for finding in findings):
            seen = "; ".join(f"{f.role.value} at {_shown(f)}" for f in findings)
            yield Failure(rule.id, example.name, f"it fires, but as {seen}")
    for example in rule.examples.negative:
        if any(f.rule == rule.id for f in _findings(example, rulebook, engine)):
            yield Failure(rule.id, example.name, "the rule fires on this near miss")


def _findings(example: ExampleDoc, rulebook: Rulebook, engine: Engine) -> tuple[Finding, ...]:
    files = example.files or {"run.log": example.text or ""}
    return diagnose(rulebook, collect_inputs(inputs_of(files), engine)).findings


def inputs_of(files: Mapping[str, str]) -> Iterator[Input]:
    """Inputs made of texts by path."""
    for path, text in sorted(files.items()):
        raw = text.encode()
        stream: io.BufferedReader = io.BufferedReader(io.BytesIO(raw), 2 * HEAD)
        name = path.rpartition("/")[2]
        yield Input(path, name, stream, len(raw), place_of_path(path), source_id=path)


def _as_expected(finding: Finding, example: ExampleDoc) -> bool:
    if example.expect.role and finding.role.value != example.expect.role:
        return False
    seen = _shown(finding)
    return all(seen.get(name) == value for name, value in example.expect.place.items())


def _shown(finding: Finding) -> dict[str, object]:
    known = finding.place.known().items()
    place: dict[str, object] = {name: list(value) if isinstance(value, tuple) else value for name, value in known}
    return {**place, "hosts": list(finding.hosts)} if finding.hosts else place
