"""Servers that came up after all: what is said while one starts is over when the same one is started anew below it in the same
log and says there that it has come up.

A server that says which model it loads says so of each, and several may load at once: a failure may be of any that had not come
up, so that all of these must have. A program that says at which attempt its runtime was there needs no other word of a start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.engine.facts import Fact

#: What servers say of themselves, or of a model.
_START, _UP = "service-start", "service-up"


class Services(Struct, frozen=True):
    """What servers say in each log, in order."""

    told: Mapping[str, Sequence[Fact]]

    def came_up_after(self, fact: Fact) -> bool:
        """Whether who was starting when this was said was started anew below it, and came up."""
        told = [one for one in self.told.get(fact.source, ()) if _may_be_of(one, fact)]
        above = [one for one in told if one.span.offset < fact.span.offset]
        below = [one for one in told if one.span.offset > fact.span.offset]
        if all(one.kind == _START for one in above) and any(map(_is_at_last, below)):
            return True
        starting: set[object] = set()
        for one in above:
            (starting.add if one.kind == _START else starting.discard)(one.data["what"])
        return bool(starting) and all(_starts_and_is_up(below, what) for what in starting)


def services_of(facts: Iterable[Fact]) -> Services:
    """What these facts tell of servers."""
    told: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind in (_START, _UP):
            told[fact.source].append(fact)
    return Services({source: sorted(found, key=lambda fact: fact.span.offset) for source, found in told.items()})


def _is_at_last(one: Fact) -> bool:
    return bool(one.data.get("again"))


def _starts_and_is_up(told: Iterable[Fact], what: object) -> bool:
    started = False
    for one in told:
        if one.data["what"] == what:
            if started and one.kind == _UP:
                return True
            started = started or one.kind == _START
    return False


def _may_be_of(one: Fact, fact: Fact) -> bool:
    """Whether it can be said of the server of which the fact is; what one rank says of its runtime is of no other."""
    if one.data.get("again") and one.place.rank != fact.place.rank:
        return False
    pairs = (
        (one.place.host, fact.place.host),
        (one.place.container, fact.place.container),
        (one.place.job, fact.place.job),
    )
    return all(a is None or b is None or a == b for a, b in pairs)
