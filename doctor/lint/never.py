"""Conditions that nothing can meet: tests that contradict each other, values that a capture cannot have, and their like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from neuron_doctor.engine.conditions import Combination, Condition, Record, anchors, queries
from neuron_doctor.engine.expressions import Expression, Junction, RecordQuery, Test
from neuron_doctor.engine.loosening import group_end
from neuron_doctor.engine.patterns import Pattern, capture_type
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.lint.pairs import implies
from neuron_doctor.lint.remarks import Remark

_COMPARED = frozenset({"<", "<=", ">", ">="})
_LOOKS_AROUND = re.compile(r"\(\?[=!<]|\\b|\\[1-9]|\(\?P=|\^|\$")


def never_fires(rule: Rule, patterns: Mapping[str, Pattern]) -> Iterator[Remark]:
    """Why a rule can never fire, if that can be shown."""
    why = _impossible(rule.when, patterns)
    if why:
        yield Remark("never-fires", rule.location.path, ("when",), f"rule {rule.id!r} can never fire: {why}")
    elif not any(True for _ in anchors(rule.when)) and not _asks_for_findings(rule.when):
        said = f"rule {rule.id!r} can never fire: it only says what must not be there"
        yield Remark("never-fires", rule.location.path, ("when",), said, "combine it with what must be there")


def _asks_for_findings(condition: Condition) -> bool:
    if isinstance(condition, Combination):
        return condition.op != "none" and any(map(_asks_for_findings, condition.parts))
    return not any(True for _ in queries(condition))


def _impossible(condition: Condition, patterns: Mapping[str, Pattern]) -> str:
    """Why nothing can meet a condition; empty if something may."""
    if not isinstance(condition, Combination):
        # A record that is asked to be absent may well be impossible; those that must be there may not.
        return next(filter(None, (_impossible_record(query, patterns) for query in anchors(condition))), "")
    if condition.op == "none":
        return ""
    faults = [_impossible(part, patterns) for part in condition.parts]
    possible = [fault for fault in faults if not fault]
    if condition.op == "at-least" and condition.n > len(condition.parts):
        return f"{condition.n} of {len(condition.parts)} parts are wanted"
    if condition.op == "any":
        return next(iter(faults), "") if not possible else ""
    if condition.op == "at-least":
        return next(filter(None, faults), "") if len(possible) < condition.n else ""
    return next(filter(None, faults), "") or _denied(condition.parts)


def _denied(parts: Sequence[Condition]) -> str:
    """Whether one part of `all` asks for what another forbids."""
    forbidden = [one for part in parts if isinstance(part, Combination) and part.op == "none" for one in part.parts]
    for part in parts:
        for never in forbidden:
            if part is not never and isinstance(never, Record) and implies(part, never):
                return f"`none` forbids {never.query.text!r}, which another part of `all` asks for"
    return ""


def _impossible_record(query: RecordQuery, patterns: Mapping[str, Pattern]) -> str:
    return _contradiction(query.where, patterns.get(query.name)) if query.where else ""


def _contradiction(expression: Expression, pattern: Pattern | None) -> str:
    if isinstance(expression, Test):
        return _unheard(expression, pattern) if pattern else ""
    if expression.op == "not":
        return ""
    faults = [_contradiction(part, pattern) for part in expression.parts]
    if expression.op == "or":
        return faults[0] if all(faults) else ""
    return next(filter(None, faults), "") or _at_odds(expression)


def _at_odds(conjunction: Junction) -> str:
    """Two tests of one field that no value passes."""
    tests = [part for part in conjunction.parts if isinstance(part, Test)]
    unknown = {
        part.parts[0].field
        for part in conjunction.parts
        if isinstance(part, Junction)
        and part.op == "not"
        and isinstance(part.parts[0], Test)
        and part.parts[0].op == "known"
    }
    for i, one in enumerate(tests):
        if one.field in unknown:
            return f"{one.field!r} is asked for, and to be unknown"
        for other in tests[i + 1 :]:
            if one.field == other.field and _exclusive(one, other):
                return f"no {one.field!r} is {_said(one)} and {_said(other)}"
    return ""


def _said(test: Test) -> str:
    return f"{test.op} {test.value!r}"


def _exclusive(one: Test, other: Test) -> bool:
    for test, second in ((one, other), (other, one)):
        if test.op in ("==", "in"):
            values = test.value if isinstance(test.value, tuple) else (test.value,)
            return not any(_passes(value, second) for value in values)
    if one.op in _COMPARED and other.op in _COMPARED and one.op[0] != other.op[0]:
        low, high = (one, other) if one.op[0] == ">" else (other, one)
        if isinstance(low.value, int | float) and isinstance(high.value, int | float):
            return low.value > high.value or (low.value == high.value and "=" not in min(low.op, high.op, key=len))
    return False


def _passes(value: object, test: Test) -> bool:
    """Whether a value may pass a test; yes where that is not sure."""
    known: Mapping[str, object] = {
        "==": value == test.value,
        "!=": value != test.value,
        "in": isinstance(test.value, tuple) and value in test.value,
    }
    if test.op in known:
        return bool(known[test.op])
    if test.op in _COMPARED and isinstance(value, int | float) and isinstance(test.value, int | float):
        return {"<": value < test.value, "<=": value <= test.value, ">": value > test.value, ">=": value >= test.value}[
            test.op
        ]
    if test.op == "contains" and isinstance(value, str):
        return str(test.value) in value
    if test.op == "starts" and isinstance(value, str):
        return value.startswith(str(test.value))
    return True


def _unheard(test: Test, pattern: Pattern) -> str:
    """Whether a capture can have none of the values that are asked for."""
    if test.op not in ("==", "in") or test.field in pattern.values:
        return ""
    inner = _capture(pattern.regex, test.field)
    if inner is None or capture_type(pattern, test.field) != "str":
        return ""
    values = test.value if isinstance(test.value, tuple) else (test.value,)
    flags = re.IGNORECASE if "(?i" in pattern.regex else 0
    if any(
        re.fullmatch(rf"\s*(?:{inner})\s*", f"{before}{value}{after}", flags)
        for value in values
        for before in ("", " ")
        for after in ("", " ")
    ):
        return ""
    return f"the capture {test.field!r} of {pattern.id!r} is `{inner}`, never {' or '.join(map(repr, values))}"


def _capture(regex: str, name: str) -> str | None:
    """The expression of a named group; None where it depends on what is around it."""
    opening = f"(?P<{name}>"
    start = regex.find(opening)
    if start < 0:
        return None
    inner = regex[start + len(opening) : group_end(regex, start) - 1]
    return None if _LOOKS_AROUND.search(inner) else inner
