"""Why a rule fires or does not, at a terminal: the tree of its condition with the lines, or what came closest."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_doctor.engine.facts import NOWHERE
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.nearest import Reason
from neuron_doctor.engine.why import Look, Why
from neuron_doctor.reports.lines import BLANK, Line, Style, joined, paragraph, quotation
from neuron_doctor.reports.wording import ROLE, counted, place_of, place_words, where

#: So many places are shown at which the rule holds, and so many at which it does not; of each part, so many records.
_PLACES, _RECORDS = 3, 2
_HELD = {True: "yes", False: "no", None: "?"}


def render_why(why: Why, *, width: int, colour: bool, verbose: bool) -> str:
    """The whole answer. What is quoted of logs is escaped."""
    lines = [*paragraph(f"{why.rule.id}: {why.rule.title}", width, style=Style.STRONG), *_summary(why, width)]
    fired = [look for look in why.looks if look.reason.held]
    missed = [look for look in why.looks if not look.reason.held]
    for looks in (fired, missed):
        shown = looks if verbose else looks[:_PLACES]
        for look in shown:
            lines += [BLANK, *_look(look, width, verbose=verbose)]
        left = len(looks) - len(shown)
        if left:
            lines += [BLANK, *paragraph(f"and {counted(left, 'more place')} with --verbose", width)]
    return joined(lines, colour=colour)


def _summary(why: Why, width: int) -> list[Line]:
    places = [look for look in why.looks if look.place != NOWHERE or look.reason.held]
    fired = sum(bool(look.reason.held) for look in places)
    if not fired:
        looked = (
            f"it was looked at {counted(len(places), 'place')}"
            if places
            else "there is no record that it could begin with"
        )
        return paragraph(f"It does not fire: {looked}.", width)
    lines = paragraph(f"It holds at {fired:,} of {counted(len(places), 'place')} at which it was looked at.", width)
    for finding in why.findings:
        became = "root cause" if finding.role is Role.ROOT else ROLE[finding.role].partition(":")[0].lower()
        lines += paragraph(
            f"{finding.id}: {became}, {place_of(finding) or 'place not known'}", width, "  in the report: ", "    "
        )
    if not why.findings and why.superseded_by:
        lines += paragraph(f"Not in the report: superseded by {', '.join(why.superseded_by)}.", width)
    elif not why.findings:
        lines += paragraph("Not in the report: other rules know its records better.", width)
    return lines


def _look(look: Look, width: int, *, verbose: bool) -> Iterator[Line]:
    place = place_words(look.place) or "the job"
    yield from paragraph(f"at {place}: {'holds' if look.reason.held else 'does not hold'}", width, style=Style.STRONG)
    yield from _part(look.reason, 1, width, verbose=verbose)


def _part(reason: Reason, depth: int, width: int, *, verbose: bool) -> Iterator[Line]:
    indent = "  " * depth
    yield from paragraph(reason.op, width, f"{indent}{_HELD[reason.held]:<4}", f"{indent}      ")
    if reason.said:
        yield from paragraph(reason.said, width, f"{indent}    ")
    facts = reason.facts if verbose else reason.facts[:_RECORDS]
    for fact in facts:
        yield Line(f"{indent}    {where(fact.span)}")
        yield from quotation(fact.span.text, width, f"{indent}      | ", 2) if fact.span.text else ()
    if len(reason.facts) > len(facts):
        yield from paragraph(f"and {counted(len(reason.facts) - len(facts), 'more record')}", width, f"{indent}    ")
    for child in reason.children:
        yield from _part(child, depth + 1, width, verbose=verbose)
