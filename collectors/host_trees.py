"""Trees of files that were taken from one machine, with its name in them: sosreports, copies of /etc, a `hostname` in each.

The file that says the name stands at the top of its tree, or where the system or sosreport puts it. A `hostname` at the top
alone is that of whoever collected, unless other trees beside it name themselves as well. A tree in which a source is known to be
of another host is not of one machine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection as Sized
from collections.abc import Iterable, Mapping, Sequence

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.proven import unique

#: Where in a tree the name is kept on purpose, so that the tree is one machine's for sure.
_KEPT_AT = (("etc",), ("sos_commands", "host"), ("sos_commands", "hostname"))
#: What every machine calls itself says nothing.
_ANYBODY = ("localhost", "localhost.localdomain")

Parts = tuple[str, ...]


def hosts_of_trees(sources: Sequence[Source], facts: Mapping[str, Sequence[Fact]]) -> dict[str, str]:
    """The host of each path in such a tree."""
    told = [(_parts(s.path), name) for s in sources if s.kind == "hostname" and (name := _name(facts.get(s.path, ())))]
    roots = unique((_root(parts), name) for parts, name in told)
    kept = {_root(parts) for parts, _ in told if _root(parts) != parts[:-1]}
    placed = [(s.path, _parts(s.path), s.place.host) for s in sources]
    trees: dict[Parts, list[tuple[str, str | None]]] = defaultdict(list)
    for path, parts, host in placed:
        if (root := _innermost(parts, roots)) is not None:
            trees[root].append((path, host))
    return {
        path: name
        for root, members in trees.items()
        if (name := roots[root]) and (root in kept or _beside(root, roots))
        if all(host in (None, name) for _, host in members)
        for path, _ in members
    }


def _parts(path: str) -> Parts:
    return tuple(part for part in path.replace("!", "/").split("/") if part)


def _name(facts: Iterable[Fact]) -> str | None:
    return next((str(f.data["hostname"]) for f in facts if f.data.get("hostname") not in (None, *_ANYBODY)), None)


def _root(parts: Parts) -> Parts:
    """The top of the tree that the file at these parts names."""
    above = parts[:-1]
    return next((above[: -len(at)] for at in _KEPT_AT if above[-len(at) :] == at), above)


def _innermost(parts: Parts, roots: Sized[Parts]) -> Parts | None:
    return next((parts[:depth] for depth in range(len(parts), -1, -1) if parts[:depth] in roots), None)


def _beside(root: Parts, roots: Mapping[Parts, str | None]) -> bool:
    """Whether another tree with a name of its own stands in the same directory."""
    return any(
        other != root and other[:-1] == root[:-1] and name and name != roots[root] for other, name in roots.items()
    )
