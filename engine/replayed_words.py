"""Words of an earlier compilation that a cache gives back: it keeps with what failed in which words it did, and says these below
that it "got a cached failed neff". No compiler ran for them now, so they tell of no failure of this run.

They stand on one line, and on those below it up to a traceback. Other processes write between these, and what they say is theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neuron_doctor.engine.facts import Fact, Instant, Place

#: The kind of fact for such words, the pattern of the heading, and how many lines of others may stand between them.
_REPLAY, _HEADING, _NEAR = "replay", "compile-cached-failed-neff", 4
#: What tells processes apart.
_NAMES = ("host", "container", "pid", "rank", "local_rank")


def without_replayed(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts without those that rest on such words."""
    if not any(fact.kind == _REPLAY for fact in facts):
        return facts
    headings = {(fact.source, fact.span.line): fact for fact in facts if fact.name == _HEADING and fact.span.line}
    lines: dict[tuple[str, int], Fact] = {}
    for fact in facts:
        at = fact.span.line
        if fact.kind == _REPLAY and at is not None:
            above = (headings.get((fact.source, at - up)) for up in range(1, _NEAR + 1))
            if any(heading and _may_be_below(heading, fact) for heading in above):
                below = str(fact.data.get("below") or "").count("\n")
                lines |= {(fact.source, at + more): fact for more in range(below + 1)}
    return list(_others(facts, lines)) if lines else facts


def _others(facts: Iterable[Fact], lines: dict[tuple[str, int], Fact]) -> Iterable[Fact]:
    for fact in facts:
        replay = lines.get((fact.source, fact.span.line or 0))
        if replay is None or fact.kind == _REPLAY or not _is_of(fact, replay):
            yield fact


def _is_of(fact: Fact, replay: Fact) -> bool:
    """Whether a record is of the line, or of one below it that has no process and no time of its own."""
    alike = _process(fact.place) == _process(replay.place) and not _is_later(fact.instant, replay.instant)
    return fact.span.line == replay.span.line or alike


def _may_be_below(heading: Fact, replay: Fact) -> bool:
    """Whether the words may be those of a heading: they have no header of their own, as what failed in this run has, with a time
    or a process that is another."""
    pairs = zip(_process(heading.place), _process(replay.place), strict=True)
    alike = all(one is None or other is None or one == other for one, other in pairs)
    return alike and not _is_later(replay.instant, heading.instant)


def _process(place: Place) -> tuple[object, ...]:
    return tuple(getattr(place, name) for name in _NAMES)


def _is_later(one: Instant | None, other: Instant | None) -> bool:
    return one is not None and other is not None and one.clock is other.clock and one.ns > other.ns
