"""Runs the examples that stand in rules: positives must fire the rule as they expect, near misses must not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.errors import Location
from neuron_doctor.engine.match import matches_of
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.rulefile import ExpectDoc
from neuron_doctor.engine.verdict import Finding
from neuron_doctor.examples import Exhibit, exhibits_of
from neuron_doctor.rulefiles import examples_of, place_of
from neuron_doctor.scan import Engine


class Outcome(Struct, frozen=True):
    """How one example of a rule, which stands at `keys` (at `location`, where that was looked up), came out; `fault` says in
    words what is otherwise than the rule says, if anything is."""

    rule: Rule
    example: str
    fault: str = ""
    keys: tuple[str | int, ...] = ()
    location: Location | None = None

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        return f"{where}{self.rule.id}: example {self.example!r}: {self.fault}"


def check_rule(rule: Rule, rulebook: Rulebook, engine: Engine) -> Iterator[Outcome]:
    """The examples of one rule that fail."""
    outcomes = (outcome(exhibit, rule) for exhibit in exhibits_of(rule, rulebook, engine))
    return (one for one in outcomes if one.fault)


def located(one: Outcome, packs: Sequence[Path]) -> Outcome:
    """The same with the place of the example in the file of its rule."""
    return replace(one, location=place_of(one.rule, packs, *one.keys, "name"))


def outcome(exhibit: Exhibit, rule: Rule) -> Outcome:
    """How an example comes out for its rule."""
    keys = next((keys for keys, example in examples_of(rule) if example is exhibit.example), ())
    return Outcome(rule, exhibit.example.name, fault_of(exhibit, rule), keys)


def fault_of(exhibit: Exhibit, rule: Rule) -> str:
    """What is wrong with an example of a rule, or of a mutant of it; empty for nothing. All rules are applied only where this
    one holds, for only they tell what becomes of it."""
    holds = matches_of(rule, exhibit.ground, exhibit.earlier)
    own = [finding for finding in _findings(exhibit, rule) if finding.rule == rule.id] if holds else []
    if not exhibit.positive:
        return "the rule fires on this near miss" if own else ""
    if not own:
        return "the rule does not fire" if not holds else "the rule holds, but another one takes its place"
    differences = min((_differences(finding, exhibit.example.expect) for finding in own), key=len)
    return f"it fires, but with {'; '.join(differences)}" if differences else ""


def _findings(exhibit: Exhibit, rule: Rule) -> tuple[Finding, ...]:
    rules = tuple(rule if other.id == rule.id else other for other in exhibit.rulebook.rules)
    return diagnose_once(replace(exhibit.rulebook, rules=rules), exhibit.collection).findings


def _differences(finding: Finding, expect: ExpectDoc) -> list[str]:
    """In what a finding is not as expected, in words."""
    place = _place(finding)
    pairs: list[tuple[str, object, object]] = [(name, place.get(name), value) for name, value in expect.place.items()]
    if expect.role:
        pairs.append(("role", finding.role.value, expect.role))
    if expect.cause:
        pairs.append(("cause", finding.cause, expect.cause))
    if expect.actions is not None:
        actions = [action.action.value for action in finding.actions]
        pairs.append(("actions", actions, [action.value for action in expect.actions]))
    return [f"{name} {_shown(seen)}, not {_shown(wanted)}" for name, seen, wanted in pairs if seen != wanted]


def _place(finding: Finding) -> dict[str, object]:
    known = finding.place.known().items()
    place: dict[str, object] = {name: list(value) if isinstance(value, tuple) else value for name, value in known}
    return {**place, "hosts": list(finding.hosts)} if finding.hosts else place


def _shown(value: object) -> str:
    return (
        "not known" if value is None else f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)
    )
