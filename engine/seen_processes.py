"""Processes of a log that does not say where they run, at the hosts whose own tools saw them: the kernel, as they opened devices,
neuron-monitor, neuron-ls, the traces of NDET.

Numbers of processes are not unique among hosts, so

- two hosts at least must have seen processes, and a number that both have seen says nothing; nor does one under which a log has
  two ranks, and where it has several such, one in ten or more, the hosts number their processes alike, and no number does;
- a host gets processes of a log only if it has seen two of them, and one in five of all that speak in this log is seen somewhere;
- the ranks that hosts get so lie apart, host by host, as launchers number them; a rank of which a log names a few processes, one
  after the other as it was started again, is placed only if all were seen on one host.

What is in a container has numbers of its own: it is left alone, and in others' logs such numbers match too few. A process that
says itself what its machine is called is left to `nodenames`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.proven import unique

_BY_KERNEL = frozenset({"attach", "detach", "device-user"})
_BY_TOOLS = frozenset({"neuron-monitor", "neuron-ls", "ndet-console", "ndet-trace", "ndet-raw"})
#: So many processes of a log, and hosts, must be seen; of so many that speak, one must be.
_FEWEST, _ONE_IN = 2, 5
#: So many numbers of two ranks, one in so many of all, and the hosts number alike.
_TWICE, _TWICE_IN = 2, 10
#: A job is seldom started again more often than that.
_ATTEMPTS = 4


def at_hosts_that_saw_them(facts: Sequence[Fact], sources: Iterable[Source]) -> Sequence[Fact]:
    """The facts; those of processes that a host has seen, by the rules above, at this host."""
    tools = {source.id for source in sources if source.kind in _BY_TOOLS}
    seen = unique(
        (pid, host)
        for fact in facts
        if (pid := fact.place.pid) is not None
        and (host := fact.place.host)
        and (fact.kind in _BY_KERNEL or fact.source in tools)
    )
    if len(set(seen.values())) < _FEWEST:
        return facts
    speaking: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.place.pid is not None and not fact.place.host and not fact.place.container and _is_own(fact):
            speaking[fact.source].append(fact)
    host_of: dict[tuple[str, int | None], str] = {}
    for source, own in speaking.items():
        host_of |= {(source, pid): host for pid, host in _hosts(own, seen).items()}
    if not host_of:
        return facts
    return [_placed(fact, host_of.get((fact.source, fact.place.pid))) for fact in facts]


def _is_own(fact: Fact) -> bool:
    """Whether the number is that of a process, not of one of its threads."""
    return "thread" not in fact.data


def _hosts(own: Sequence[Fact], seen: Mapping[int, str]) -> dict[int, str]:
    """The hosts of the processes that speak in one log."""
    ranks: dict[int, set[int]] = defaultdict(set)
    named = {fact.place.pid for fact in own if fact.kind == "identity" and fact.data.get("hostname")}
    for pid, rank in ((fact.place.pid, fact.place.rank) for fact in own):
        if pid is not None:
            ranks[pid] |= {rank} if rank is not None else set()
    twice = sum(len(of) > 1 for of in ranks.values())
    if twice >= _TWICE and twice * _TWICE_IN >= len(ranks):
        return {}
    found = {pid: seen[pid] for pid, of in ranks.items() if pid in seen.keys() - named and len(of) <= 1}
    if len(found) < _FEWEST or len(found) * _ONE_IN < len(ranks):
        return {}
    hosts = list(found.values())
    found = {pid: host for pid, host in found.items() if hosts.count(host) >= _FEWEST}
    found = _without_moved(found, ranks)
    of_host: dict[str, set[int]] = defaultdict(set)
    for pid, host in found.items():
        of_host[host] |= ranks[pid]
    return found if _lie_apart(of_host.values()) else {}


def _without_moved(found: Mapping[int, str], ranks: Mapping[int, set[int]]) -> dict[int, str]:
    """Without the processes of ranks that may have run on another host before or after. Many processes behind one number are the
    workers of a launcher."""
    of_rank: dict[int, set[int]] = defaultdict(set)
    for pid, of in ranks.items():
        for rank in of:
            of_rank[rank].add(pid)
    moved = {
        pid
        for pids in of_rank.values()
        if 1 < len(pids) <= _ATTEMPTS and len({found.get(pid) for pid in pids}) > 1
        for pid in pids
    }
    return {pid: host for pid, host in found.items() if pid not in moved}


def _lie_apart(ranks: Iterable[set[int]]) -> bool:
    blocks = sorted((min(some), max(some)) for some in ranks if some)
    return all(first[1] < then[0] for first, then in pairwise(blocks))


def _placed(fact: Fact, host: str | None) -> Fact:
    if host is None or fact.place.host or fact.place.container:
        return fact
    return replace(fact, place=replace(fact.place, host=host))
