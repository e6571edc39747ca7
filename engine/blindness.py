"""Where what rules ask for was never looked for, because another rulebook has read the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.answers import Answers
from neuron_doctor.engine.facts import Source
from neuron_doctor.engine.kinds import KINDS
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.searched import Understanding

#: So many names are told of a rule.
_TOLD = 4


def kinds_that_show(name: str, patterns: Mapping[str, Pattern]) -> set[str]:
    """The kinds of source that can show a record of this name."""
    if name in KINDS:
        return set(KINDS[name].sources)
    channel = patterns[name].channel
    return {"log", "kernel"} if channel == "any" else {channel}


class BlindSpots(Struct, frozen=True):
    """For each name that was not looked for everywhere, the sources that could have shown it."""

    sources: Mapping[str, Sequence[Source]] = field(default_factory=dict)

    def on(self, host: str | None) -> frozenset[str]:
        """The names that were not looked for in some source that may be of this host, or of any."""
        if not self.sources or host is None:
            return frozenset(self.sources)
        return frozenset(name for name, some in self.sources.items() if any(s.place.host in (None, host) for s in some))

    def of(self, condition: cond.Condition, answers: Answers, found: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        """What kept the condition from being decided, in words; empty where it could not hold whatever was overlooked.
        `found`: what other rules have found."""
        if not self.sources:
            return ()
        names = dict.fromkeys(query.name for query in cond.queries(condition) if query.name in self.sources)
        if not names or not self._might_hold(condition, answers, found):
            return ()
        return tuple(self._told(name) for name in list(names)[:_TOLD])

    def _might_hold(self, condition: cond.Condition, answers: Answers, found: Mapping[str, Sequence[object]]) -> bool:
        match condition:
            case cond.FindingRef(rule=rule):
                return bool(found.get(rule))
            case cond.Combination(op="none"):
                return True
            case cond.Combination(op=op, parts=parts, n=n):
                might = [self._might_hold(part, answers, found) for part in parts]
                return sum(might) >= {"all": len(parts), "any": 1}.get(op, n)
        return all(query.name in self.sources or answers.of(query) for query in cond.anchors(condition))

    def _told(self, name: str) -> str:
        paths = sorted(source.path for source in self.sources[name])
        others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return f"{name} was not looked for in {paths[0]}{others}, read with another rulebook"


def blind_spots(sources: Iterable[Source], rulebook: Rulebook) -> BlindSpots:
    """What this rulebook asks for and was not looked for, and where."""
    sources = [source for source in sources if source.searched]
    own, patterns = Understanding(rulebook), {p.id: p for p in rulebook.patterns.patterns}
    spots: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        for name in own.lacks(source.searched):
            if source.kind in kinds_that_show(name, patterns):
                spots[name].append(source)
    return BlindSpots(spots)
