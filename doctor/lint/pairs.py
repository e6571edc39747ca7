"""Checks of rules and patterns beside each other: the same twice, and what another always hides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neuron_doctor.engine.conditions import Combination, Condition, Record
from neuron_doctor.engine.expressions import Expression, Junction, RecordQuery
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.lint.remarks import Remark

#: From what one finding is about to what it may be about, the narrow first.
_SCOPES = ("record", "core", "device", "process", "rank", "host", "job")


def check_pairs(rulebook: Rulebook) -> Iterator[Remark]:
    """Rules that say the same or hide each other, patterns that look for the same."""
    yield from _same_rules(rulebook.rules)
    by_id = {rule.id: rule for rule in rulebook.rules}
    for rule in rulebook.rules:
        for name in sorted(rule.supersedes & by_id.keys()):
            if _always_hides(rule, by_id[name]):
                said = f"rule {name!r} is shadowed: wherever it fires, {rule.id!r} fires and supersedes it"
                yield Remark("shadowed-rule", by_id[name].location.path, ("when",), said)
    yield from _same_patterns(rulebook)


def _same_rules(rules: Sequence[Rule]) -> Iterator[Remark]:
    first: dict[tuple[Condition, str], Rule] = {}
    for rule in sorted(rules, key=lambda rule: rule.id):
        other = first.setdefault((rule.when, rule.at), rule)
        if other is not rule:
            said = f"rule {rule.id!r} has the condition of {other.id!r} ({other.location.path})"
            yield Remark("duplicate-rule", rule.location.path, ("when",), said)


def _same_patterns(rulebook: Rulebook) -> Iterator[Remark]:
    first: dict[object, Pattern] = {}
    for pattern in rulebook.patterns.patterns:
        key = (pattern.regex, pattern.channel, pattern.emits, tuple(sorted(pattern.values.items())), pattern.anchor)
        other = first.setdefault(key, pattern)
        if other is not pattern:
            where = rulebook.pattern_locations[pattern.id]
            said = f"pattern {pattern.id!r} looks for what {other.id!r} looks for"
            hint = f"that one stands at {rulebook.pattern_locations[other.id]}"
            yield Remark("duplicate-pattern", where.path, ("patterns", pattern.id, "regex"), said, hint)


def _always_hides(rule: Rule, hidden: Rule) -> bool:
    """Whether a rule fires, at the same places or wider ones, wherever the one that it supersedes does."""
    wider = _SCOPES.index(rule.at) >= _SCOPES.index(hidden.at)
    return wider and rule.id != hidden.id and implies(hidden.when, rule.when)


def implies(one: Condition, other: Condition) -> bool:
    """Whether what meets `one` meets `other` for sure. No is no proof."""
    if one == other:
        return True
    if isinstance(one, Combination) and one.op == "any":
        return all(implies(part, other) for part in one.parts)
    if isinstance(one, Combination) and isinstance(other, Combination) and other.op == "all":
        return all(implies(one, part) for part in other.parts)
    if isinstance(other, Combination) and other.op == "any":
        return any(implies(one, part) for part in other.parts)
    if isinstance(one, Combination) and one.op == "all":
        return any(implies(part, other) for part in one.parts)
    return isinstance(one, Record) and isinstance(other, Record) and _narrower(one.query, other.query)


def _narrower(one: RecordQuery, other: RecordQuery) -> bool:
    if one.name != other.name:
        return False
    return other.where is None or set(_conjuncts(other.where)) <= set(_conjuncts(one.where))


def _conjuncts(expression: Expression | None) -> Iterator[object]:
    """The parts that must all hold, without the columns at which they are written."""
    if isinstance(expression, Junction) and expression.op == "and":
        for part in expression.parts:
            yield from _conjuncts(part)
    elif expression is not None:
        yield _bare(expression)


def _bare(expression: Expression) -> object:
    if isinstance(expression, Junction):
        return (expression.op, tuple(map(_bare, expression.parts)))
    return (expression.field, expression.op, expression.value)
