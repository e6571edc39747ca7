"""What a name, a code or a message means, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_doctor.engine.action_words import Words, action
from neuron_doctor.engine.explanation import Explanation, Topic
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.reports.lines import BLANK, Line, Style, joined, labelled, paragraph
from neuron_doctor.reports.text_finding import heading, steps_block
from neuron_doctor.reports.wording import counted, how_sure

#: Where the place is not known yet.
ANY_PLACE = Words({"host": "HOST"})
#: So many further rules of one meaning are listed.
_LISTED = 12

_AT_FAULT = {
    "user": "the program or its input",
    "model": "the model, or how it was compiled",
    "config": "the configuration",
    "host": "the software of the host",
    "hardware": "hardware",
    "network": "the network",
    "peer": "somebody else: a victim reports it",
    "none": "nobody",
}


def render_explanation(explanation: Explanation, *, width: int, colour: bool) -> str:
    """Every meaning with its best rule in full and the others by name; where there is none, what to try instead."""
    lines: list[Line] = []
    for topic in explanation.topics:
        lines += [*([BLANK] if lines else []), *_topic(topic, width)]
    return joined(lines or _unknown(explanation, width), colour=colour)


def _unknown(explanation: Explanation, width: int) -> list[Line]:
    lines = paragraph("no rule, cause, code or message of this name is known", width, style=Style.STRONG)
    if explanation.near:
        lines += paragraph(f"did you mean {', '.join(explanation.near)}?", width, "  ")
    advice = "give a code (1203), a name, a whole line of a log, or - and the lines on standard input"
    return [*lines, *paragraph(advice, width, "  ")]


def _topic(topic: Topic, width: int) -> list[Line]:
    lines = paragraph(topic.called, width, style=Style.STRONG)
    if topic.cause is not None:
        lines += labelled("at fault", _AT_FAULT[topic.cause.by], width)
    if not topic.rules:
        return [*lines, *paragraph("no rule asks for it", width, "  ")]
    shown = topic.rules[: 1 if topic.answers or len(topic.rules) == 1 else 0]
    for rule in shown:
        lines += [BLANK, *_rule(rule, width, of_cause=topic.cause is not None)]
    return lines + _others(topic, topic.rules[len(shown) :], width)


def _rule(rule: Rule, width: int, *, of_cause: bool) -> list[Line]:
    """One rule in full; what its cause means stands above already where the topic is that cause."""
    lines = paragraph(rule.title, width, style=Style.STRONG)
    lines += labelled("cause", f"{rule.cause.id} ({rule.severity}), {how_sure(rule.confidence)}", width)
    if not of_cause:
        lines += labelled("that is", rule.cause.meaning, width)
        lines += labelled("at fault", _AT_FAULT[rule.cause.by], width)
    lines += [*heading("what it means", width), *paragraph(rule.explanation, width, "    ")]
    lines += steps_block("what to do", [action(doc, ANY_PLACE) for doc in rule.actions], width)
    if rule.alternatives:
        lines += heading("it could also be", width)
    for other in rule.alternatives:
        lines += paragraph(f"{other.cause}, {how_sure(other.confidence)}", width, "    - ")
        lines += paragraph(other.tell_apart, width, "      tell apart by: ") if other.tell_apart else []
    lines += heading("read on", width)
    lines += [Line(f"    neuron-doctor rules show {rule.id}")]
    return lines + [Line(f"    {reference}") for reference in rule.references]


def _others(topic: Topic, others: Sequence[Rule], width: int) -> list[Line]:
    if not others:
        return []
    lines = heading("what else it counts for" if topic.answers else "rules that know it", width)
    room = min(max(len(rule.id) for rule in others[:_LISTED]), width // 2)
    for rule in others[:_LISTED]:
        lines += paragraph(rule.title, width, f"    {rule.id:<{room}}  ")
    left = len(others) - _LISTED
    return lines + (paragraph(f"and {counted(left, 'more rule')}", width, "    ") if left > 0 else [])
