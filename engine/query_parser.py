"""Reads the expressions of rules: text to the nodes of `expressions`, with the place of what is wrong. Only for compiling
rules: a run with a compiled rulebook needs no parser."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lark import Lark, Token, Transformer, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from neuron_doctor.engine.expressions import (
    PLACE_FIELDS,
    Expression,
    Junction,
    RecordQuery,
    Test,
    Version,
    tests_of,
    version_of,
)
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.unlinked import near

if TYPE_CHECKING:
    from neuron_doctor.engine.facts import Value
    from neuron_doctor.engine.kinds import FieldType


#: What asks which of two comes first.
_ORDER = frozenset({"<", "<=", ">", ">="})


class BadExpression(ValueError):
    """An expression that cannot be read or does not fit the record; `column` counts from 1 within the expression, `check` is
    the id of what it breaks."""

    def __init__(self, message: str, column: int = 1, hint: str = "", check: str = "expression") -> None:
        super().__init__(message)
        self.column = column
        self.hint = hint
        self.check = check


class _Builder(Transformer[Token, tuple[str, Expression | None]]):
    """Turns lark's tree into the name of a record and the nodes above; `values` are those of the parameters."""

    def __init__(self, values: Mapping[str, Value | Version]) -> None:
        super().__init__()
        self._values = values

    def start(self, items: list[Any]) -> tuple[str, Expression | None]:
        name, *where = items
        return str(name), where[0] if where else None

    def number(self, items: list[Token]) -> float | int:
        return float(items[0]) if "." in items[0] else int(items[0])

    def string(self, items: list[Token]) -> str:
        return str(items[0])[1:-1]

    def version(self, items: list[Token]) -> Version | None:
        return version_of(str(items[0]))

    def parameter(self, items: list[Token]) -> Value | Version:
        return self._values[items[0][1:]]

    def true(self, _: list[Token]) -> bool:
        return True

    def false(self, _: list[Token]) -> bool:
        return False

    def comparison(self, items: list[Token]) -> Test:
        return Test(str(items[0]), str(items[1]), items[2], items[0].column or 1)

    def membership(self, items: list[Token]) -> Test:
        return Test(str(items[0]), "in", tuple(items[1:]), items[0].column or 1)

    def membership_of(self, items: list[Token]) -> Test:
        return Test(str(items[0]), "in", self._values[items[1][1:]], items[0].column or 1)

    def known(self, items: list[Token]) -> Test:
        return Test(str(items[0]), "known", None, items[0].column or 1)

    def contains(self, items: list[Any]) -> Test:
        return Test(str(items[0]), "contains", items[1], items[0].column or 1)

    def starts_with(self, items: list[Any]) -> Test:
        return Test(str(items[0]), "starts", items[1], items[0].column or 1)

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


def parse_query(text: str, values: Mapping[str, Value | Version] | None = None) -> RecordQuery:
    """Read one record expression; the `values` of parameters take their places, in its text too. Raises BadExpression with the
    column of what was not understood."""
    tree, known = _tree(text), values or {}
    referred = _referred(tree)
    for token in referred:
        if token[1:] not in known:
            raise BadExpression(
                f"there is no parameter {token}", token.column or 1, near_parameter(token, known), "name"
            )
    name, where = _Builder(known).transform(tree)
    for token in reversed(referred):
        text = text[: token.start_pos] + as_written(known[token[1:]]) + text[token.end_pos :]
    return RecordQuery(name, where, text)


def parameters_in(text: str) -> dict[str, int]:
    """The parameters that an expression refers to, each with the column where it first does. Raises BadExpression."""
    if "$" not in text:
        return {}
    return {token[1:]: token.column or 1 for token in reversed(_referred(_tree(text)))}


def _tree(text: str) -> Tree[Token]:
    try:
        return _parser().parse(text)
    except UnexpectedInput as error:
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        column = len(text) + 1 if at_end else max(error.column, 1)
        raise BadExpression(f"cannot read {text!r}", column, _wanted(error, text, at_end=at_end)) from error


def _referred(tree: Tree[Token]) -> list[Token]:
    """The references to parameters, in their order."""
    return sorted(tree.scan_values(_is_parameter), key=lambda token: token.start_pos or 0)


def near_parameter(name: str, known: Iterable[str]) -> str:
    """What to write for a parameter that is not there."""
    names = [f"${one}" for one in known]
    return near(name, names) or (f"there are: {', '.join(names)}" if names else "declare it below `parameters`")


def _is_parameter(value: object) -> bool:
    return isinstance(value, Token) and value.type == "PARAMETER"


