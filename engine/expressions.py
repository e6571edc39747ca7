"""The one expression of the rule language: which record is meant, and what its fields must be."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, UnexpectedToken

if TYPE_CHECKING:
    from neuron_doctor.engine.facts import Fact, Value
    from neuron_doctor.engine.kinds import FieldType

#: Fields that every record has, because every fact has a place. Rules name them without a prefix.
PLACE_FIELDS: Mapping[str, FieldType] = {
    "job": "str",
    "attempt": "int",
    "host": "str",
    "instance_id": "str",
    "container": "str",
    "pid": "int",
    "rank": "int",
    "local_rank": "int",
    "device": "int",
    "core": "int",
    "group": "str",
    "ranks": "list",
}

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class BadExpression(ValueError):
    """An expression that cannot be read or does not fit the record; `column` counts from 1 within the expression."""

    def __init__(self, message: str, column: int = 1, hint: str = "") -> None:
        super().__init__(message)
        self.column = column
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Test:
    """One comparison. `op` is a comparison sign, `in`, `known`, `contains` or `starts`."""

    field: str
    op: str
    value: Value = None
    column: int = 1


@dataclass(frozen=True, slots=True)
class Junction:
    """`and`, `or`, or `not` over tests; three-valued, so an unknown field never decides by itself."""

    op: str
    parts: tuple[Expression, ...]


Expression = Test | Junction


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """Records of one pattern or kind (`name`) for which `where` holds."""

    name: str
    where: Expression | None
    text: str


class _Builder(Transformer[Token, tuple[str, Expression | None]]):
    """Turns lark's tree into the name of a record and the dataclasses above."""

    def start(self, items: list[Any]) -> tuple[str, Expression | None]:
        name, *where = items
        return str(name), where[0] if where else None

    def number(self, items: list[Token]) -> float | int:
        return float(items[0]) if "." in items[0] else int(items[0])

    def string(self, items: list[Token]) -> str:
        return str(items[0])[1:-1]

    def true(self, _: list[Token]) -> bool:
        return True

    def false(self, _: list[Token]) -> bool:
        return False

    def comparison(self, items: list[Token]) -> Test:
        return Test(str(items[0]), str(items[1]), items[2], items[0].column or 1)

    def membership(self, items: list[Token]) -> Test:
        return Test(str(items[0]), "in", tuple(items[1:]), items[0].column or 1)

    def known(self, items: list[Token]) -> Test:
        return Test(str(items[0]), "known", None, items[0].column or 1)

    def contains(self, items: list[Token]) -> Test:
        return Test(str(items[0]), "contains", str(items[1])[1:-1], items[0].column or 1)

    def starts_with(self, items: list[Token]) -> Test:
        return Test(str(items[0]), "starts", str(items[1])[1:-1], items[0].column or 1)

    def negated(self, items: list[Expression]) -> Junction:
        return Junction("not", tuple(items))

    def conjunction(self, items: list[Expression]) -> Junction:
        return Junction("and", tuple(items))

    def disjunction(self, items: list[Expression]) -> Junction:
        return Junction("or", tuple(items))


@cache
def _parser() -> Lark:
    grammar = (files("neuron_doctor.engine") / "record.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=False)


def parse_query(text: str) -> RecordQuery:
    """Read one record expression. Raises BadExpression with the column of what was not understood."""
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        raise BadExpression(f"cannot read {text!r}", len(text) + 1 if at_end else max(error.column, 1)) from error
    name, where = _Builder().transform(tree)
    return RecordQuery(name, where, text)


def _tests(expression: Expression | None) -> Iterator[Test]:
    if isinstance(expression, Test):
        yield expression
    elif expression is not None:
        for part in expression.parts:
            yield from _tests(part)


def check_types(query: RecordQuery, fields: Mapping[str, FieldType]) -> None:
    """Every field must exist on this record with a type that fits its value. Raises BadExpression for the first that
    does not."""
    known = {**PLACE_FIELDS, **fields}
    for test in _tests(query.where):
        if test.field not in known:
            near = difflib.get_close_matches(test.field, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(sorted(fields))}"
            raise BadExpression(f"{query.name} has no field {test.field!r}", test.column, hint)
        values = test.value if isinstance(test.value, tuple) else (test.value,)
        for value in values:
            if test.op != "known" and not _fits(known[test.field], value):
                raise BadExpression(f"{test.field!r} is of type {known[test.field]}, {value!r} is not", test.column)


def _fits(kind: FieldType, value: Value) -> bool:
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and isinstance(value, bool)
    if kind in ("int", "float"):
        return isinstance(value, int | float)
    return isinstance(value, str) if kind == "str" else True


def field_of(fact: Fact, name: str) -> Value:
    """The value of a field of a record: its own, else its place's; None where unknown."""
    value = fact.data.get(name)
    if value is None and name in PLACE_FIELDS:
        value = getattr(fact.place, name)
    return value


def holds(expression: Expression | None, fact: Fact) -> bool | None:
    """Three-valued: None where a field that decides is not known."""
    if expression is None:
        return True
    if isinstance(expression, Test):
        return _test_holds(expression, field_of(fact, expression.field))
    return kleene(expression.op, [holds(part, fact) for part in expression.parts])


def kleene(op: str, values: list[bool | None]) -> bool | None:
    """`and`, `or`, `not` in three-valued logic."""
    if op == "not":
        return None if values[0] is None else not values[0]
    decisive = op == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def _test_holds(test: Test, value: Value) -> bool | None:
    if test.op == "known":
        return value not in (None, "", ())
    if value is None:
        return None
    if test.op == "in":
        return isinstance(test.value, tuple) and value in test.value
    if test.op == "contains":
        return isinstance(value, str | tuple) and str(test.value) in value
    if test.op == "starts":
        return str(value).startswith(str(test.value))
    return _COMPARE[test.op](value, test.value)
