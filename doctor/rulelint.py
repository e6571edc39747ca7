"""What the lint of rules says beyond what already stops them from loading."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_doctor.engine.conditions import queries
from neuron_doctor.engine.errors import Location, RuleError
from neuron_doctor.engine.loosening import required_literal
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Rule, Rulebook

#: A pattern must contain a literal of so many characters, or it makes a candidate of every other line.
MIN_LITERAL = 4
#: Constructs with which matching is not linear in the line, or not known to Vectorscan.
_COSTLY = (
    (re.compile(r"\([^()]*[+*][^()]*\)[+*]"), "a repetition inside a repetition"),
    (re.compile(r"\(\?=|\(\?!|\(\?<[=!]"), "look-around"),
    (re.compile(r"\\[1-9]|\(\?P="), "a back-reference"),
    (re.compile(r"\.\*.*\.\*.*\.\*"), "three times `.*`"),
)


def lint(rulebook: Rulebook) -> Iterator[RuleError]:
    """Problems of rules and patterns that load."""
    used = {query.name for rule in rulebook.rules for query in (*queries(rule.when), *rule.ends)}
    for rule in rulebook.rules:
        yield from _rule(rule)
    for pattern in rulebook.patterns.patterns:
        yield from _pattern(pattern, rulebook.pattern_locations[pattern.id], used)


def _rule(rule: Rule) -> Iterator[RuleError]:
    where = rule.location
    if rule.examples is None:
        yield RuleError(
            where, f"rule {rule.id!r} has no examples", "add at least one positive and one near-miss negative"
        )
    if not rule.actions and rule.role in ("root", "victim"):
        yield RuleError(where, f"rule {rule.id!r} says nothing about what to do", "add actions")
    for explains in rule.explains:
        if rule.cause.id in explains.causes and explains.relation in ("same-process", "same-device", "same-core"):
            yield RuleError(where, f"rule {rule.id!r} explains its own cause at the same place")


def _pattern(pattern: Pattern, where: Location, used: set[str]) -> Iterator[RuleError]:
    if pattern.emits == "hit" and pattern.id not in used:
        yield RuleError(where, f"no rule asks for pattern {pattern.id!r}")
    for costly, what in _COSTLY:
        if costly.search(pattern.search):
            yield RuleError(where, f"pattern {pattern.id!r} has {what}: matching would not be linear")
    if len(required_literal(pattern.search)) < MIN_LITERAL and not _has_words(pattern.search):
        yield RuleError(where, f"pattern {pattern.id!r} contains no literal of {MIN_LITERAL} characters")


def _has_words(regex: str) -> bool:
    """Whether alternatives, or words of any case, stand in for a literal."""
    return ("|" in regex or "(?i" in regex) and bool(re.search(r"[A-Za-z_ ]{4,}", regex))
