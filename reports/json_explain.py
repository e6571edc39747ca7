"""What a name, a code or a message means, for scripts: `neuron-doctor/explain/1`."""

from __future__ import annotations

import json

from neuron_doctor.engine.action_words import action
from neuron_doctor.engine.explanation import Explanation, Topic
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.reports.json_report import action_object
from neuron_doctor.reports.objects import Object, clean
from neuron_doctor.reports.text_explain import ANY_PLACE

SCHEMA = "neuron-doctor/explain/1"


def explanation_json(explanation: Explanation) -> str:
    """The explanation as text that ends with a line end; the same bytes for equal ones."""
    told: Object = {
        "schema": SCHEMA,
        "asked": explanation.asked,
        "topics": [_topic(topic) for topic in explanation.topics],
        "near": list(explanation.near),
    }
    return json.dumps(clean(told), indent=1, ensure_ascii=False) + "\n"


def _topic(topic: Topic) -> Object:
    rules = [{**_rule(rule), "alone": number < topic.telling} for number, rule in enumerate(topic.rules)]
    return {"called": topic.called, "rules": list(rules)}


def _rule(rule: Rule) -> Object:
    return {
        "rule": rule.id,
        "title": rule.title,
        "cause": rule.cause.id,
        "at_fault": rule.cause.by,
        "role": rule.role,
        "severity": rule.severity.value,
        "status": rule.status,
        "confidence": rule.confidence,
        "explanation": rule.explanation.strip(),
        "actions": [action_object(action(doc, ANY_PLACE)) for doc in rule.actions],
        "alternatives": [
            {"cause": other.cause, "confidence": other.confidence, "tell_apart": other.tell_apart.strip()}
            for other in rule.alternatives
        ],
        "trust": list(rule.trust),
        "references": list(rule.references),
    }
