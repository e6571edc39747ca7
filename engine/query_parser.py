"""Reads the expressions of rules: text to the nodes of `expressions`, with the place of what is wrong. Only for compiling
rules: a run with a compiled rulebook needs no parser."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, UnexpectedToken

from neuron_doctor.engine.expressions import PLACE_FIELDS, Expression, Junction, RecordQuery, Test, Version, version_of

if TYPE_CHECKING:
    from neuron_doctor.engine.facts import Value
    from neuron_doctor.engine.kinds import FieldType


class BadExpression(ValueError):
    """An expression that cannot be read or does not fit the record; `column` counts from 1 within the expression."""

    def __init__(self, message: str, column: int = 1, hint: str = "") -> None:
        super().__init__(message)
        self.column = column
        self.hint = hint


class _Builder(Transformer[Token, tuple[str, Expression | None]]):
    """Turns lark's tree into the name of a record and the nodes above."""

    def start(self, items: list[Any]) -> tuple[str, Expression | None]:
        name, *where = items
        return str(name), where[0] if where else None

    def number(self, items: list[Token]) -> float | int:
        return float(items[0]) if "." in items[0] else int(items[0])

    def string(self, items: list[Token]) -> str:
        return str(items[0])[1:-1]

    def version(self, items: list[Token]) -> Version | None:
        return version_of(str(items[0]))

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
        column = len(text) + 1 if at_end else max(error.column, 1)
        raise BadExpression(f"cannot read {text!r}", column, _wanted(error, text, at_end=at_end)) from error
    name, where = _Builder().transform(tree)
    return RecordQuery(name, where, text)


#: Terminals of the grammar, as authors write them, in the order in which they are told.
_WORDS = {
    "NAME": "a pattern or a kind of fact",
    "WHERE": "`where`",
    "FIELD": "a field",
    "OPERATOR": "== != < <= > >=",
    "IN": "`in [...]`",
    "IS": "`is known`",
    "KNOWN": "`known`",
    "CONTAINS": "`contains`",
    "STARTS": "`starts with`",
    "WITH": "`with`",
    "NUMBER": "a number",
    "STRING": '"text" in double quotes',
    "TRUE": "true or false",
    "AND": "`and`",
    "OR": "`or`",
    "LSQB": "[",
    "COMMA": "a comma",
    "RSQB": "]",
    "RPAR": ")",
}


def _wanted(error: UnexpectedInput, text: str, *, at_end: bool) -> str:
    """What could stand where an expression cannot be read."""
    may: set[str] = set(getattr(error, "accepts", None) or getattr(error, "expected", None) or ())
    may |= set(getattr(error, "allowed", None) or ())
    may -= {*(() if "[" in text else ("COMMA", "RSQB")), *(() if "(" in text else ("RPAR",))}
    said = [words for name, words in _WORDS.items() if name in may]
    return f"{'it ends too early: ' if at_end else ''}here may stand {', '.join(said)}" if said else ""


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
            if isinstance(value, Version):
                _check_version(test, known[test.field])
            elif test.op != "known" and not _fits(known[test.field], value):
                raise BadExpression(f"{test.field!r} is of type {known[test.field]}, {value!r} is not", test.column)


def _check_version(test: Test, kind: FieldType) -> None:
    if kind != "str":
        raise BadExpression(f"{test.field!r} is of type {kind}, and a version is compared with text", test.column)
    if test.op == "in":
        hint = "compare with ==, !=, <, <=, > or >=, joined by `or`"
        raise BadExpression("a version cannot stand in a list", test.column, hint)


def _fits(kind: FieldType, value: Value) -> bool:
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and isinstance(value, bool)
    if kind in ("int", "float"):
        return isinstance(value, int | float)
    return isinstance(value, str) if kind == "str" else True
