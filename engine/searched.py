"""What a rulebook looks for, and how what another one has read is understood: no fact is misread, and nothing follows from the
absence of what was never looked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec.structs import replace

from neuron_doctor.engine.digests import blake2b
from neuron_doctor.engine.facts import Fact, Searched
from neuron_doctor.engine.fitting import Fitting, is_dated
from neuron_doctor.engine.kinds import KINDS, FactKind
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.readings import Reading
from neuron_doctor.engine.rulebook import Rulebook

#: Ends the digest of a pattern of which a rule counts the records: their storms were not capped.
_COUNTED = "+"


def _digest(*parts: object) -> str:
    return blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=4).hexdigest()


def _of_pattern(pattern: Pattern) -> str:
    """A digest of all that makes a fact of a match."""
    fields, values = sorted(pattern.fields.items()), sorted(pattern.values.items())
    what = _digest(pattern.regex, pattern.channel, fields, pattern.emits, values, pattern.anchor, pattern.above)
    return what + _COUNTED if pattern.counted else what


def _of_kind(kind: FactKind) -> str:
    return _digest(sorted(kind.fields.items()))


def searched_by(rulebook: Rulebook) -> Searched:
    """What the collectors look for with this rulebook."""
    names = {pattern.id: _of_pattern(pattern) for pattern in rulebook.patterns.patterns}
    return searched_for(names | {kind.name: _of_kind(kind) for kind in KINDS.values()})


def searched_for(names: Mapping[str, str]) -> Searched:
    """These names, under the digest of them all."""
    return Searched(_digest(*sorted(names.items())), dict(sorted(names.items())))


def understood(readings: Iterable[Reading], rulebook: Rulebook) -> list[Reading]:
    """The readings as this rulebook can use them. Of a source that several rulebooks have read, the reading that lacks least
    is taken. Hits of patterns that this rulebook defines otherwise or not at all are left out, and what is no fact."""
    readings = list(readings)
    if all(reading.source.searched is None for reading in readings):
        return readings
    own = Understanding(rulebook)
    best: dict[tuple[str, str], Reading] = {}
    for reading in readings:
        key = (reading.source.id, reading.source.path)
        best[key] = min(best.get(key, reading), reading, key=own.preference)
    return [own.taken(reading) for reading in best.values()]


class Understanding:
    """What a rulebook makes of what others have searched for."""

    def __init__(self, rulebook: Rulebook) -> None:
        self.rulebook = rulebook
        self._lacks: dict[Searched, frozenset[str]] = {}

    @cached_property
    def searched(self) -> Searched:
        """What this rulebook looks for itself."""
        return searched_by(self.rulebook)

    @cached_property
    def _fitting(self) -> Fitting:
        return Fitting({pattern.id: pattern for pattern in self.rulebook.patterns.patterns})

    def preference(self, reading: Reading) -> tuple[int, str]:
        """The smaller, the better a reading is."""
        searched = reading.source.searched
        return len(self.lacks(searched)), searched.digest if searched else ""

    def lacks(self, searched: Searched | None) -> frozenset[str]:
        """The patterns and kinds of this rulebook that were not looked for, or not as this rulebook does. A kind is one of
        them where a pattern that gives facts of it is."""
        if searched is None or searched == self.searched:
            return frozenset()
        if searched not in self._lacks:
            there = searched.names
            names = {n for n, digest in self.searched.names.items() if there.get(n) not in (digest, digest + _COUNTED)}
            emitted = {p.emits for p in self.rulebook.patterns.patterns if p.id in names and p.emits != "hit"}
            self._lacks[searched] = frozenset(names | emitted)
        return self._lacks[searched]

    def taken(self, reading: Reading) -> Reading:
        """The reading with what this rulebook can use of it."""
        source = reading.source
        if source.searched is None:
            return reading
        facts = tuple(
            fact for fact in reading.facts if self._fitting.fits(fact) and self._is_known(fact, source.searched)
        )
        first, last = (instant if is_dated(instant) else None for instant in (source.first, source.last))
        own = None if source.searched == self.searched else source.searched
        return Reading(replace(source, searched=own, first=first, last=last), facts)

    def _is_known(self, fact: Fact, searched: Searched) -> bool:
        """Whether a hit is of a pattern that is defined here as it was there; whether its storms were capped is the same."""
        if fact.kind != "hit":
            return True
        here, there = (names.get(fact.name, "") for names in (self.searched.names, searched.names))
        return bool(here) and here.rstrip(_COUNTED) == there.rstrip(_COUNTED)
