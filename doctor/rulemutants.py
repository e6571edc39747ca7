"""Rules that are each wrong in one small thing: what the examples of a rule must notice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.durations import format_duration
from neuron_doctor.engine.evaluate import Scene, evaluate
from neuron_doctor.engine.expressions import Expression, Junction, Test
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.ruleparts import (
    ConditionPart,
    ExpressionPart,
    Keys,
    QueryPart,
    children_of,
    conditions_of,
    expressions_of,
    operands_of,
    queries_of,
    with_where,
    written,
)

_OTHER_SIGN: Mapping[str, str] = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_OTHER_WORD: Mapping[str, str] = {"all": "any", "any": "all", "and": "or", "or": "and"}
_OTHER_QUANTIFIER: Mapping[str, str] = {
    "all": "any",
    "any": "all",
    "odd-one-out": "all-but-few",
    "all-but-few": "odd-one-out",
}
#: A window is made so many times longer, and shorter.
_WIDER = 10


class Mutant(Struct, frozen=True):
    """Another condition for a rule, what was changed in words, and where."""

    keys: Keys
    what: str
    when: cond.Condition


def mutants(rule: Rule) -> Iterator[Mutant]:
    """Every condition that differs from the rule's in one thing, each once."""
    seen = {rule.when}
    for mutant in _mutants(rule):
        if mutant.when not in seen:
            seen.add(mutant.when)
            yield mutant


def _mutants(rule: Rule) -> Iterator[Mutant]:
    for part in conditions_of(rule):
        yield from _of_condition(part)
        for query in queries_of(part):
            yield from _of_query(query)


def _of_condition(part: ConditionPart) -> Iterator[Mutant]:
    match part.node:
        case cond.Combination():
            yield from _of_combination(part, part.node)
        case cond.Count():
            yield from _of_count(part, part.node)
        case cond.Measure(within_ns=within_ns):
            for what, ns in _windows(within_ns):
                keys = (*part.keys, "measure", "within")
                yield Mutant(keys, what, part.instead(replace(part.node, within_ns=ns)))
        case cond.Sequence():
            yield from _of_sequence(part, part.node)
        case cond.Absent(after=after, within_ns=within_ns):
            keys = (*part.keys, "absent")
            yield Mutant(keys, f"only `{after.text}`, whatever comes after", part.instead(cond.Record(after)))
            for what, ns in _windows(within_ns):
                yield Mutant((*keys, "within"), what, part.instead(replace(part.node, within_ns=ns)))
        case cond.Over(quantifier=old):
            if new := _OTHER_QUANTIFIER.get(old):
                keys = (*part.keys, "over", "quantifier")
                yield Mutant(keys, f"{new} for {old}", part.instead(replace(part.node, quantifier=new)))


def _of_combination(part: ConditionPart, node: cond.Combination) -> Iterator[Mutant]:
    count = len(node.parts)
    if count > max(node.n, 1):  # without one of them it still can hold, or fail
        for at, child in enumerate(children_of(part, node)):
            rest = (*node.parts[:at], *node.parts[at + 1 :])
            yield Mutant(child.keys, f"without `{_written(child.node)}`", part.instead(replace(node, parts=rest)))
    if node.op in _OTHER_WORD and count > 1:
        new = _OTHER_WORD[node.op]
        yield Mutant((*part.keys, node.op), f"{new} for {node.op}", part.instead(replace(node, op=new)))
    if node.op == "at-least":
        for n in _neighbours(node.n, most=count):
            yield Mutant((*part.keys, "at_least"), f"at_least {n} for {node.n}", part.instead(replace(node, n=n)))


def _of_count(part: ConditionPart, node: cond.Count) -> Iterator[Mutant]:
    keys = (*part.keys, "count")
    for n in _neighbours(node.at_least):
        what = f"at_least {n} for {node.at_least}"
        yield Mutant((*keys, "at_least"), what, part.instead(replace(node, at_least=n)))
    for what, ns in _windows(node.within_ns):
        yield Mutant((*keys, "within"), what, part.instead(replace(node, within_ns=ns)))
    if node.distinct:
        yield Mutant((*keys, "distinct"), "records for distinct values", part.instead(replace(node, distinct=None)))


def _of_sequence(part: ConditionPart, node: cond.Sequence) -> Iterator[Mutant]:
    keys = (*part.keys, "sequence")
    for what, ns in _windows(node.within_ns):
        yield Mutant((*keys, "within"), what, part.instead(replace(node, within_ns=ns)))
    if node.until is not None:
        what = f"without until `{node.until.text}`"
        yield Mutant((*keys, "until"), what, part.instead(replace(node, until=None)))
    if node.by:
        yield Mutant((*keys, "by"), f"whatever `{node.by}` is", part.instead(replace(node, by=None)))
    for at, step in enumerate(node.steps):
        rest = (*node.steps[:at], *node.steps[at + 1 :])
        shorter = replace(node, steps=rest) if len(rest) > 1 else cond.Record(rest[0])
        yield Mutant((*keys, "steps", at), f"without `{step.text}`", part.instead(shorter))


def _of_query(query: QueryPart) -> Iterator[Mutant]:
    def with_other(where: Expression | None) -> cond.Condition:
        return query.instead(with_where(query.node, where))

    where = query.node.where
    if isinstance(where, Test) or (where is not None and where.op == "not"):
        yield Mutant(query.keys, f"without `{written(where)}`", with_other(None))
    for part in expressions_of(where, query.keys):
        for what, other in _of_expression(part):
            yield Mutant(query.keys, what, with_other(other))


def _of_expression(part: ExpressionPart) -> Iterator[tuple[str, Expression]]:
    """What else could stand in the place of an expression, in words, and the whole `where` then."""
    node = part.node
    if isinstance(node, Test):
        if sign := _OTHER_SIGN.get(node.op):
            other = replace(node, op=sign)
            yield f"`{written(other)}` for `{written(node)}`", part.instead(other)
        if node.op not in ("==", "!="):  # of which the other sign is the negation
            yield f"not `{written(node)}`", part.instead(Junction("not", (node,)))
    elif len(node.parts) > 1:
        for at, operand in enumerate(operands_of(part, node)):
            rest = (*node.parts[:at], *node.parts[at + 1 :])
            shorter = replace(node, parts=rest) if len(rest) > 1 else rest[0]
            yield f"without `{written(operand.node)}`", part.instead(shorter)
        new = _OTHER_WORD[node.op]
        yield f"{new} for {node.op} in `{written(node)}`", part.instead(replace(node, op=new))


def _windows(ns: int | None) -> Iterator[tuple[str, int]]:
    for other in (ns * _WIDER, ns // _WIDER) if ns else ():
        yield f"{format_duration(other)} for {format_duration(ns or 0)}", other


def _neighbours(n: int, most: int | None = None) -> Iterator[int]:
    if n > 1:
        yield n - 1
    if most is None or n < most:
        yield n + 1


def _written(condition: cond.Condition) -> str:
    """A condition in a few words."""
    if isinstance(condition, cond.Combination):
        return f"{condition.op} of {len(condition.parts)}"
    return evaluate(condition, Scene({})).op
