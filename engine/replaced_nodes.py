"""Nodes that were broken and are gone: a list of the nodes of the cluster shows them, and a later one shows the nodes on which
the job came to its end in their stead. Nothing is left to be done about them, whatever they told of their devices.

The later list is the one that has a node of the last logs that the other one lacks: what earlier logs of the same worker ran on
says nothing of that, and what the last ones ran on is not gone. A node that is still listed, though marked, still waits for
somebody to act, and so does one whose job did not end well.

So it is with an instance that had the name of a node (an old ticket quotes its error), where somebody says by which it was
replaced, and the node says that it is that one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.made_good import is_before
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.proven import unique


class ReplacedNodes(Struct, frozen=True):
    """The names of those that are gone, the hosts that each source says it is on, and for hosts that were given to another
    instance the one that they are now."""

    gone: frozenset[str] = frozenset()
    told: Mapping[str, frozenset[str]] = field(default_factory=dict)
    now: Mapping[str, str] = field(default_factory=dict)

    def cover(self, match: Match) -> bool:
        """Whether all that the match rests on is of them."""
        return bool(match.facts) and all(map(self._is_of_one, match.facts))

    def _is_of_one(self, fact: Fact) -> bool:
        if fact.place.instance_id and fact.place.instance_id != self.now.get(
            fact.place.host or "", fact.place.instance_id
        ):
            return True
        hosts = frozenset({fact.place.host}) if fact.place.host else self.told.get(fact.source, frozenset())
        return bool(hosts) and hosts <= self.gone


def replaced_nodes(facts: Sequence[Fact], sources: Iterable[Source]) -> ReplacedNodes:
    """What these facts, and the times and names of these sources, tell of lists of nodes, and of who is where."""
    lists, told = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for fact in facts:
        if fact.kind == "node":
            lists[fact.source].add(str(fact.data["name"]))
        elif fact.kind == "identity" and fact.data.get("hostname"):
            told[fact.source].add(fact.place.host or str(fact.data["hostname"]))
    last = _last_logs(sources)
    used = {host for source, hosts in told.items() if source in last for host in hosts}
    gone = {
        node
        for earlier in lists.values()
        for later in lists.values()
        if earlier & later and (new := (later - earlier) & used)
        for node in earlier - later - used
        if not any(node in some for some in lists.values() if some & new)
    }
    names = {source: frozenset(hosts) for source, hosts in told.items()}
    return ReplacedNodes(frozenset(gone), names, _given_to_others(facts, sources))


def _given_to_others(facts: Sequence[Fact], sources: Iterable[Source]) -> dict[str, str]:
    """By host, the instance that it says it is, where that is said to have replaced another one. Hosts are those of the sources:
    a name that two instances have had proves nothing of an identity. (What names host and instance is a record of the kernel.)"""
    heirs = {
        str(fact.data["instances"]).rpartition(",")[2]
        for fact in facts
        if fact.kind == "instance-change" and fact.data["what"] == "replaced"
    }
    if not heirs:
        return {}
    host_of = {source.id: source.place.host for source in sources}
    own = (
        (host_of.get(fact.source) or fact.place.host, fact.place.instance_id)
        for fact in facts
        if fact.kind == "identity" and not fact.data.get("listed") and not fact.data.get("hostname")
    )
    now = unique((host, instance) for host, instance in own if host and instance)
    return {host: instance for host, instance in now.items() if instance in heirs}


def _last_logs(sources: Iterable[Source]) -> set[str]:
    """The logs after which there is none of the same container, or rank."""
    of: dict[object, list[Source]] = defaultdict(list)
    for source in sources:
        if source.kind == "log" and source.records:
            of[_process(source)].append(source)
    return {one.id for logs in of.values() for one in logs if not any(is_before(one, log) for log in logs)}


def _process(source: Source) -> str | int:
    """Whose log it is; its own where that is not known."""
    place = source.place
    return place.container or (place.rank if place.rank is not None else source.id)
