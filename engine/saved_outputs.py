"""Files at the pod or host whose output somebody saved in them, as the terminal that lies beside them shows."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from neuron_doctor.engine.facts import Collection, Place
from neuron_doctor.engine.proven import unique

_KIND = "saved-output"


def at_their_origin(collection: Collection) -> Collection:
    """The collection; sources that are the one of their name in their folder, and of which nothing else says a host or a pod, at
    the one place that a command names which wrote a file of this name, as a terminal in the same folder shows: other folders
    may be of other jobs and hosts."""
    shown = (f for f in collection.facts if f.kind == _KIND)
    told = unique(((_parts(f.span.path)[0], str(f.data["file"])), f.place) for f in shown)
    if not told:
        return collection
    names = Counter(_parts(source.path) for source in collection.sources)
    place_of = {
        s.id: place
        for s in collection.sources
        if (place := told.get(name := _parts(s.path)))
        and names[name] == 1
        and s.place.host is None
        and s.place.container is None
    }
    sources = (replace(s, place=_over(s.place, place_of.get(s.id))) for s in collection.sources)
    facts = (
        replace(f, place=_over(f.place, place_of[f.source])) if f.source in place_of else f for f in collection.facts
    )
    return Collection(tuple(sources), tuple(facts))


def _parts(path: str) -> tuple[str, str]:
    """The folder, or the archive, and the name in it."""
    folder, _, name = path.replace("!", "/").rpartition("/")
    return folder, name


def _over(place: Place, origin: Place | None) -> Place:
    """The place at its origin. What names a host or a pod of its own is not of that."""
    return place if origin is None or place.host or place.container else place.over(origin)
