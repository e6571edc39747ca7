"""The parts of a rule's condition, each with where it stands in the rule's file and the whole with another part in its stead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.expressions import Expression, Junction, RecordQuery
from neuron_doctor.engine.query_parser import as_written
from neuron_doctor.engine.rulebook import Rule

T = TypeVar("T")
Whole = TypeVar("Whole")

#: The way to a part in the rule's file: keys and indexes from the top.
Keys = tuple[str | int, ...]


class Part(Struct, Generic[T, Whole], frozen=True):
    """A condition or a record query within the condition of a rule, or an expression within a `where`. `wanted`: the whole
    needs it to hold, not to fail (as what stands below `none` or `not`). `instead`: the whole with another in its place."""

    keys: Keys
    node: T
    wanted: bool
    instead: Callable[[T], Whole]


ConditionPart = Part[cond.Condition, cond.Condition]
QueryPart = Part[RecordQuery, cond.Condition]
ExpressionPart = Part[Expression, Expression]


def conditions_of(rule: Rule) -> Iterator[ConditionPart]:
    """The whole condition of a rule and everything below it, in the order in which it is written."""
    return _conditions(Part(("when",), rule.when, True, lambda other: other))


def _conditions(part: ConditionPart) -> Iterator[ConditionPart]:
    yield part
    if isinstance(part.node, cond.Combination):
        for child in children_of(part, part.node):
            yield from _conditions(child)


def children_of(part: ConditionPart, node: cond.Combination) -> Iterator[ConditionPart]:
    """The parts of a combination, which is the node of `part`."""
    key, wanted = "of" if node.op == "at-least" else node.op, part.wanted is not (node.op == "none")
    for at, child in enumerate(node.parts):

        def instead(other: cond.Condition, at: int = at) -> cond.Condition:
            return part.instead(replace(node, parts=(*node.parts[:at], other, *node.parts[at + 1 :])))

        yield Part((*part.keys, key, at), child, wanted, instead)


def queries_of(part: ConditionPart) -> Iterator[QueryPart]:
    """The record queries of a single condition; none of a combination, whose parts have theirs."""
    node, put = part.node, part.instead
    match node:
        case cond.Record(query=query):
            yield Part((*part.keys, "record"), query, part.wanted, lambda q: put(replace(node, query=q)))
        case cond.Count(query=query):
            yield Part((*part.keys, "count", "of"), query, part.wanted, lambda q: put(replace(node, query=q)))
        case cond.Measure(query=query):
            yield Part((*part.keys, "measure", "of"), query, part.wanted, lambda q: put(replace(node, query=q)))
        case cond.Over(have=query):
            yield Part((*part.keys, "over", "have"), query, part.wanted, lambda q: put(replace(node, have=q)))
        case cond.Absent(after=after, query=query):
            keys = (*part.keys, "absent")
            yield Part((*keys, "after"), after, part.wanted, lambda q: put(replace(node, after=q)))
            yield Part((*keys, "record"), query, not part.wanted, lambda q: put(replace(node, query=q)))
        case cond.Sequence(steps=steps, until=until):
            for at, step in enumerate(steps):

                def instead(q: RecordQuery, at: int = at, steps: tuple[RecordQuery, ...] = steps) -> cond.Condition:
                    return put(replace(node, steps=(*steps[:at], q, *steps[at + 1 :])))

                yield Part((*part.keys, "sequence", "steps", at), step, part.wanted, instead)
            if until is not None:
                keys = (*part.keys, "sequence", "until")
                yield Part(keys, until, not part.wanted, lambda q: put(replace(node, until=q)))


def expressions_of(where: Expression | None, keys: Keys) -> Iterator[ExpressionPart]:
    """Everything in the `where` of a query that stands there, from the whole to the comparisons."""
    if where is not None:
        yield from _expressions(Part(keys, where, wanted=True, instead=lambda other: other))


def _expressions(part: ExpressionPart) -> Iterator[ExpressionPart]:
    yield part
    if isinstance(part.node, Junction):
        for child in operands_of(part, part.node):
            yield from _expressions(child)


def operands_of(part: ExpressionPart, node: Junction) -> Iterator[ExpressionPart]:
    """What a junction, which is the node of `part`, joins."""
    for at, child in enumerate(node.parts):

        def instead(other: Expression, at: int = at) -> Expression:
            return part.instead(replace(node, parts=(*node.parts[:at], other, *node.parts[at + 1 :])))

        yield Part(part.keys, child, part.wanted is not (node.op == "not"), instead)


def with_where(query: RecordQuery, where: Expression | None) -> RecordQuery:
    """The query with another `where`, and a text that says so."""
    return replace(query, where=where, text=f"{query.name} where {written(where)}" if where else query.name)


def written(expression: Expression) -> str:
    """An expression as an author would write it."""
    if isinstance(expression, Junction):
        parts = [f"({written(part)})" if isinstance(part, Junction) else written(part) for part in expression.parts]
        return f"not {parts[0]}" if expression.op == "not" else f" {expression.op} ".join(parts)
    if expression.op == "known":
        return f"{expression.field} is known"
    op = "starts with" if expression.op == "starts" else expression.op
    return f"{expression.field} {op} {as_written(expression.value)}"
