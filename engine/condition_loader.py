"""From what authors write to conditions: names resolved, fields and types checked, every error noted with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.durations import parse_duration
from neuron_doctor.engine.errors import Location
from neuron_doctor.engine.expressions import PLACE_FIELDS, RecordQuery
from neuron_doctor.engine.kinds import KINDS, FieldType
from neuron_doctor.engine.parameters import Meant, Parameter
from neuron_doctor.engine.patterns import Pattern, capture_type
from neuron_doctor.engine.query_parser import BadExpression, check_types, near_parameter, parameters_in, parse_query
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.rulefile import AbsentDoc, ConditionDoc, CountDoc, MeasureDoc, OverDoc, SequenceDoc
from neuron_doctor.engine.unlinked import Unlinked, near
from neuron_doctor.engine.yamlfile import Document
from neuron_doctor.engine.yamlfile import Path as DocPath

#: Quantifiers that are about a certain number; what grows is measured in the order of time.
_NUMBERED = frozenset({"exactly", "all-but"})
_IN_TIME = frozenset({"increase", "rate"})
_NUMBERS = frozenset({"int", "float"})
#: What is underlined of an expression, from where it is wrong.
_WORD = regex(r'\$?\w[\w-]*|"[^"]*"|[^\w\s]+')


class Spot(Struct, frozen=True):
    """A place in a file of a pack that is being loaded; `open` are the named conditions that it stands in. `parameters` are
    those that may be referred to there, `used` gathers the names of those that are."""

    loader: Unlinked
    document: Document
    path: DocPath = ()
    open: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def at(self, *keys: str | int) -> Spot:
        """The place below this one."""
        return replace(self, path=(*self.path, *keys))

    def complain(self, message: str, hint: str = "", check: str = "value") -> None:
        """Note that something is wrong here."""
        self.loader.complain(self.document.value(*self.path), message, hint, check)


def condition_of(doc: str | ConditionDoc, spot: Spot) -> cond.Condition | None:
    """The condition that stands at a spot; None where it cannot be made, which is noted."""
    if isinstance(doc, str):
        query = query_of(doc, spot)
        return cond.Record(query) if query else None
    given = [name for name in ConditionDoc.__struct_fields__ if getattr(doc, name) is not None]
    if given == ["at_least", "of"]:
        return cond.Combination(
            "at-least", _parts(doc.of or [], spot.at("of")), amount_at(doc.at_least, spot.at("at_least"))
        )
    if len(given) != 1 or given[0] in ("of", "at_least"):
        hint = "join them with `all:` or `any:`, a list" if given else "what belongs to a key stands under it, indented"
        if given in (["of"], ["at_least"]):
            hint = "`at_least` (how many) and `of` (a list of conditions) go together"
        spot.complain(f"one condition is wanted here, not {' and '.join(given) or 'none'}", hint)
        return None
    here = spot.at(given[0])
    if given[0] in ("all", "any", "none"):
        return cond.Combination(given[0], _parts(getattr(doc, given[0]), here))
    return _LEAVES[given[0]](getattr(doc, given[0]), here)


def _parts(docs: Sequence[str | ConditionDoc], spot: Spot) -> tuple[cond.Condition, ...]:
    if not docs:
        spot.complain("an empty list holds nothing")
    parts = [condition_of(doc, spot.at(i)) for i, doc in enumerate(docs)]
    return tuple(part for part in parts if part is not None)


def _record(text: str, spot: Spot) -> cond.Record:
    return cond.Record(_some_query(text, spot))


def _count(doc: CountDoc, spot: Spot) -> cond.Count:
    query = _some_query(doc.of, spot.at("of"))
    if doc.distinct is not None:
        _check_field(query, doc.distinct, spot.at("distinct"))
    at_least = amount_at(doc.at_least, spot.at("at_least"))
    return cond.Count(query, at_least, _window(doc.within, spot.at("within")), doc.distinct)


def _measure(doc: MeasureDoc, spot: Spot) -> cond.Measure:
    query = _some_query(doc.of, spot.at("of"))
    _check_field(query, doc.field, spot.at("field"), _NUMBERS)
    if (doc.at_least is None) == (doc.at_most is None):
        spot.complain("a measure needs a limit: at_least or at_most", "give one of the two")
    if doc.take in _IN_TIME and doc.within is None:
        spot.complain(f"{doc.take} is over time: it needs a window", "add within, such as within: 10m")
    if (doc.take == "rate") != (doc.per is not None):
        said = "a rate needs the time that it is for" if doc.take == "rate" else f"{doc.take} is not for a time"
        spot.complain(said, "add per, such as per: 1s" if doc.take == "rate" else "leave per out")
    return cond.Measure(
        query,
        doc.take,
        doc.field,
        _window(doc.within, spot.at("within")),
        _limit(doc.at_least, spot.at("at_least")),
        _limit(doc.at_most, spot.at("at_most")),
        _window(doc.per, spot.at("per")),
    )


def _sequence(doc: SequenceDoc, spot: Spot) -> cond.Sequence:
    steps = tuple(_some_query(step, spot.at("steps", i)) for i, step in enumerate(doc.steps))
    for step in steps if doc.by is not None else ():
        _check_field(step, doc.by or "", spot.at("by"))
    until = _some_query(doc.until, spot.at("until")) if doc.until is not None else None
    return cond.Sequence(steps, _window(doc.within, spot.at("within")) or 0, doc.by, until)


def _absent(doc: AbsentDoc, spot: Spot) -> cond.Absent:
    record, after = _some_query(doc.record, spot.at("record")), _some_query(doc.after, spot.at("after"))
    return cond.Absent(record, after, _window(doc.within, spot.at("within")) or 0)


def _over(doc: OverDoc, spot: Spot) -> cond.Over:
    have = _some_query(doc.have, spot.at("have"))
    if doc.alike is not None:
        _check_field(have, doc.alike, spot.at("alike"))
    if doc.alike is not None and doc.each == "peer":
        spot.complain("alike compares ranks, hosts or devices, not the peers of each group", "leave alike out")
    among = _some_query(doc.among, spot.at("among")) if doc.among is not None else None
    if among is not None and (doc.alike is not None or doc.each == "peer"):
        spot.complain("alike and the peers of each group say among whom already", "leave among out")
    if (doc.quantifier in _NUMBERED) != (doc.number is not None):
        numbered = doc.quantifier in _NUMBERED
        said = f"{doc.quantifier} {'needs a number' if numbered else 'is not about a number'}"
        spot.complain(said, "add number: 1" if numbered else "leave number out")
    number = amount_at(doc.number, spot.at("number")) if doc.number is not None else 0
    return cond.Over(doc.each, doc.quantifier, have, doc.alike, number, among)


def _finding(name: str, spot: Spot, *, elsewhere: bool = False) -> cond.FindingRef:
    if name not in spot.loader.rules.keys() | spot.loader.unread:
        spot.complain(f"there is no rule {name!r}", near(name, spot.loader.rules), "name")
    return cond.FindingRef(name, elsewhere=elsewhere)


def _term(name: str, spot: Spot) -> cond.Condition | None:
    """The condition that terms.yaml has under a name. What is wrong inside of it is told where it stands."""
    terms = spot.loader.conditions
    if name not in terms:
        spot.complain(f"there is no condition {name!r} in terms.yaml", near(name, terms), "name")
        return None
    if name in spot.open:
        spot.complain(f"the condition {name!r} is made of itself: {' -> '.join([*spot.open, name])}", check="circle")
        return None
    doc, document = terms[name]
    shared = spot.loader.shared_parameters()
    return condition_of(doc, Spot(spot.loader, document, ("conditions", name), (*spot.open, name), shared, spot.used))


#: The key of a condition that has no parts -> what makes it of its value.
_LEAVES: Mapping[str, Callable[[Any, Spot], cond.Condition | None]] = {
    "record": _record,
    "count": _count,
    "measure": _measure,
    "sequence": _sequence,
    "absent": _absent,
    "over": _over,
    "finding": _finding,
    "elsewhere": partial(_finding, elsewhere=True),
    "term": _term,
}


# --- values, and parameters in their place -------------------------------------------------------------------------


def duration_at(said: str | None, spot: Spot) -> int | None:
    """The nanoseconds that a text means, which may refer to a parameter; None where it is none, which is noted."""
    if said is None or not said.startswith("$"):
        return parse_duration(said) if said else None
    value = _value(said, spot, frozenset({"duration"}), "a duration")
    return value if isinstance(value, int) else None


def _window(said: str | None, spot: Spot) -> int | None:
    """The same for a stretch of time in which something happens."""
    length = duration_at(said, spot)
    if length == 0 and said:
        spot.complain(f"{spot.path[-1]}: {said} is no time at all", "say how long it may take, such as 30s")
    return length


def amount_at(said: int | str | None, spot: Spot) -> int:
    """A whole number of 1 or more, which a parameter may be; 1 where it is none, which is noted."""
    value = _value(said, spot, frozenset({"int"}), "a whole number") if isinstance(said, str) else said
    if isinstance(value, int) and value < 1:
        parameter = spot.parameters[str(said)[1:]]
        spot.loader.complain(parameter.location, f"{said} is {value}, and {spot.path[-1]} wants 1 or more", "", "value")
    return max(value, 1) if isinstance(value, int) else 1


def _limit(said: float | str | None, spot: Spot) -> float | None:
    value = _value(said, spot, _NUMBERS, "a number") if isinstance(said, str) else said
    return float(value) if isinstance(value, int | float) else None


def _value(said: str, spot: Spot, types: frozenset[str], wanted: str) -> Meant | None:
    """The value of the parameter that is referred to; None where there is none of these types, which is noted."""
    parameter = spot.parameters.get(said[1:])
    if parameter is None:
        if said[1:] not in spot.loader.unread:
            spot.complain(f"there is no parameter {said}", near_parameter(said, spot.parameters), "name")
        return None
    spot.used.add(parameter.name)
    if parameter.type not in types:
        spot.complain(f"{spot.path[-1]} wants {wanted}, and {said} is of type {parameter.type}")
        return None
    return parameter.meaning


# --- records and their fields --------------------------------------------------------------------------------------


def _some_query(text: str, spot: Spot) -> RecordQuery:
    return query_of(text, spot) or RecordQuery("hit", None, text)


def query_of(text: str, spot: Spot) -> RecordQuery | None:
    """The query that a text is; None where it cannot be read or asks for what no record has, which is noted."""
    patterns = spot.loader.patterns
    try:
        query = parse_query(text, _values(text, spot))
        fields = fields_of(query.name, {name: pattern for name, (pattern, _) in patterns.items()})
        if fields is None:
            if query.name not in spot.loader.unread:
                where = spot.document.value(*spot.path, width=len(query.name))
                spot.loader.complain(where, *_missing(query.name, patterns))
            return None
        check_types(query, fields)
    except BadExpression as error:
        word = _WORD.match(text, error.column - 1)
        where = spot.document.value(*spot.path, skip=error.column - 1, width=len(word[0]) if word else 1)
        if not (word and word[0].startswith("$") and word[0][1:] in spot.loader.unread):
            spot.loader.complain(where, str(error), error.hint, error.check)
        return None
    return query


def _missing(name: str, patterns: Mapping[str, tuple[Pattern, Location]]) -> tuple[str, str]:
    """That nothing is called so that can be asked for, and what to ask for."""
    if name in patterns:
        kind = patterns[name][0].emits
        return f"a match of {name!r} becomes a fact of the kind {kind!r}", f"ask for {kind}"
    if name == "hit":
        return "every match of a pattern is a hit", "ask for the pattern by its id"
    return f"there is no pattern or kind of fact {name!r}", near(name, [*patterns, *KINDS])


def _values(text: str, spot: Spot) -> dict[str, Meant]:
    """The values that an expression may refer to. Raises BadExpression where it refers to one that no field is compared with."""
    for name, column in parameters_in(text).items():
        if parameter := spot.parameters.get(name):
            if parameter.type == "duration":
                said = f"${name} is a duration: it stands behind `within` and its like, not in a comparison"
                raise BadExpression(said, column, "for a field that is a number of seconds, make it a float")
            spot.used.add(parameter.name)
    return {name: one.meaning for name, one in spot.parameters.items() if one.type != "duration"}


def _check_field(query: RecordQuery, name: str, spot: Spot, types: frozenset[str] | None = None) -> None:
    """Whether the records of a query have the field, and of one of these types."""
    fields = fields_of(query.name, {key: pattern for key, (pattern, _) in spot.loader.patterns.items()})
    if fields is None:
        return  # there is no such record, which is told already
    known = {**PLACE_FIELDS, **fields}
    if name not in known:
        hint = near(name, known) or f"it has: {', '.join(sorted(fields))}"
        spot.complain(f"{query.name} has no field {name!r}", hint, "expression")
    elif types is not None and known[name] not in types:
        numbers = ", ".join(one for one in sorted(fields) if fields[one] in types)
        hint = f"numbers are: {numbers}" if numbers else f"say that it is one: fields: {{{name}: int}}"
        spot.complain(f"{name!r} is of type {known[name]}: it has no numbers to measure", hint, "expression")


def fields_of(name: str, patterns: Mapping[str, Pattern]) -> Mapping[str, FieldType] | None:
    """The fields that a record called `name` has: a kind's, or a pattern's captures. None if there is no such name."""
    if name in KINDS and name != "hit":
        return KINDS[name].fields
    pattern = patterns.get(name)
    if pattern is None or pattern.emits != "hit":
        return None
    return {capture: capture_type(pattern, capture) for capture in pattern.compiled().groupindex}
