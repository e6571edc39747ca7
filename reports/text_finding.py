"""How one finding reads at a terminal: what, where and when, evidence, what to do, what it explains, alternatives."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_doctor.engine.grades import ActionKind, Role, Severity
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.verdict import Action, Diagnosis, Finding
from neuron_doctor.reports.lines import BLANK, Line, Style, labelled, paragraph, quotation
from neuron_doctor.reports.summary import Group, best_evidence, consequences, grouped
from neuron_doctor.reports.times import when
from neuron_doctor.reports.wording import (
    action_words,
    counted,
    how_sure,
    place_of,
    place_words,
    spread_words,
    steps_words,
    where,
)

#: A quotation has so many lines; with `--verbose` so many, which is all of the 2,000 characters that evidence keeps.
_QUOTED, _QUOTED_VERBOSE = 4, 60
_GROUPS = 5
_SEEN = 3
_GIST = 300
_SENTENCE_END = regex(r"(?<=[.!?])\s+(?=[A-Z(])")


def root_cause(diagnosis: Diagnosis, root: Finding, width: int, *, verbose: bool) -> list[Line]:
    """All that there is to say about a root; unless `verbose`, quotations and lists are cut. The only one is what the
    headline names."""
    effects = grouped(consequences(diagnosis, root))
    return [
        *(labelled("what", root.title, width) if len(diagnosis.root_causes) > 1 else []),
        *_head(root, width),
        *labelled("do", steps_words(root.actions), width),
        *_observed(root, width),
        *_evidence(root, [group for group in effects if group.role is Role.CONFIRMATION], width, verbose=verbose),
        *_meaning(root.explanation if verbose else gist(root.explanation), width),
        *_actions(root.actions, width),
        *_effects([group for group in effects if group.role is not Role.CONFIRMATION], width, verbose=verbose),
        *_alternatives(root, width),
    ]


def gist(explanation: str) -> str:
    """The first sentences, at most `_GIST` characters of them: the first screen has to hold the evidence as well."""
    sentences = _SENTENCE_END.split(explanation)
    told = sentences[0]
    for sentence in sentences[1:]:
        if len(told) + len(sentence) > _GIST:
            return told
        told = f"{told} {sentence}"
    return told


def _head(finding: Finding, width: int) -> list[Line]:
    return [
        *labelled("cause", f"{finding.cause} ({finding.severity}), {how_sure(finding.confidence)}", width),
        *labelled("where", place_of(finding) or "not known", width),
        *labelled("when", when(finding.first, finding.last), width),
    ]


def _observed(finding: Finding, width: int) -> list[Line]:
    return [line for text in finding.observed[:_SEEN] for line in labelled("in detail", text, width)]


def _meaning(explanation: str, width: int) -> list[Line]:
    return [*heading("what it means", width), *paragraph(explanation, width, "    ")] if explanation else []


def heading(text: str, width: int) -> list[Line]:
    """The heading of a block of the first screen."""
    return [BLANK, *paragraph(text, width, "  ", style=Style.STRONG)]


def _evidence(finding: Finding, confirmed_by: Sequence[Group], width: int, *, verbose: bool) -> list[Line]:
    shown = list(finding.evidence) if verbose else best_evidence(finding, 2 if confirmed_by else 3)
    if not shown:
        return []
    left = len(finding.evidence) - len(shown)
    lines = heading("evidence" + (f" ({left:,} more with --verbose)" if left else ""), width)
    for span in shown:
        lines.append(Line(f"    {where(span)}"))
        lines += quotation(span.text, width, "      | ", _QUOTED_VERBOSE if verbose else _QUOTED) if span.text else []
    for group in confirmed_by:
        place = f" at {where(group.evidence)}" if group.evidence else ""
        lines += paragraph(f"{group.title}{place}", width, "    confirmed by: ", "      ")
    return lines


def _actions(actions: Sequence[Action], width: int) -> list[Line]:
    return steps_block("do now", actions, width)


def steps_block(title: str, actions: Sequence[Action], width: int) -> list[Line]:
    """What to do, step by step, under a heading; nothing where there is nothing to do."""
    wanted = [action for action in actions if action.action is not ActionKind.NONE]
    if not wanted:
        return []
    lines = heading(title if len(wanted) == 1 else f"{title}, in this order", width)
    for number, action in enumerate(wanted, start=1):
        by = " (by the site file)" if action.by_site else ""
        lines += paragraph(action_words(action) + by, width, f"    {number}. ", style=Style.STRONG)
        lines += paragraph(action.precondition, width, "       only if: ") if action.precondition else []
        lines += paragraph(action.note, width, "       note: ") if action.note else []
        lines += [Line(f"       $ {command}") for command in action.command.split("\n") if command.strip()]
        if action.destroys:
            lines += paragraph(action.destroys, width, "       destroys: ", style=Style.WARN)
    return lines


def _effects(effects: Sequence[Group], width: int, *, verbose: bool) -> list[Line]:
    total = sum(group.count for group in effects)
    return group_block(f"it explains {counted(total, 'other record')}", effects, width, verbose=verbose)


def group_block(title: str, groups: Sequence[Group], width: int, *, verbose: bool) -> list[Line]:
    """Findings by rule under a heading, each with how many records, what, and over which ranks and hosts."""
    shown = groups if verbose else groups[:_GROUPS]
    lines = heading(title, width) if groups else []
    for group in shown:
        spread = spread_words(group.hosts, group.ranks)
        outlived = ", after which the job went on" if group.role is Role.SURVIVED else ""
        text = f"{group.title} [{group.cause}]{outlived}" + (f": {spread}" if spread else "")
        lines += paragraph(text, width, f"    {group.count:>6,} x ")
        lines += paragraph(group.told, width, " " * 13) if group.told else []
    return lines + left_out(len(groups) - len(shown), "kind", width)


def left_out(number: int, noun: str, width: int) -> list[Line]:
    """How a cut list ends; nothing if it was not cut."""
    return (
        paragraph(f"and {counted(number, 'more ' + noun)} with --verbose", width, "           ") if number > 0 else []
    )


def _alternatives(root: Finding, width: int) -> list[Line]:
    if not root.alternatives:
        return []
    lines = heading("it could also be", width)
    for other in root.alternatives:
        place = place_words(other.place)
        lines += paragraph(
            f"{other.cause}, {how_sure(other.confidence)}" + (f", {place}" if place else ""), width, "    - "
        )
        lines += paragraph(other.tell_apart, width, "      tell apart by: ") if other.tell_apart else []
    return lines


def noted(finding: Finding, width: int, *, verbose: bool) -> list[Line]:
    """A finding that is no root and still the first thing to look at."""
    return [
        BLANK,
        *labelled("risk" if finding.severity is Severity.WARNING else "seen", finding.title, width),
        *_head(finding, width),
        *_observed(finding, width),
        *_evidence(finding, (), width, verbose=verbose),
        *_meaning(finding.explanation, width),
        *_actions(finding.actions, width),
        *_alternatives(finding, width),
    ]
