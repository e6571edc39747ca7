"""Which mutants of a rule its examples notice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.match import Match, matches_of
from neuron_doctor.engine.rulebook import Rule
from neuron_doctor.examples import Exhibit
from neuron_doctor.rulemutants import Mutant, mutants
from neuron_doctor.ruletest import fault_of


def tried(rule: Rule, exhibits: Sequence[Exhibit]) -> Iterator[tuple[Mutant, bool]]:
    """Every mutant of a rule, and whether an example notices it: it comes out as the rule says, but not with the mutant.
    `exhibits` are those that come out as the rule says."""
    for mutant in mutants(rule):
        changed = replace(rule, when=mutant.when)
        yield mutant, any(_noticed(exhibit, changed) for exhibit in exhibits)


def _noticed(exhibit: Exhibit, changed: Rule) -> bool:
    """Whether an example fails for the changed rule. Where that holds at the same places by the same facts, it does not."""
    found = matches_of(changed, exhibit.ground, exhibit.earlier)
    return _told(found) != _told(exhibit.matches) and bool(fault_of(exhibit, changed))


def _told(matches: Sequence[Match]) -> list[object]:
    return [(match.place, match.hosts, match.facts) for match in matches]
