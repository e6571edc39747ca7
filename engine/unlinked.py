"""What has been read of rule packs and is not linked yet, with all that is wrong with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from msgspec import Struct, field

from neuron_doctor.engine.errors import Location, RuleError
from neuron_doctor.engine.parameters import Parameter
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Cause
from neuron_doctor.engine.rulefile import ConditionDoc, RuleDoc
from neuron_doctor.engine.sitefile import SiteActionDoc
from neuron_doctor.engine.yamlfile import Document


class Unlinked(Struct):
    """The parts of all packs by name, each with where it stands. `terms`: named sets of causes; `conditions`: named
    conditions; `parameters`: as the site file calls them; `unread`: the names of rules, patterns and parameters in files that
    are wrong, of which nobody complains that they are not there; `claimed`: the other names that are taken, by what they are
    names of; `packs`: the name of the pack by the path of the file; `added`: actions of the
    site."""

    errors: list[RuleError] = field(default_factory=list)
    causes: dict[str, Cause] = field(default_factory=dict)
    terms: dict[str, list[str]] = field(default_factory=dict)
    conditions: dict[str, tuple[str | ConditionDoc, Document]] = field(default_factory=dict)
    patterns: dict[str, tuple[Pattern, Location]] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    rules: dict[str, tuple[RuleDoc, Document]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    claimed: dict[tuple[str, str], Location] = field(default_factory=dict)
    packs: dict[str, str] = field(default_factory=dict)
    added: list[SiteActionDoc] = field(default_factory=list)

    def complain(self, location: Location, message: str, hint: str = "", check: str = "name") -> None:
        """Note that something is wrong, which check it fails, and what to do about it."""
        self.errors.append(RuleError(location, message, hint, check))

    def claim(self, what: str, name: str, location: Location) -> bool:
        """Whether the name is free, and from now on taken; that it is not is noted."""
        first = self.claimed.setdefault((what, name), location)
        if first is not location:
            self.complain(location, f"{what} {name!r} stands at {first} already", "rename one", "duplicate-id")
        return first is location

    def shared_parameters(self) -> dict[str, Parameter]:
        """Those that all rules may refer to, by their names."""
        return {name: parameter for name, parameter in self.parameters.items() if "." not in name}

    def parameters_of(self, rule: str) -> dict[str, Parameter]:
        """Those that a rule may refer to, by what it calls them: its own, and those that all share."""
        own = {one.short: one for one in self.parameters.values() if one.name.startswith(f"{rule}.")}
        return self.shared_parameters() | own


def near(name: str, known: Iterable[str]) -> str:
    """What was probably meant, as a hint; empty where nothing is like it."""
    found = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean {found[0]!r}?" if found else ""
