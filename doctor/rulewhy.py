"""Why a rule fires on the inputs of a request: they are read once as always, and once more for what its patterns miss."""

from __future__ import annotations

from typing import BinaryIO

from msgspec.structs import replace

from neuron_doctor.collectors.walk import STDIN
from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.near_patterns import Near, nearest_line, parts_of
from neuron_doctor.engine.patterns import Pattern, PatternSet
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.why import Why, unseen, why
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def why_of(request: Request, rulebook: Rulebook, rule: Rule, stdin: BinaryIO | None = None) -> Why:
    """Why the rule fires on what the request names, or does not. Raises MissingPath."""
    collection = collect(request, rulebook, stdin)
    return why(rulebook, rule, collection, _near(request, rulebook, unseen(rulebook, rule, collection)))


def _near(request: Request, rulebook: Rulebook, patterns: list[Pattern]) -> dict[str, Near]:
    """The nearest line of each of these patterns. Standard input is read already, and is not looked at again."""
    parts = tuple(part for pattern in patterns for part in parts_of(pattern))
    paths = tuple(path for path in request.paths if path != STDIN)
    again = replace(
        request, paths=paths, packs=replace(request.packs, pure=True)
    )  # a database for one search is not kept
    if not parts or not again.paths:
        return {}
    found: Collection = collect(again, replace(rulebook, patterns=PatternSet(parts)))
    lines = {pattern.id: nearest_line(pattern, found.facts) for pattern in patterns}
    return {name: line for name, line in lines.items() if line is not None}
