"""Which rank a fault of a host holds up, where the fault itself names none: the one on that host for which the others wait.

A kernel numbers processes otherwise than the container in which they run, and a file system that is silent knows no ranks. But
the ranks that never came, by recorders, stacks or silence, are all on the host that explains why. Where a kernel killed one
process for memory, the launcher names the one rank of that host that was killed.
"""

from __future__ import annotations

from collections import defaultdict

from msgspec.structs import replace

from neuron_doctor.engine.decide import Graph
from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.grades import Role
from neuron_doctor.engine.links import OWN
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.topology import Topology

#: Of these the ranks are those that did not come; of all other consequences of a fault they are those that wait.
_DID_NOT_COME = frozenset({"collectives-rank-missing", "p2p-missing"})
#: How a launcher tells of SIGKILL.
_SIGKILL, _KILLED = 9, frozenset({-9, 128 + 9})


def with_held_ranks(graph: Graph, topology: Topology) -> Graph:
    """The graph with these ranks at the places of its roots."""
    matches = list(graph.matches)
    for number, ranks in {**_killed(graph, topology), **_missing(graph)}.items():
        if graph.roles[number] is not Role.ROOT or not _is_without_ranks(matches[number]):
            continue
        [host] = matches[number].hosts
        if all(topology.host_of_rank.get(rank) == host for rank in ranks):
            place = replace(matches[number].place, ranks=tuple(sorted(ranks)))
            matches[number] = replace(matches[number], place=place)
    return replace(graph, matches=matches)


def _missing(graph: Graph) -> dict[int, set[int]]:
    """The ranks that did not come, by the match that explains it."""
    found: dict[int, set[int]] = defaultdict(set)
    for link in graph.links:
        effect = graph.matches[link.effect]
        if link.sure and effect.rule.cause.id in _DID_NOT_COME and graph.roles[link.effect] is Role.CASCADE:
            found[link.cause].update(ranks_of(effect.place))
    return {number: ranks for number, ranks in found.items() if ranks}


def _killed(graph: Graph, topology: Topology) -> dict[int, set[int]]:
    """The rank that was killed on a host, by the match about the one process that the kernel killed there for memory."""
    kills: dict[str, set[object]] = defaultdict(set)
    of_kills: dict[str, list[int]] = defaultdict(list)
    for number, match in enumerate(graph.matches):
        victims = {fact.data.get("victim_pid") for fact in match.facts if fact.kind == "oom-kill"}
        for host in match.hosts if victims else ():
            kills[host] |= victims
            of_kills[host].append(number)
    if not kills:
        return {}
    # of a helper that was killed beside it the rules do not say that they explain the end of a rank
    explained = {(link.cause, link.effect) for link in graph.links if link.sure and link.distance != OWN}
    found: dict[int, set[int]] = defaultdict(set)
    for cause, effect in explained:
        for host in graph.matches[cause].hosts:
            if len(kills[host]) == 1 and cause in of_kills[host]:
                found[cause] |= {
                    r for r in _killed_ranks(graph.matches[effect]) if topology.host_of_rank.get(r) == host
                }
    return {number: ranks for number, ranks in found.items() if len(ranks) == 1}


def _is_without_ranks(match: Match) -> bool:
    """Whether it is about one host, and about no device or rank of it."""
    return len(match.hosts) == 1 and match.place.device is None and not ranks_of(match.place)


def _killed_ranks(match: Match) -> set[int]:
    """The ranks of which it tells that they were killed, not since they did not heed that they were told to end."""
    return {
        fact.place.rank
        for fact in match.facts
        if fact.kind == "launcher-failure" and fact.place.rank is not None and _is_killed(fact)
    }


def _is_killed(fact: Fact) -> bool:
    by_signal = fact.data.get("signal") == _SIGKILL or fact.data.get("exitcode") in _KILLED
    return by_signal and not (fact.data.get("told") or fact.data.get("later"))
