"""Why one rule fires on a collection, or does not: every place at which it was looked at, and what became of what it found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.diagnosis import Evidence, diagnose, evidence_of
from neuron_doctor.engine.evaluate import Scene
from neuron_doctor.engine.facts import NOWHERE, Collection, Fact, Place, ranks_of
from neuron_doctor.engine.match import SCOPES, Ground, Key, Match, ground_of, matches_of, scenes
from neuron_doctor.engine.near_patterns import Near
from neuron_doctor.engine.nearest import Reason, Surroundings, reason
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.verdict import Finding, Proof


class Look(Struct, frozen=True):
    """One place at which the rule was looked at, and why it holds there or does not."""

    place: Place
    reason: Reason


class Why(Struct, frozen=True):
    """The places, those at which the rule holds first, then the nearest misses; the findings that the diagnosis has of it; and
    the rules that took its place where it held and no finding is left."""

    rule: Rule
    looks: tuple[Look, ...]
    findings: tuple[Finding, ...]
    superseded_by: tuple[str, ...]


def unseen(rulebook: Rulebook, rule: Rule, collection: Collection) -> list[Pattern]:
    """The patterns that the rule asks for and that match nothing."""
    seen = {fact.name for fact in collection.facts}
    wanted = {query.name for query in cond.queries(rule.when)} - seen
    return [pattern for pattern in rulebook.patterns.patterns if pattern.id in wanted]


def why(rulebook: Rulebook, rule: Rule, collection: Collection, near: Mapping[str, Near]) -> Why:
    """Look at one rule of the rulebook everywhere in a collection. `near`: the lines that its unseen patterns nearly match."""
    evidence = evidence_of(collection, rulebook.harmless)
    ground = ground_of(rulebook, evidence.facts, evidence.sources, evidence.topology)
    earlier: dict[str, list[Match]] = {}
    for other in rulebook.rules:
        earlier[other.id] = matches_of(other, ground, earlier) if other.id != rule.id else []
        if other.id == rule.id:
            break
    by_name: dict[str, list[Fact]] = defaultdict(list)
    for fact in evidence.facts:
        by_name[fact.name].append(fact)
    looked = [
        Look(
            _place(rule, key), reason(rule.when, scene, _around(rulebook, rule, key, evidence, by_name, earlier, near))
        )
        for key, scene in scenes(rule, ground, earlier)
    ]
    if not looked:
        around = _around(rulebook, rule, None, evidence, by_name, earlier, near)
        looked = [Look(NOWHERE, reason(rule.when, _empty(ground), around))]
    findings = diagnose(rulebook, collection).findings
    own = tuple(finding for finding in findings if finding.rule == rule.id)
    if own and not any(
        look.reason.held for look in looked
    ):  # of what is known only after the verdict: what all failed ones share
        looked = [Look(finding.place, _proven(finding.proof)) for finding in own]
    fired = {finding.rule for finding in findings}
    superseded_by = tuple(other.id for other in rulebook.rules if rule.id in other.supersedes and other.id in fired)
    return Why(rule, tuple(sorted(looked, key=_nearness)), own, superseded_by)


def _proven(proof: Proof) -> Reason:
    return Reason(proof.op, proof.held, "", proof.facts, tuple(map(_proven, proof.children)))


def _empty(ground: Ground) -> Scene:
    return Scene({}, ground.sources, ground.known)


def _place(rule: Rule, key: Key) -> Place:
    known: dict[str, Any] = {
        name: part for name, part in zip(SCOPES[rule.at], key, strict=True) if part not in (None, ())
    }
    return Place(**known)


def _around(
    rulebook: Rulebook,
    rule: Rule,
    key: Key | None,
    evidence: Evidence,
    by_name: Mapping[str, Sequence[Fact]],
    earlier: Mapping[str, Sequence[Match]],
    near: Mapping[str, Near],
) -> Surroundings:
    """What lies around the place of a key; `None`: nowhere."""
    names = dict.fromkeys(query.name for query in cond.queries(rule.when))
    job = {name: by_name.get(name, ()) for name in names}
    here = job if key is None else {name: _at(facts, rule, key) for name, facts in job.items()}
    patterns = {pattern.id: pattern for pattern in rulebook.patterns.patterns}
    collected = Counter(source.kind for source in evidence.sources)
    wanted = dict.fromkeys(reference.rule for reference in cond.references(rule.when))
    findings = {name: _places(earlier.get(name, ())) for name in wanted}
    return Surroundings(here, job, patterns, collected, findings, near)


def _at(facts: Iterable[Fact], rule: Rule, key: Key) -> list[Fact]:
    """The facts that may be of the place of a key: they contradict it in nothing."""
    wanted = [(name, part) for name, part in zip(SCOPES[rule.at], key, strict=True) if part not in (None, ())]
    return [fact for fact in facts if all(_may_be(fact.place, name, part) for name, part in wanted)]


def _may_be(place: Place, name: str, part: object) -> bool:
    if name == "rank":
        return not ranks_of(place) or part in ranks_of(place)
    return getattr(place, name) in (None, (), part)


def _places(matches: Iterable[Match]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(match.place for match in matches))


def _nearness(look: Look) -> tuple[bool, float]:
    """Places where the rule holds come first, then those where most of its parts do."""
    leaves = list(_leaves(look.reason))
    return not look.reason.held, -sum(bool(leaf) for leaf in leaves) / len(leaves)


def _leaves(reason: Reason, *, wanted: bool = True) -> Iterable[bool]:
    """Whether each of the smallest parts is as the rule wants it."""
    if not reason.children:
        yield reason.held is wanted
    for child in reason.children:
        yield from _leaves(child, wanted=wanted is not (reason.op == "none"))
