"""Filters what a report shows, never what was considered."""

from __future__ import annotations

from datetime import UTC, datetime

import typer
from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import DATED, Instant
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.verdict import Diagnosis, Finding
from neuron_doctor.engine.wallclock import ns_of

_RANGE = regex(r"(\d+)(?:-(\d+))?")


class Filter(Struct, frozen=True):
    """The ranks and the interval (nanoseconds of wall clock) to show; None for all."""

    ranks: frozenset[int] | None = None
    since_ns: int | None = None
    until_ns: int | None = None

    def apply(self, diagnosis: Diagnosis) -> Diagnosis:
        """The diagnosis with the findings that pass; the verdict stays as it is."""
        if self == Filter():
            return diagnosis
        kept = [finding for finding in diagnosis.findings if self._passes(finding)]
        ids = {finding.id for finding in kept}
        return replace(
            diagnosis,
            findings=tuple(replace(f, explains=tuple(i for i in f.explains if i in ids)) for f in kept),
            root_causes=tuple(i for i in diagnosis.root_causes if i in ids),
            edges=tuple(edge for edge in diagnosis.edges if {edge.source, edge.target} <= ids),
            unexplained=tuple(i for i in diagnosis.unexplained if i in ids),
        )

    def _passes(self, finding: Finding) -> bool:
        if self.ranks is not None and finding.place.ranks and not self.ranks & set(finding.place.ranks):
            return False
        first, last = _wall(finding.first), _wall(finding.last)
        over = self.since_ns is not None and last is not None and last < self.since_ns
        to_come = self.until_ns is not None and first is not None and first > self.until_ns
        return not over and not to_come


def _wall(instant: Instant | None) -> int | None:
    return instant.ns if instant and instant.clock in DATED else None


def parse_filter(ranks: str, since: str, until: str) -> Filter:
    """The filter that the options describe; empty text is no limit. Raises typer.BadParameter."""
    return Filter(_ranks(ranks) if ranks else None, _time(since), _time(until))


def _ranks(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match:
            raise typer.BadParameter(f"{text!r} is not a list of ranks such as 0-7,12")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(found)


def _time(text: str) -> int | None:
    if not text:
        return None
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a time such as 2026-05-01T12:00:00Z") from error
    return ns_of(parsed.replace(tzinfo=parsed.tzinfo or UTC))
