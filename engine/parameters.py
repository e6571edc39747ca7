"""Parameters of rules: values that are a matter of the site, each with a type, a default, and what it means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from neuron_doctor.engine.durations import BadDuration, parse_duration
from neuron_doctor.engine.errors import Location
from neuron_doctor.engine.expressions import Version, version_of
from neuron_doctor.engine.regexes import regex

ParameterType = Literal["int", "float", "str", "bool", "list", "duration", "version"]
#: A value as authors write it, and as conditions use it: a duration is a number of nanoseconds there, a list a tuple.
Said = str | int | float | bool | list[str | int | float]
Meant = str | int | float | bool | Version | tuple[str | int | float, ...]

_ORDERED = frozenset({"int", "float", "duration"})
_VERSION = regex(r"v?\d{1,9}(?:\.\d{1,9}){0,9}")


class BadValue(ValueError):
    """A value is not of its parameter's type, or out of its bounds; the message says what is wanted."""


class Parameter(Struct, frozen=True):
    """A parameter with the value that it has in this rulebook. `name` is what the site file calls it: `RULE.NAME` if it belongs
    to one rule, or `NAME` alone if rules share it. `tuned`: the value is the site's, which stands at `location`; `declared` is
    where the pack has it then."""

    name: str
    type: ParameterType
    default: Said
    value: Said
    description: str
    location: Location
    at_least: str | int | float | None = None
    at_most: str | int | float | None = None
    tuned: bool = False
    declared: Location | None = None

    @property
    def short(self) -> str:
        """What rules call it, after a dollar sign."""
        return self.name.rpartition(".")[2]

    @property
    def meaning(self) -> Meant:
        """The value, as conditions use it."""
        return typed(self.type, self.value)

    def check(self, said: Said) -> None:
        """Whether the parameter may have this value. Raises BadValue."""
        value = typed(self.type, said)
        if isinstance(self.default, list) and isinstance(said, list) and not _are_alike([*self.default, *said]):
            raise BadValue(
                f"{shown(said)} is not a list of {'texts' if isinstance(self.default[0], str) else 'numbers'}"
            )
        if isinstance(value, int | float):
            for bound, way in ((self.at_least, "less"), (self.at_most, "more")):
                limit = value if bound is None else typed(self.type, bound)
                if isinstance(limit, int | float) and (value < limit if way == "less" else value > limit):
                    raise BadValue(f"{shown(said)} is {way} than {bound}")

    def check_bounds(self) -> None:
        """Whether its bounds are values of its type. Raises BadValue."""
        bounds = [bound for bound in (self.at_least, self.at_most) if bound is not None]
        if bounds and self.type not in _ORDERED:
            raise BadValue(f"there is no order among values of type {self.type}, and so no bound")
        for bound in bounds:
            typed(self.type, bound)


def typed(kind: ParameterType, said: Said) -> Meant:
    """What a value of this type means. Raises BadValue."""
    wanted, read = _READERS[kind]
    meant = read(said)
    if meant is None:
        raise BadValue(f"{shown(said)} is not {wanted}")
    return meant


def shown(said: Said) -> str:
    """A value as an author would write it."""
    if isinstance(said, list):
        return f"[{', '.join(map(shown, said))}]"
    return repr(said) if isinstance(said, str) else str(said).lower() if isinstance(said, bool) else str(said)


def _number(said: Said) -> Meant | None:
    good = isinstance(said, int | float) and not isinstance(said, bool) and math.isfinite(said)
    return said if good and isinstance(said, int | float) else None


def _whole_number(said: Said) -> Meant | None:
    return said if isinstance(said, int) and not isinstance(said, bool) else None


def _list(said: Said) -> Meant | None:
    return tuple(said) if isinstance(said, list) and _are_alike(said) else None


def _duration(said: Said) -> Meant | None:
    try:
        return parse_duration(said) if isinstance(said, str) else None
    except BadDuration:
        return None


#: Type -> what its values are called, and what one means (None: it is none of this type).
_READERS: Mapping[ParameterType, tuple[str, Callable[[Said], Meant | None]]] = {
    "int": ("a whole number", _whole_number),
    "float": ("a number", _number),
    "str": ("text", lambda said: said if isinstance(said, str) and said else None),
    "bool": ("true or false", lambda said: said if isinstance(said, bool) else None),
    "list": ("a list of texts, or of numbers", _list),
    "duration": ("a number with its unit, such as 30s", _duration),
    "version": (
        'a version in quotes, such as "2.20"',
        lambda said: version_of(said) if isinstance(said, str) and _VERSION.fullmatch(said) else None,
    ),
}


def _are_alike(values: list[str | int | float]) -> bool:
    return len({isinstance(one, str) for one in values}) < 2  # noqa: PLR2004 - texts or numbers, not both
