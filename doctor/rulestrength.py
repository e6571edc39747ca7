"""What the examples of a rule leave open, each thing at its place in the rule's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from neuron_doctor.engine.errors import RuleError
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.examples import Exhibit
from neuron_doctor.mutation import tried
from neuron_doctor.rulecoverage import coverage
from neuron_doctor.rulefiles import document_of
from neuron_doctor.ruleparts import Keys


class Strength(Struct, frozen=True):
    """Of so many things (`of`) that examples could show, what they do not."""

    of: int
    lacks: tuple[RuleError, ...]


def exercised(rule: Rule, exhibits: Sequence[Exhibit], packs: Sequence[Path]) -> Strength:
    """Which parts of the rule's condition its examples do not exercise."""
    leaves = list(coverage(rule, exhibits))
    return _strength(rule, len(leaves), [(leaf.keys, str(leaf)) for leaf in leaves if leaf.gaps], packs)


def noticed(rule: Rule, exhibits: Sequence[Exhibit], packs: Sequence[Path]) -> Strength:
    """Which mutants of the rule no example notices. `exhibits` are those that come out as the rule says."""
    found = list(tried(rule, exhibits))
    survivors = [(mutant.keys, f"no example notices: {mutant.what}") for mutant, seen in found if not seen]
    return _strength(rule, len(found), survivors, packs)


def _strength(rule: Rule, of: int, lacks: Sequence[tuple[Keys, str]], packs: Sequence[Path]) -> Strength:
    if not lacks:
        return Strength(of, ())
    source = document_of(rule, packs)
    return Strength(of, tuple(RuleError(source.at(*keys), f"{rule.id}: {said}") for keys, said in lacks))
