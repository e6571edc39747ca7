"""What has been read of rule packs and is not linked yet, with all that is wrong with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from msgspec import Struct, field

from neuron_doctor.engine.errors import Location, RuleError
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Cause
from neuron_doctor.engine.rulefile import ConditionDoc, RuleDoc
from neuron_doctor.engine.yamlfile import Document


class Unlinked(Struct):
    """The parts of all packs by name, each with where it stands. `terms`: named sets of causes; `conditions`: named
    conditions; `unread`: the names of rules and patterns in files that are wrong, of which nobody complains that they are not
    there."""

    errors: list[RuleError] = field(default_factory=list)
    causes: dict[str, Cause] = field(default_factory=dict)
    terms: dict[str, list[str]] = field(default_factory=dict)
    conditions: dict[str, tuple[str | ConditionDoc, Document]] = field(default_factory=dict)
    patterns: dict[str, tuple[Pattern, Location]] = field(default_factory=dict)
    rules: dict[str, tuple[RuleDoc, Document]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)

    def complain(self, location: Location, message: str, hint: str = "", check: str = "name") -> None:
        """Note that something is wrong, which check it fails, and what to do about it."""
        self.errors.append(RuleError(location, message, hint, check))


def near(name: str, known: Iterable[str]) -> str:
    """What was probably meant, as a hint; empty where nothing is like it."""
    found = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean {found[0]!r}?" if found else ""
