"""The hosts of exported series whose legends call them by a word that alone may mean anything: `merlin nd3`, `errors nd3`.

It is a host where something else in the collection knows it for one, or hosts that are called like it but for their numbers
(the log of one of them may be lost). A series of nobody tells nothing that could be acted upon, and is left out.
"""

from __future__ import annotations

from collections.abc import Collection as Sized
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from neuron_doctor.collectors.known_hosts import known_hosts
from neuron_doctor.engine.facts import Collection, Fact
from neuron_doctor.engine.regexes import regex

#: The words of a legend, one of which may be a host, in the data of a fact without one.
LEGEND = "legend"
_NUMBER = regex(r"\d{1,20}")


def placed_by_legends(collection: Collection) -> Collection:
    """The collection with the hosts of series that legends name, and without the series of which nobody knows whose they are."""
    if not any(_is_open(fact) for fact in collection.facts):
        return collection
    known = known_hosts(collection)
    shapes = {shape for name in known if (shape := _shape(name))}
    return replace(collection, facts=tuple(_placed(collection.facts, known, shapes)))


def _is_open(fact: Fact) -> bool:
    return fact.kind == "counter" and LEGEND in fact.data


def _placed(facts: tuple[Fact, ...], known: Mapping[str, str], shapes: Sized[str]) -> Iterator[Fact]:
    for fact in facts:
        if not _is_open(fact):
            yield fact
            continue
        words = str(fact.data[LEGEND]).split()
        hosts = [known.get(w.casefold(), w) for w in words if w.casefold() in known or _shape(w.casefold()) in shapes]
        data = {name: value for name, value in fact.data.items() if name != LEGEND}
        if fact.place.host or fact.place.instance_id:
            yield replace(fact, data=data)
        elif len(hosts) == 1:
            yield replace(fact, data=data, place=replace(fact.place, host=hosts[0]))


def _shape(name: str) -> str:
    """The name without its numbers; nothing where it has none, or no word before them."""
    shape = _NUMBER.sub("#", name)
    return shape if "#" in shape and len(shape.partition("#")[0]) > 1 else ""
