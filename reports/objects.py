"""The parts of the JSON report and of `neuron-doctor facts` as plain objects: nothing unknown, nothing unprintable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from neuron_doctor.engine.facts import MAX_TEXT, Fact, Place, Problem, Source, Span, Value, ranks_of
from neuron_doctor.engine.verdict import Proof
from neuron_doctor.reports.escape import visible
from neuron_doctor.reports.summary import source_ranks
from neuron_doctor.reports.times import time_object

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Object: TypeAlias = dict[str, Json]

#: So many facts and children of a proof node, and pieces of evidence of a finding, are shown; the rest is counted.
MOST = 16


def clean(value: Json) -> Json:
    """`value` as JSON can hold it and a terminal can show it: strings without control characters, no number that JSON
    does not know (NaN becomes its name), no key whose value is null (in a list null keeps its place)."""
    if isinstance(value, str):
        return visible(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, int):  # before what takes longer to ask: there are many numbers
        return value
    if isinstance(value, dict | Mapping):
        return {visible(str(key)): clean(item) for key, item in value.items() if item is not None}
    return [clean(item) for item in value]


def place_object(place: Place, ranks: Sequence[int] = (), hosts: Sequence[str] = ()) -> Object:
    """A place: what is known of it. `ranks` replaces the place's own; a single rank is a list of one."""
    known: Object = dict(place.known())
    known.pop("rank", None)
    known["ranks"] = sorted(set(ranks)) or ranks_of(place) or None
    known["hosts"] = sorted(set(hosts)) or None
    return {name: value for name, value in known.items() if value is not None}


def span_object(span: Span) -> Object:
    """A piece of evidence; its text is cut at the length that the contract allows, escapes included."""
    text = visible(span.text)
    return {
        **source_span(span),
        "column": span.column,
        "text": text[:MAX_TEXT] or None,
        "sha256": span.sha256 or None,
        "truncated": span.truncated or len(text) > MAX_TEXT,
    }


def source_span(span: Span) -> Object:
    """Where a record stands, without its text."""
    return {"path": span.path, "line": span.line, "offset": span.offset, "length": span.length}


def fact_object(fact: Fact) -> Object:
    """A fact with all its data, as a line of `neuron-doctor facts`: {kind, place, time, data, source}."""
    place: Object = dict(fact.place.known())
    time: Object = dict(time_object(fact.instant, None))
    repeats = {"repeats": fact.repeats} if fact.repeats else {}
    data = {name: _value(value) for name, value in fact.data.items()}
    return {"kind": fact.kind, "place": place, "time": time, "data": data, "source": source_span(fact.span), **repeats}


def _value(value: Value) -> Json:
    return [_value(item) for item in value] if isinstance(value, tuple) else value


def proof_object(proof: Proof) -> Object:
    """A proof tree; `held` is absent where nothing decides it. Long or nested lists of a fact are left out."""
    omitted = proof.omitted + max(len(proof.facts) - MOST, 0) + max(len(proof.children) - MOST, 0)
    return {
        "op": proof.op,
        "held": proof.held,
        "facts": [_brief(fact) for fact in proof.facts[:MOST]],
        "children": [proof_object(child) for child in proof.children[:MOST]],
        "omitted": omitted,
        "subjects": proof.subjects[:MOST] or None,
    }


def _brief(fact: Fact) -> Object:
    """A fact without summaries of whole ring buffers; `neuron-doctor facts` shows them."""
    data = {
        name: _value(value) for name, value in fact.data.items() if not (isinstance(value, tuple) and _is_bulky(value))
    }
    return fact_object(fact) | {"data": data}


def _is_bulky(values: tuple[Value, ...]) -> bool:
    return len(values) > MOST or any(value is None or isinstance(value, tuple) for value in values)


def source_object(source: Source) -> Object:
    """One input: what it is, what it covers, what was wrong with it."""
    return {
        "path": source.path,
        "kind": source.kind,
        "host": source.place.host,
        "ranks": list(source_ranks(source)) or None,
        "bytes": source.size if source.size >= 0 else None,
        "records": source.records,
        **time_object(source.first, source.last),
        "problems": [_problem(problem) for problem in source.problems],
    }


def _problem(problem: Problem) -> Object:
    return {"what": problem.what, "line": problem.line, "count": problem.count}
