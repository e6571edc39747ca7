"""The examples of a rule, each collected once: what the rule is then looked at on, as it is or changed."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.walk import find
from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.decide import decide
from neuron_doctor.engine.diagnosis import Evidence, evidence_of
from neuron_doctor.engine.facts import Collection, Fact
from neuron_doctor.engine.match import Ground, Match, all_matches, ground_of, matches_of
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.rulefile import ExampleDoc
from neuron_doctor.engine.shared_places import KIND as SHARED_PLACE
from neuron_doctor.engine.shared_places import shared_places
from neuron_doctor.pipeline import collect_inputs, collection_of
from neuron_doctor.request import Request
from neuron_doctor.rulefiles import texts_of
from neuron_doctor.scan import Engine
from neuron_doctor.shards import planned, scan


class Exhibit(Struct, frozen=True):
    """One example with what was collected of it, the rules that could find anything in it (and this one), what they are looked
    at on, what the rules that this one asks for have found there, and where this one holds."""

    example: ExampleDoc
    positive: bool
    collection: Collection
    rulebook: Rulebook
    facts: tuple[Fact, ...]
    ground: Ground
    earlier: Mapping[str, Sequence[Match]]
    matches: Sequence[Match]


def exhibits_of(rule: Rule, rulebook: Rulebook, engine: Engine) -> Iterator[Exhibit]:
    """The examples of a rule, positives first."""
    if rule.examples is None:
        return
    asked, names = _asked([rule], rulebook), _names(rulebook)
    for positive, examples in ((True, rule.examples.positive), (False, rule.examples.negative)):
        for example in examples:
            collection = collected(example, rulebook, engine)
            evidence = evidence_of(collection, rulebook.harmless)
            some = _for_these(rulebook, names, evidence.facts, rule)
            facts = (*evidence.facts, *_shared(rule, some, evidence))
            ground = ground_of(rulebook, facts, evidence.sources, evidence.topology)
            earlier: dict[str, Sequence[Match]] = {}
            for other in asked:
                earlier[other.id] = matches_of(other, ground, earlier)
            yield Exhibit(
                example, positive, collection, some, facts, ground, earlier, matches_of(rule, ground, earlier)
            )


def collected(example: ExampleDoc, rulebook: Rulebook, engine: Engine) -> Collection:
    """The facts and sources of one example. Its directory, if it is one, must be an absolute path."""
    if example.directory is None:
        return collect_inputs(inputs_of(texts_of(example)), engine)
    found = (replace(f, path=os.path.relpath(f.path, example.directory)) for f in find((example.directory,)))
    return collection_of([scan(shard, engine) for shard in planned(found, engine)], Request(()), rulebook)


def inputs_of(files: Mapping[str, str]) -> Iterator[Input]:
    """Inputs made of texts by path."""
    for path, text in sorted(files.items()):
        raw = text.encode()
        stream: io.BufferedReader = io.BufferedReader(io.BytesIO(raw), 2 * HEAD)
        name = path.rpartition("/")[2]
        yield Input(path, name, stream, len(raw), place_of_path(path), source_id=path)


def _names(rulebook: Rulebook) -> Mapping[str, frozenset[str]]:
    """For each rule the names of the records that it can begin with."""
    return {rule.id: frozenset(query.name for query in cond.anchors(rule.when)) for rule in rulebook.rules}


def _for_these(rulebook: Rulebook, names: Mapping[str, frozenset[str]], facts: Sequence[Fact], rule: Rule) -> Rulebook:
    """The rulebook without the rules that can find nothing in these facts, whose only effect is that it takes longer."""
    there = {SHARED_PLACE, *(fact.name for fact in facts)}
    some = [other for other in rulebook.rules if other.id == rule.id or not there.isdisjoint(names[other.id])]
    needed = {other.id for other in (*some, *_asked(some, rulebook))}
    return replace(rulebook, rules=tuple(other for other in rulebook.rules if other.id in needed))


def _asked(rules: Sequence[Rule], rulebook: Rulebook) -> list[Rule]:
    """The rules whose findings these ask for, and those that they ask for, in the order of the rulebook."""
    wanted = {reference.rule for rule in rules for reference in cond.references(rule.when)}
    asked: list[Rule] = []
    for other in reversed(rulebook.rules):
        if other.id in wanted:
            wanted |= {reference.rule for reference in cond.references(other.when)}
            asked.insert(0, other)
    return asked


def _shared(rule: Rule, rulebook: Rulebook, evidence: Evidence) -> Sequence[Fact]:
    """What the failing ranks have in common, for a rule that asks for it: known only when all others have been applied."""
    if not any(query.name == SHARED_PLACE for query in cond.queries(rule.when)):
        return ()
    matches = all_matches(rulebook, evidence.facts, evidence.sources, evidence.topology)
    graph = decide(matches, evidence.facts, evidence.sources)
    return shared_places(graph, evidence.facts, evidence.sources, evidence.topology)
