"""The one expression of the rule language: which record is meant, and what its fields must be."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from neuron_doctor.engine.regexes import regex

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


class Version(Struct, frozen=True, order=True):
    """A version as a rule names it: its numbers, without zeros at the end, so that 2.20 is 2.20.0."""

    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return f"v{'.'.join(map(str, self.numbers or (0,)))}"


def version_of(text: str) -> Version | None:
    """The version that a text begins with (`2.20.204.0-1a2b`, `v2.21`); None where it begins with no number."""
    found = _VERSION.match(text)
    if found is None:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return Version(tuple(numbers))


_VERSION = regex(r"v?(\d{1,9}(?:\.\d{1,9}){0,9})", re.ASCII)


class Test(Struct, frozen=True, cache_hash=True):
    """One comparison. `op` is a comparison sign, `in`, `known`, `contains` or `starts`."""

    field: str
    op: str
    value: Value | Version = None
    column: int = 1


class Junction(Struct, frozen=True, cache_hash=True):
    """`and`, `or`, or `not` over tests; three-valued, so an unknown field never decides by itself."""

    op: str
    parts: tuple[Expression, ...]


Expression = Test | Junction


def tests_of(expression: Expression | None) -> Iterator[Test]:
    """The comparisons of an expression, in their order."""
    if isinstance(expression, Test):
        yield expression
    elif expression is not None:
        for part in expression.parts:
            yield from tests_of(part)


class RecordQuery(Struct, frozen=True, cache_hash=True):
    """Records of one pattern or kind (`name`) for which `where` holds."""

    name: str
    where: Expression | None
    text: str


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
    return kleene(expression.op, (holds(part, fact) for part in expression.parts))


def kleene(op: str, values: Iterable[bool | None]) -> bool | None:
    """`and`, `or`, `not` in three-valued logic. Nothing is looked at behind the value that decides."""
    decisive = op == "or"
    unknown = False
    for value in values:
        if op == "not":
            return None if value is None else not value
        if value is decisive:
            return decisive
        unknown |= value is None
    return None if unknown else not decisive


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
    told = version_of(str(value)) if isinstance(test.value, Version) else value
    return None if told is None else _COMPARE[test.op](told, test.value)
