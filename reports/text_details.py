"""The second part of the text report: findings by role, what hangs on what, sources, what stays unexplained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from neuron_doctor.engine.facts import Source
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.verdict import ClockOffset, Diagnosis, Edge, Finding
from neuron_doctor.reports.collecting import collected_words, resting_words
from neuron_doctor.reports.lines import BLANK, Line, Style, paragraph
from neuron_doctor.reports.site import checked_words
from neuron_doctor.reports.summary import collected, shown, source_ranks
from neuron_doctor.reports.times import when
from neuron_doctor.reports.wording import (
    EDGE,
    ROLE,
    clock_words,
    counted,
    host_words,
    middle_shortened,
    place_of,
    rank_words,
    size_words,
    where,
)

Entry = TypeVar("Entry")

#: Of a list in the details so many entries are shown without `--verbose`.
_MOST = 8
#: So many findings that another one sums up are named.
_NAMED = 4


def details(diagnosis: Diagnosis, width: int, *, verbose: bool) -> list[Line]:
    """Everything that the first screen has no room for; each list is cut unless `verbose`."""
    parts = [
        *_findings(diagnosis, width, verbose=verbose),
        *_edges(diagnosis.edges, width, verbose=verbose),
        *_unexplained(diagnosis, width, verbose=verbose),
        *_resting(diagnosis, width),
        *(_clocks(diagnosis.clocks, width) if verbose else []),
        *(_sources(diagnosis.sources, width, verbose=verbose) if diagnosis.root_causes or verbose else []),
        *_problems_of(diagnosis.sources, width, verbose=verbose),
    ]
    rules = f"checked with {counted(diagnosis.rulebook_rules, 'rule')}, rulebook {diagnosis.rulebook_sha256[:12]}"
    footer = [line for text in (rules, *checked_words(diagnosis)) for line in paragraph(text, width, style=Style.FAINT)]
    return [BLANK, Line("-" * width, Style.FAINT), *parts, BLANK, *footer]


def _heading(text: str, width: int) -> list[Line]:
    return [BLANK, *paragraph(text, width, style=Style.STRONG)]


def _some(entries: Sequence[Entry], *, verbose: bool) -> Sequence[Entry]:
    return entries if verbose else entries[:_MOST]


def _rest(entries: Sequence[object], *, verbose: bool) -> list[Line]:
    left = 0 if verbose else len(entries) - _MOST
    return [Line(f"  and {left:,} more with --verbose")] if left > 0 else []


def _findings(diagnosis: Diagnosis, width: int, *, verbose: bool) -> list[Line]:
    lines: list[Line] = []
    for role in Role:
        members = [one for one in (diagnosis.findings if verbose else shown(diagnosis)) if one.role is role]
        lines += _heading(f"{ROLE[role]} ({len(members):,})", width) if members else []
        for finding in _some(members, verbose=verbose):
            lines += _finding(finding, width)
        lines += _rest(members, verbose=verbose)
    return lines


def _finding(finding: Finding, width: int) -> list[Line]:
    times = f", {finding.count:,} times" if finding.count > 1 else ""
    times += f", hidden until {finding.silenced.until}" if finding.silenced else ""
    about = [text for text in (place_of(finding), when(finding.first, finding.last)) if text]
    lines = paragraph(f"{finding.title} [{finding.id}]{times}", width, "  * ")
    lines += paragraph("; ".join(about), width, "    ") if about else []
    lines += paragraph(_sum(finding), width, "    ") if finding.sums_up else []
    return lines + [Line(f"    {where(span)}") for span in finding.evidence[:1]]


def _sum(finding: Finding) -> str:
    """Which findings it tells of together, the first of them by name."""
    named, rest = ", ".join(finding.sums_up[:_NAMED]), len(finding.sums_up) - _NAMED
    return f"sums up {counted(len(finding.sums_up), 'finding')}: {named}" + (f" and {rest:,} more" if rest > 0 else "")


def _edges(edges: Sequence[Edge], width: int, *, verbose: bool) -> list[Line]:
    lines = _heading(f"What hangs on what ({len(edges):,})", width) if edges else []
    for edge in _some(edges, verbose=verbose):
        why = f": {edge.why}" if edge.why else ""
        lines += paragraph(f"{edge.source} {EDGE[edge.type]} {edge.target}{why}", width, "  ", "    ")
    return lines + _rest(edges, verbose=verbose)


def _unexplained(diagnosis: Diagnosis, width: int, *, verbose: bool) -> list[Line]:
    by_id = {finding.id: finding for finding in diagnosis.findings}
    members = [by_id[i] for i in diagnosis.unexplained if i in by_id and (verbose or not by_id[i].silenced)]
    lines = _heading(f"Unexplained ({len(members):,})", width) if members else []
    for finding in _some(members, verbose=verbose):
        lines += paragraph(f"{finding.title} [{finding.id}]", width, "  * ")
    return lines + _rest(members, verbose=verbose)


def _resting(diagnosis: Diagnosis, width: int) -> list[Line]:
    told = resting_words(diagnosis.counterfactuals)
    lines = _heading("What the verdict rests on", width) if told else []
    return lines + [line for text in told for line in paragraph(text, width, "  * ", "    ")]


def _clocks(clocks: Sequence[ClockOffset], width: int) -> list[Line]:
    lines = _heading(f"Clocks ({len(clocks):,})", width) if clocks else []
    return lines + [line for clock in clocks for line in paragraph(clock_words(clock), width, "  * ", "    ")]


def _sources(sources: Sequence[Source], width: int, *, verbose: bool) -> list[Line]:
    """By kind in short, one by one if verbose; without a root cause the first screen has them by kind."""
    lines = _heading(f"Sources ({len(sources):,})", width) if sources else []
    for source in sources if verbose else ():
        lines += _source(source, width)
    for kind in () if verbose else collected(sources):
        lines += paragraph(collected_words(kind), width, "  ", "    ")
    return lines


def _problems_of(sources: Sequence[Source], width: int, *, verbose: bool) -> list[Line]:
    damaged = [source for source in sources if source.problems]
    lines = _heading(f"Problems in sources ({len(damaged):,})", width) if damaged else []
    for source in _some(damaged, verbose=verbose):
        lines += _problems(source, width)
    return lines + _rest(damaged, verbose=verbose)


def _source(source: Source, width: int) -> list[Line]:
    place = [host_words([source.place.host]) if source.place.host else "", rank_words(source_ranks(source))]
    facts = [source.kind, *place, size_words(source.size), when(source.first, source.last)]
    lines = [Line(f"  {middle_shortened(source.path, width - 2)}")]
    return lines + paragraph(", ".join(fact for fact in facts if fact), width, "    ")


def _problems(source: Source, width: int) -> list[Line]:
    lines = [Line(f"  {middle_shortened(source.path, width - 2)}")]
    for problem in source.problems:
        first = f", first at line {problem.line:,}" if problem.line is not None else ""
        times = (
            f" ({problem.count:,} times{first})"
            if problem.count > 1
            else (f" (line {problem.line:,})" if first else "")
        )
        lines += paragraph(problem.what + times, width, "    ")
    return lines
