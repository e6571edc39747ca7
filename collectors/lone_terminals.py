"""What a terminal shows that was started at the prompts of the one machine of which a whole collection speaks."""

from __future__ import annotations

from collections import defaultdict

from msgspec.structs import replace

from neuron_doctor.collectors.lone_machine import lone_machine
from neuron_doctor.collectors.prompts import PROMPT
from neuron_doctor.collectors.sections import KIND, sectioned
from neuron_doctor.engine.facts import Collection, Fact


def at_its_prompts(collection: Collection) -> Collection:
    """The collection, in which what was started there is of that machine."""
    terminals = {fact.span.path for fact in collection.facts if fact.kind == KIND and fact.data["form"] == PROMPT}
    host = lone_machine(collection, prompting=True) if terminals else None
    if host is None:
        return collection
    shown: dict[str, list[Fact]] = defaultdict(list)
    for fact in collection.facts:
        if fact.span.path in terminals:
            shown[fact.span.path].append(fact)
    known = {host.casefold(): host}
    place = {
        id(facts[n]): place for facts in shown.values() for n, place in sectioned(facts, known, alone=True).items()
    }
    return replace(collection, facts=tuple(replace(f, place=place.get(id(f), f.place)) for f in collection.facts))