def as_written(value: Value | Version) -> str:
    """A value as an author would write it in an expression."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(as_written, value))}]"
    return str(value) if isinstance(value, Version) else json.dumps(value, ensure_ascii=False)


#: Terminals of the grammar, as authors write them, in the order in which they are told.
_WORDS = {
    "NAME": "a pattern or a kind of fact",
    "WHERE": "`where`",
    "FIELD": "a field",
    "NOT": "`not`",
    "OPERATOR": "== != < <= > >=",
    "IN": "`in [...]`",
    "IS": "`is known`",
    "KNOWN": "`known`",
    "CONTAINS": "`contains`",
    "STARTS": "`starts with`",
    "WITH": "`with`",
    "NUMBER": "a number",
    "STRING": '"text" in double quotes',
    "PARAMETER": "a $parameter",
    "TRUE": "true or false",
    "AND": "`and`",
    "OR": "`or`",
    "LSQB": "[",
    "COMMA": "a comma",
    "RSQB": "]",
    "RPAR": ")",
}


#: What other languages write -> what is written here.
_HERE = {
    "&&": "write `and`",
    "and": "write `and` in small letters",
    "||": "write `or`",
    "or": "write `or` in small letters",
    "!": "write `not (...)`",
    "=": "write `==`",
    "=~": "what a text must match is a pattern of its own; here there are `contains` and `starts with`",
    "~": "what a text must match is a pattern of its own; here there are `contains` and `starts with`",
    "matches": "what a text must match is a pattern of its own; here there are `contains` and `starts with`",
    "like": "write `contains` or `starts with`",
    "<>": "write `!=`",
    "not in": "write `not (FIELD in [...])`",
    "not known": "write `not (FIELD is known)`",
    "null": "write `not (FIELD is known)`",
    "none": "write `not (FIELD is known)`",
    "startswith": "write `starts with`",
    "ends": "there is `contains` and `starts with`; what a text must end with is for a pattern",
}
_FOREIGN = regex(
    r"(?i)(?:&&|\|\||=~|~|<>|=(?!=)|!(?!=)|not in\b|not known\b|(?:and|or|matches|like|null|none|startswith|ends)\b)"
)
_UNMARKED = regex(r"(?<![\w.])\d+\.\d+\.$")
_VERSION = regex(r"v?\d+(?:\.\d+)+")


def _wanted(error: UnexpectedInput, text: str, *, at_end: bool) -> str:
    """What could stand where an expression cannot be read."""
    may: set[str] = set(getattr(error, "accepts", None) or getattr(error, "expected", None) or ())
    may |= set(getattr(error, "allowed", None) or ())
    may -= {*(() if "[" in text else ("COMMA", "RSQB")), *(() if "(" in text else ("RPAR",))}
    foreign = _FOREIGN.match(text, 0 if at_end else max(error.column - 1, 0))
    if foreign and not at_end:
        return _HERE[foreign[0].lower()]
    if not at_end and _UNMARKED.search(text, 0, error.column):
        return "a version begins with v, such as v2.20.1"
    said = [words for name, words in _WORDS.items() if name in may]
    return f"{'it ends too early: ' if at_end else ''}here may stand {', '.join(said)}" if said else ""


def check_types(query: RecordQuery, fields: Mapping[str, FieldType]) -> None:
    """Every field must exist on this record with a type that fits its value. Raises BadExpression for the first that
    does not."""
    known = {**PLACE_FIELDS, **fields}
    for test in tests_of(query.where):
        if test.field not in known:
            hint = near(test.field, known) or f"it has: {', '.join(sorted(fields))}"
            raise BadExpression(f"{query.name} has no field {test.field!r}", test.column, hint)
        _check_shape(test)
        values = test.value if isinstance(test.value, tuple) else (test.value,)
        for value in values:
            if isinstance(value, Version):
                _check_version(test, known[test.field])
            elif test.op != "known" and not _fits(known[test.field], value):
                said = f"{test.field!r} is of type {known[test.field]}, {as_written(value)} is not"
                raise BadExpression(said, test.column, _other_type(known[test.field], value))
            elif test.op in _ORDER and isinstance(value, str) and _VERSION.fullmatch(value):
                said = f"text is compared letter by letter: {as_written(value)} would be before or after the wrong ones"
                raise BadExpression(said, test.column, f"write the version without quotes: v{value.removeprefix('v')}")


def _other_type(kind: FieldType, value: Value) -> str:
    """What to write instead of a value that is of another type than its field."""
    if kind == "str" and isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(value, float):
            return "write a version as v2.20, and text in quotes"
        return f'write text in quotes: "{value}", or give the capture a type: `fields`'
    if kind in ("int", "float"):
        return "write a number, without quotes"
    return "write true or false" if kind == "bool" else ""


def _check_shape(test: Test) -> None:
    """A list stands behind `in`, and only there; `contains` and `starts with` want text. Only parameters can break that."""
    of_lists = isinstance(test.value, tuple) and any(isinstance(one, tuple) for one in test.value)
    if of_lists or isinstance(test.value, tuple) is not (test.op == "in"):
        hint = "write `in $name` without brackets for a list, `in [$name]` for a single value, `==` for equality"
        raise BadExpression("a list stands behind `in`, and nothing but a list does", test.column, hint)
    if test.op in ("contains", "starts") and not isinstance(test.value, str):
        raise BadExpression(f"only text can be asked for here, not {as_written(test.value)}", test.column)


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
