"""Files at the pod or host whose output somebody saved in them, as the terminal that lies beside them shows."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Place, Source
from neuron_doctor.engine.proven import unique

_KIND = "saved-output"


def at_their_origin(collection: Collection) -> Collection:
    """The collection; sources that are the one of their name, and of which nothing else says a host or a pod, at the one place
    that a command names which wrote a file of this name."""
    told = unique((str(f.data["file"]), f.place) for f in collection.facts if f.kind == _KIND)
    if not told:
        return collection
    names = Counter(map(_name, collection.sources))
    place_of = {
        s.id: place
        for s in collection.sources
        if (place := told.get(name := _name(s)))
        and names[name] == 1
        and s.place.host is None
        and s.place.container is None
    }
    sources = (replace(s, place=_over(s.place, place_of.get(s.id))) for s in collection.sources)
    facts = (
        replace(f, place=_over(f.place, place_of[f.source])) if f.source in place_of else f for f in collection.facts
    )
    return Collection(tuple(sources), tuple(facts))


def _name(source: Source) -> str:
    return source.path.replace("!", "/").rpartition("/")[2]


def _over(place: Place, origin: Place | None) -> Place:
    """The place at its origin. What names a host or a pod of its own is not of that."""
    return place if origin is None or place.host or place.container else place.over(origin)
