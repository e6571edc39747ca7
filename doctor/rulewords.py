"""By what a rule is known: the values of fields that it asks for (codes, names of counters), and the messages of its examples."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.collectors.prefixes import peel
from neuron_doctor.engine.conditions import anchors
from neuron_doctor.engine.expressions import Expression, Junction
from neuron_doctor.engine.rulebook import Rule, Rulebook

#: Kind of fact -> the field by whose value a record of it is known.
KNOWN_BY = {
    "collective": "verdict",
    "counter": "name",
    "device-state": "state",
    "env": "name",
    "hang-report": "what",
    "hw-err": "name",
    "k8s-event": "reason",
    "level": "name",
    "limit": "name",
    "ndet-event": "event",
    "node-condition": "reason",
    "pod": "reason",
    "reset": "phase",
    "slurm-job": "state",
    "status": "code",
    "unhealthy-component": "component",
}


def values_asked(rulebook: Rulebook) -> dict[str, dict[str, list[Rule]]]:
    """Kind of fact -> value of the field by which it is known -> the rules that a record with it can make fire."""
    found: dict[str, dict[str, list[Rule]]] = {}
    for rule in rulebook.rules:
        for query in anchors(rule.when):
            for value in _asked(query.where, KNOWN_BY.get(query.name)):
                found.setdefault(query.name, {}).setdefault(value, []).append(rule)
    return found


def _asked(expression: Expression | None, field: str | None) -> Iterator[str]:
    """The values that a field may have for the expression to hold."""
    if isinstance(expression, Junction):
        for part in expression.parts if expression.op != "not" else ():
            yield from _asked(part, field)
    elif expression is not None and expression.field == field and expression.op in ("==", "in"):
        values = expression.value if isinstance(expression.value, tuple) else (expression.value,)
        yield from map(str, values)


def messages_of(rule: Rule) -> list[str]:
    """The messages in the positive examples of a rule, their prefixes peeled off."""
    examples = rule.examples.positive if rule.examples else ()
    texts = (text for example in examples for text in (*example.files.values(), example.text or ""))
    lines = (peel(line) for text in texts for line in text.splitlines())
    return [line.text[record.start : record.end] for line in lines for record in line.records]
