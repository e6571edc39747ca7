"""The JSON report, `neuron-doctor/report/1`: what scripts rely on (docs/report.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import cast

import msgspec

from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.verdict import Action, Alternative, ClockOffset, Diagnosis, Edge, Finding
from neuron_doctor.reports.objects import (
    MOST,
    Json,
    Object,
    clean,
    place_object,
    proof_object,
    source_object,
    span_object,
)
from neuron_doctor.reports.site import pack_object, silence_object, site_object
from neuron_doctor.reports.summary import ranks_of
from neuron_doctor.reports.times import time_object

SCHEMA = "neuron-doctor/report/1"

#: An array of numbers as `json` indents it. No string holds a line end, so this never matches inside one.
_SPREAD_NUMBERS = regex(r"\[\n[-0-9,\s]+\]")


def render_json(diagnosis: Diagnosis, *, exit_status: int, version: str) -> str:
    """The report as text that ends with a line end; the same bytes for equal diagnoses. `exit_status` is what the
    process is going to return, `version` that of the program."""
    return "".join(_pieces(_members(diagnosis, exit_status=exit_status, version=version)))


def _pieces(members: Iterable[tuple[str, Json | Iterator[Json]]]) -> Iterator[str]:
    """The text bit by bit: the objects of a report of a large job take three times the memory of its text."""
    opening = "{\n"
    for name, value in members:
        if value is not None:
            yield f'{opening} "{name}": '
            yield from _listed(value) if isinstance(value, Iterator) else [_formatted(value, " ")]
            opening = ",\n"
    yield "\n}\n"


def _listed(values: Iterator[Json]) -> Iterator[str]:
    opening = "["
    for value in values:
        yield f"{opening}\n  {_formatted(value, '  ')}"
        opening = ","
    yield "[]" if opening == "[" else "\n ]"


def _formatted(value: Json, indent: str) -> str:
    """A value on lines that begin with this indentation, but for the first one."""
    # `json` writes without indentation in C, and with it in Python, which takes four times as long as both of these.
    text = msgspec.json.format(json.dumps(clean(value), ensure_ascii=False, allow_nan=False), indent=1)
    text = _SPREAD_NUMBERS.sub(lambda match: " ".join(match[0].split()).replace("[ ", "[").replace(" ]", "]"), text)
    return text.replace("\n", f"\n{indent}")


def report_object(diagnosis: Diagnosis, *, exit_status: int, version: str) -> Object:
    """The report as a plain object: dictionaries, lists, strings, numbers."""
    members = _members(diagnosis, exit_status=exit_status, version=version)
    return cast("Object", clean({name: [*value] if isinstance(value, Iterator) else value for name, value in members}))


def _members(diagnosis: Diagnosis, *, exit_status: int, version: str) -> Iterator[tuple[str, Json | Iterator[Json]]]:
    """The members of the report; of those that grow with the job, the elements are made when they are asked for."""
    verdict = diagnosis.verdict
    rulebook: Object = {
        "sha256": diagnosis.rulebook_sha256,
        "rules": diagnosis.rulebook_rules,
        "packs": [pack_object(pack) for pack in diagnosis.packs],
    }
    yield "schema", SCHEMA
    yield (
        "tool",
        {
            "version": version,
            "rulebook": rulebook,
            "plugins": [
                {"name": plugin.name, "package": plugin.package, "version": plugin.version}
                for plugin in diagnosis.plugins
            ],
        },
    )
    yield "sources", map(source_object, sorted(diagnosis.sources, key=lambda s: (s.path, s.id)))
    yield (
        "verdict",
        {
            "status": verdict.status,
            "headline": verdict.headline,
            "complete": verdict.complete,
            "exit_status": exit_status,
            "missing": sorted(diagnosis.missing),
            **({"replaces": verdict.replaces} if verdict.replaces else {}),
        },
    )
    yield "root_causes", diagnosis.root_causes
    yield "findings", map(_finding, sorted(diagnosis.findings, key=lambda f: f.id))
    yield "edges", _edges(diagnosis.edges)
    yield (
        "not_evaluable",
        [
            {"rule": rule.rule, "needs": sorted(rule.needs), "lacks": rule.lacks or None}
            for rule in sorted(diagnosis.not_evaluable, key=lambda r: (r.rule, r.needs))
        ],
    )
    yield "unexplained", sorted(diagnosis.unexplained)
    yield "site", site_object(diagnosis)
    yield "clocks", map(_clock, diagnosis.clocks)
    yield (
        "counterfactuals",
        [
            {
                "kind": trial.kind,
                "without": trial.without,
                "flips": trial.flips,
                "status": trial.verdict.status,
                "headline": trial.verdict.headline,
            }
            for trial in diagnosis.counterfactuals
        ],
    )


def _finding(finding: Finding) -> Object:
    left_out = max(len(finding.evidence) - MOST, 0)
    return {
        "id": finding.id,
        "rule": finding.rule,
        "cause": finding.cause,
        "title": finding.title,
        "severity": finding.severity,
        "role": finding.role,
        "confidence": finding.confidence,
        "count": finding.count,
        "place": place_object(finding.place, ranks_of(finding), finding.hosts),
        "time": time_object(finding.first, finding.last),
        "evidence": [span_object(span) for span in finding.evidence[:MOST]],
        "omitted": left_out,
        "explains": sorted(finding.explains),
        "alternatives": [_alternative(alternative) for alternative in finding.alternatives],
        "actions": [action_object(action) for action in finding.actions],
        "proof": proof_object(finding.proof),
        "observed": finding.observed or None,
        "explanation": finding.explanation or None,
        "references": finding.references or None,
        "sums_up": finding.sums_up or None,
        "silenced": silence_object(finding.silenced) if finding.silenced else None,
    }


def _alternative(alternative: Alternative) -> Object:
    return {
        "cause": alternative.cause,
        "confidence": alternative.confidence,
        "place": place_object(alternative.place),
        "tell_apart": alternative.tell_apart,
    }


def action_object(action: Action) -> Object:
    """One step, as reports have it."""
    return {
        "action": action.action,
        "target": action.target or None,
        "command": action.command or None,
        "precondition": action.precondition or None,
        "note": action.note or None,
        "destroys": action.destroys or None,
        "by": "site" if action.by_site else None,
    }


def _clock(clock: ClockOffset) -> Object:
    return {
        "host": clock.host,
        "clock": clock.clock,
        "reference": clock.reference,
        "offset_s": clock.offset_s,
        "error_s": clock.error_s,
        "from": clock.witnesses,
    }


def _edges(edges: Iterable[Edge]) -> Iterator[Object]:
    for edge in sorted(edges, key=lambda edge: (edge.source, edge.target, edge.type, edge.why)):
        yield {"from": edge.source, "to": edge.target, "type": edge.type, "why": edge.why}
