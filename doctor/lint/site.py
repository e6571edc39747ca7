"""Checks of a site file that can be used: silences that have ended, and slots that nothing fills."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Rule, Rulebook
from neuron_doctor.engine.site import Silence
from neuron_doctor.engine.sitefile import SiteActionDoc
from neuron_doctor.lint.remarks import Remark
from neuron_doctor.lint.rules import fillable, unfilled


def check_site(rulebook: Rulebook, path: str, today: date) -> Iterator[Remark]:
    """What is wrong with the site file at this path, as of a day."""
    for i, silence in enumerate(rulebook.site.silences if rulebook.site else ()):
        if silence.until < today.isoformat():
            yield Remark("silence-expired", path, ("silences", i, "until"), *_ended(silence))
    rules = {rule.id: rule for rule in rulebook.rules}
    patterns = {pattern.id: pattern for pattern in rulebook.patterns.patterns}
    for i, action in enumerate(rulebook.site.added if rulebook.site else ()):
        yield from _slots(action, path, i, rules, patterns)


def _ended(silence: Silence) -> tuple[str, str]:
    said = f"this silence ended with {silence.until}: its findings are told again"
    return said, "solve the problem, or look at the reason again and set another day"


def _slots(
    action: SiteActionDoc, path: str, number: int, rules: Mapping[str, Rule], patterns: Mapping[str, Pattern]
) -> Iterator[Remark]:
    """Slots that one of the rules cannot fill that the action is for; each told once."""
    told: set[tuple[object, ...]] = set()
    for rule in (rule for rule in rules.values() if rule.id in action.rules or rule.cause.id in action.causes):
        for keys, slot, hint in unfilled([action], fillable(rule, rules, patterns)):
            if (*keys, slot[0]) not in told:
                told.add((*keys, slot[0]))
                said = f"rule {rule.id!r} has nothing to fill the slot {slot[0]} with"
                yield Remark(
                    "unknown-slot", path, ("actions", number, *keys[2:]), said, hint, slot.start(), len(slot[0])
                )
