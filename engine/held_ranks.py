"""Which rank a fault of a host holds up, where the fault itself names none: the one on that host for which the others wait.

A kernel numbers processes otherwise than the container in which they run, and a file system that is silent knows no ranks. But
the ranks that never came, by recorders, stacks or silence, are all on the host that explains why.
"""

from __future__ import annotations

from collections import defaultdict

from msgspec.structs import replace

from neuron_doctor.engine.decide import Graph
from neuron_doctor.engine.facts import ranks_of
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.topology import Topology

#: Of these the ranks are those that did not come; of all other consequences of a fault they are those that wait.
_DID_NOT_COME = frozenset({"collectives-rank-missing", "p2p-missing"})


def with_held_ranks(graph: Graph, topology: Topology) -> Graph:
    """The graph with these ranks at the places of its roots."""
    missing: dict[int, set[int]] = defaultdict(set)
    for link in graph.links:
        effect = graph.matches[link.effect]
        if link.sure and effect.rule.cause.id in _DID_NOT_COME and graph.roles[link.effect] is Role.CASCADE:
            missing[link.cause].update(ranks_of(effect.place))
    held = {
        number: ranks
        for number, ranks in missing.items()
        if graph.roles[number] is Role.ROOT and _is_without_ranks(graph.matches[number]) and ranks
    }
    matches = list(graph.matches)
    for number, ranks in held.items():
        [host] = matches[number].hosts
        if all(topology.host_of_rank.get(rank) == host for rank in ranks):
            place = replace(matches[number].place, ranks=tuple(sorted(ranks)))
            matches[number] = replace(matches[number], place=place)
    return replace(graph, matches=matches)


def _is_without_ranks(match: Match) -> bool:
    """Whether it is about one host, and about no device or rank of it."""
    return len(match.hosts) == 1 and match.place.device is None and not ranks_of(match.place)
