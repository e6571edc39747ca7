"""What is known of rules when they are run: rules, patterns and causes of all packs, linked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from msgspec import Struct, field

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.errors import Location
from neuron_doctor.engine.expressions import RecordQuery
from neuron_doctor.engine.grades import Complaint, EdgeType, Severity
from neuron_doctor.engine.parameters import Parameter
from neuron_doctor.engine.patterns import PatternSet
from neuron_doctor.engine.rulefile import (
    ActionDoc,
    AlternativeDoc,
    ExamplesDoc,
)
from neuron_doctor.engine.site import Site

T = TypeVar("T")


class Cause(Struct, frozen=True):
    """One class of cause. `by` says who is normally at fault: hardware, host, network, config, model, user, peer, none;
    `seen` what people see of it first."""

    id: str
    family: str
    by: str
    meaning: str
    seen: tuple[Complaint, ...] = ()


class Tie(Struct, frozen=True):
    """What ties findings of a rule to those of `causes`: they stand in `relation`, and the consequences began at most `lead_ns`
    before and at most `within_ns` after what they are consequences of."""

    causes: frozenset[str]
    relation: str
    within_ns: int
    lead_ns: int
    edge: EdgeType


class Explains(Tie, frozen=True):
    """Findings of `causes` are consequences of this rule's, but those that have a record for which one of `unless` holds."""

    unless: tuple[RecordQuery, ...]


class Follows(Tie, frozen=True):
    """The same read the other way round: this rule's findings are consequences of findings of `causes` (empty: of any `but`
    these) by other rules; `roots`: by rules of that role alone; `unknown`: also where the places do not tell the relation."""

    but: frozenset[str]
    roots: bool
    unknown: bool


class Rule(Struct, frozen=True):
    """One rule, ready to be evaluated; `parameters` names those whose values its conditions have in them."""

    id: str
    title: str
    cause: Cause
    severity: Severity
    role: str
    at: str
    status: str
    confidence: float
    when: cond.Condition
    explanation: str
    explains: tuple[Explains, ...]
    follows: tuple[Follows, ...]
    sole: bool
    shared: bool
    supersedes: frozenset[str]
    alternatives: tuple[AlternativeDoc, ...]
    actions: tuple[ActionDoc, ...]
    references: tuple[str, ...]
    trust: tuple[str, ...]
    entries: tuple[str, ...]
    survivable: bool | Literal["anew", "job", "foretold", "served", "restarted"]
    ends: tuple[RecordQuery, ...]
    examples: ExamplesDoc | None
    location: Location
    patterns: tuple[str, ...] = ()
    headline: str = ""
    parameters: tuple[str, ...] = ()
    pack: str = ""
    names_core: bool = False


class Pack(Struct, frozen=True):
    """A pack that counts: `sha256` is of its YAML files, `rules` how many of it there are, `base` what errors call its folder.
    Without a manifest it has no version."""

    name: str
    version: str
    sha256: str
    rules: int = 0
    base: str = ""


class Rulebook(Struct, frozen=True):
    """Everything that the packs say. `rules` stand in an order in which every referenced rule precedes its users."""

    rules: tuple[Rule, ...]
    patterns: PatternSet
    causes: Mapping[str, Cause]
    sha256: str
    pattern_locations: Mapping[str, Location] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    packs: tuple[Pack, ...] = ()
    site: Site | None = None

    @property
    def harmless(self) -> frozenset[str]:
        """The patterns that only benign rules look for: no process ends with what they match."""
        found = {
            of_benign: {p for rule in self.rules if (rule.role == "benign") is of_benign for p in rule.patterns}
            for of_benign in (True, False)
        }
        return frozenset(found[True] - found[False])
