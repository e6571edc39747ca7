"""Log patterns: what a rule author looks for in a record, and what fact a match becomes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from neuron_doctor.engine.digests import sha256
from neuron_doctor.engine.expressions import PLACE_FIELDS
from neuron_doctor.engine.facts import NOWHERE, Place, Value
from neuron_doctor.engine.kinds import KINDS, FieldType
from neuron_doctor.engine.regexes import compiled, regex

Channel = Literal["any", "log", "kernel"]

#: A number of a list, or a range of them; of a range that is longer than any job, so many are read.
_RANGE = regex(r"(?P<first>\d+)(?:-(?P<last>\d+))?", re.ASCII)
_LONGEST = 65_536


class Pattern(Struct, frozen=True):
    """One regular expression over a record.

    `regex` is matched on the message of one line; with `anchor`, the line that matches the anchor is looked at together
    with its neighbours (16 lines before, 8 after, prefixes peeled, joined by newlines) and `regex` must match across the
    anchor's line; where there is a line above the anchor's, `above` must match its message. Named groups are captures:
    those named like a field of a place become part of the fact's place, the others its data, with the types in `fields`
    (str if not said). `emits` is the kind of fact; `values` are constants of it. Of the time that a line begins with, a
    pattern sees zeros.
    """

    id: str
    regex: str
    channel: Channel = "any"
    fields: Mapping[str, FieldType] = field(default_factory=dict)
    emits: str = "hit"
    values: Mapping[str, Value] = field(default_factory=dict)
    anchor: str | None = None
    above: str | None = None
    counted: bool = False

    @property
    def search(self) -> str:
        """The expression that finds candidate lines."""
        return self.anchor or self.regex

    def compiled(self) -> re.Pattern[str]:
        """The regex that gives a match its meaning."""
        return compiled(self.regex)


class PatternSet(Struct, frozen=True):
    """All patterns of the loaded packs, in a fixed order, and the digest that names this very set."""

    patterns: tuple[Pattern, ...]

    @property
    def digest(self) -> str:
        """Sha256 over ids, expressions and types."""
        return sha256(repr(self.patterns).encode()).hexdigest()


def capture_type(pattern: Pattern, name: str) -> FieldType:
    """The type of a capture: declared, or that of the kind's or the place's field of this name, or str."""
    of_kind = KINDS[pattern.emits].fields if pattern.emits in KINDS else {}
    return pattern.fields.get(name) or of_kind.get(name) or PLACE_FIELDS.get(name, "str")


def read_captures(pattern: Pattern, groups: Mapping[str, str | None]) -> tuple[dict[str, Value], Place]:
    """Typed data and place of a match. A group that took no part is left out. Raises ValueError for a number that is none."""
    data: dict[str, Value] = dict(pattern.values)
    place: dict[str, Any] = {}
    for name, text in groups.items():
        if text is None:
            continue
        (place if name in PLACE_FIELDS else data)[name] = _typed(text, capture_type(pattern, name))
    return data, Place(**place) if place else NOWHERE


def _typed(text: str, kind: FieldType) -> Value:
    if kind == "int":
        return int(text, 16) if text[:2].lower() == "0x" else int(text)
    if kind == "float":
        return float(text)
    if kind == "bool":
        return text.lower() in ("1", "true", "yes")
    if kind == "list":
        return _numbers(text)
    return text.strip()


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of a list, the ranges in it written out: `0-2, 5` is 0, 1, 2, 5."""
    found: list[int] = []
    for match in _RANGE.finditer(text):
        first, last = int(match["first"]), int(match["last"] or match["first"])
        found += range(first, min(last, first + _LONGEST) + 1)
    return tuple(found)
