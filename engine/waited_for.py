"""The ranks that a fault of a host holds up: those on it for which all others wait.

That a file server does not answer the kernel of a host says nothing of ranks. That one rank of this host never came to the
collective in which all others stand says which of its ranks it holds, if the first explains the second.
"""

from __future__ import annotations

from collections import defaultdict

from msgspec.structs import replace

from neuron_doctor.engine.decide import Graph
from neuron_doctor.engine.facts import ranks_of
from neuron_doctor.engine.grades import Role

#: Causes of findings that convict those who do not come.
_ABSENT = frozenset({"collectives-rank-missing", "hang-outside-collectives"})


def with_who_is_waited_for(graph: Graph) -> Graph:
    """The graph; roots of a single host that name no rank have those of this host that the findings convict which they
    explain."""
    absent: dict[int, set[int]] = defaultdict(set)
    for link in graph.links:
        root, effect = graph.matches[link.cause], graph.matches[link.effect]
        convicts = effect.rule.role == "root" and effect.rule.cause.id in _ABSENT
        if convicts and graph.roles[link.cause] is Role.ROOT and len(root.hosts) == 1 and effect.hosts == root.hosts:
            absent[link.cause] |= set(ranks_of(effect.place))
    for number, ranks in absent.items():
        match = graph.matches[number]
        if ranks and not ranks_of(match.place):
            graph.matches[number] = replace(match, place=replace(match.place, ranks=tuple(sorted(ranks))))
    return graph
