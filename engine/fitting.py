"""Whether a fact that came from elsewhere is one that the engine can read: of a known kind, with fields of its types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span, Value
from neuron_doctor.engine.kinds import KINDS, FieldType
from neuron_doctor.engine.patterns import Pattern, capture_type
from neuron_doctor.engine.recorder import GroupRecord
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.wallclock import date_of

#: The engine alone states these, of all that was collected.
_CONCLUSIONS = frozenset({"collective", "disagreement", "shared-place"})
_TYPES: Mapping[FieldType, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "str": (str,),
    "bool": (bool,),
    "list": (tuple,),
}
#: Fields that the engine does not ask for twice. A collector always states them.
_STATED: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "hit": "pattern",
        "status": "code",
        "version": "component version",
        "world": "size",
        "launch": "nodes",
        "node-width": "processes",
        "node-rank": "number",
        "host-slots": "slots before behind",
        "hosts-in-turn": "hosts before behind",
        "meeting-host": "name",
        "login": "name",
        "progress": "what value",
        "env": "name value",
        "pci-device": "bdf",
        "device": "bdf",
        "ndet-event": "event complete",
        "hang-report": "what",
        "fr-rank": "version dialect entries whole issued first_ns last_ns groups",
        "counter": "name",
        "level": "name",
        "visible-cores": "cores",
        "group-position": "position",
        "interface-use": "interface",
    }.items()
}
#: Lists of ranks as `ranks_text` writes them: no run of them reaches beyond a million.
_RANKS = regex(r"(?:\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*)?", re.ASCII)
_MOST_RUNS = 1 << 16
#: Years around these are given to clocks that state none.
_FIRST_YEAR, _LAST_YEAR = 1900, 9000


class Fitting:
    """Knows the kinds and patterns of a rulebook. What is asked again for each fact of a shape is remembered."""

    def __init__(self, patterns: Mapping[str, Pattern]) -> None:
        self._patterns = patterns
        self._known: dict[tuple[object, ...], bool] = {}

    def fits(self, fact: Fact) -> bool:
        """Whether the fact is of a kind or pattern that there is, its fields have the types of it, and its time is a date."""
        shape = (fact.kind, fact.data.get("pattern"), *fact.data, *map(type, fact.data.values()))
        known = self._known.get(shape)
        if known is None:
            known = self._known[shape] = self._is_typed(fact)
        return known and is_dated(fact.instant) and _lists_fit(fact)

    def fits_wholly(self, fact: Fact) -> bool:
        """The same of a fact that nobody has read from bytes: whether its place, span and instant are what they are called."""
        try:
            for part, shape in ((fact.place, Place), (fact.span, Span), (fact.instant, Instant | None)):
                msgspec.convert(msgspec.to_builtins(part), shape, strict=True)
            return isinstance(fact.data, Mapping) and isinstance(fact.source, str) and self.fits(fact)
        except (msgspec.ValidationError, TypeError):
            return False

    def _is_typed(self, fact: Fact) -> bool:
        fields = self._fields(fact)
        return (
            fields is not None
            and _STATED.get(fact.kind, frozenset()) <= fact.data.keys()
            and all(name in fields and type(value) in _TYPES[fields[name]] for name, value in fact.data.items())
        )

    def _fields(self, fact: Fact) -> Mapping[str, FieldType] | None:
        if fact.kind in _CONCLUSIONS or fact.kind not in KINDS:
            return None
        if fact.kind != "hit":
            return KINDS[fact.kind].fields
        pattern = self._patterns.get(str(fact.data.get("pattern")))
        if pattern is None:
            return None
        named = {*pattern.compiled().groupindex, *pattern.values}
        fields: dict[str, FieldType] = {name: capture_type(pattern, name) for name in named}
        return fields | {"pattern": "str"}


def is_dated(instant: Instant | None) -> bool:
    """Whether an instant of a calendar is in it."""
    if instant is None or instant.clock in (Clock.BOOT, Clock.MONOTONIC):
        return True
    try:
        return _FIRST_YEAR <= date_of(instant.ns).year <= _LAST_YEAR
    except OverflowError:
        return False


def _lists_fit(fact: Fact) -> bool:
    """Whether the lists hold numbers, or what a flight recorder holds."""
    if fact.kind == "fr-rank":
        return fact.place.rank is not None and _groups_fit(fact.data.get("groups"))
    return all(_is_flat(value) for value in fact.data.values() if isinstance(value, tuple))


def _is_flat(value: tuple[Value, ...]) -> bool:
    return all(type(item) is int for item in value)


def _groups_fit(value: Any) -> bool:
    try:
        groups = msgspec.convert(value, tuple[GroupRecord, ...])
    except (msgspec.ValidationError, OverflowError):
        return False
    return all(_RANKS.fullmatch(group.members) and group.members.count(",") < _MOST_RUNS for group in groups)
