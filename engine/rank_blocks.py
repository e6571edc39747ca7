"""The hosts of ranks that nothing names, where launchers numbered the ranks host by host: 0 to 31 on the first, 32 to 63 next."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

#: So many hosts must be known with all their ranks, where nothing says how many ranks each has.
_WHOLE_HOSTS = 2

#: The node of a rank by its number, if it has one: any number that no other node has.
NodeOf = Callable[[int], int | None]


def hosts_by_block(
    host_of_rank: Mapping[int, str],
    ranks: Iterable[int],
    width: int | None = None,
    local_of_rank: Mapping[int, int] | None = None,
) -> dict[int, str]:
    """The hosts of those of `ranks` that `host_of_rank` lacks. Each host must have one block of ranks, as far as they are known,
    and each block one host: ranks that were dealt out in turn, or moved, prove nothing. The blocks are of `width` ranks, where
    launchers were told so; else of as many as two hosts have that are known with all; else they reach from where the local
    rank would be 0 to the last rank of which the local one is known."""
    width = width or _shown_width(host_of_rank)
    node_of: NodeOf = (lambda rank: rank // width) if width else _nodes(local_of_rank or {})
    hosts: dict[int, set[str]] = defaultdict(set)
    nodes: dict[str, set[int]] = defaultdict(set)
    for rank, host in host_of_rank.items():
        if (node := node_of(rank)) is not None:
            hosts[node].add(host)
            nodes[host].add(node)
    if any(len(some) > 1 for some in hosts.values()) or any(len(some) > 1 for some in nodes.values()):
        return {}
    missing = ((rank, node_of(rank)) for rank in ranks if rank not in host_of_rank)
    return {rank: next(iter(hosts[node])) for rank, node in missing if node in hosts}


def _shown_width(host_of_rank: Mapping[int, str]) -> int | None:
    """So many ranks as two hosts are known with, if so many on each of the hosts reach to the last rank that is known: if hosts
    have more than that, and all of them lack some, there are too few hosts for it."""
    counts = Counter(host_of_rank.values()).values()
    width = max(counts, default=0)
    whole = sum(count == width for count in counts) >= _WHOLE_HOSTS
    return width if width > 1 and whole and len(counts) * width > max(host_of_rank) else None


def _nodes(local_of_rank: Mapping[int, int]) -> NodeOf:
    """The nodes by the rank that is the first of each: within one, ranks and local ranks are counted alike."""
    last: dict[int, int] = {}
    for rank, local in sorted(local_of_rank.items()):
        last[rank - local] = rank
    firsts = sorted(last)
    mixed = any(last[first] >= behind for first, behind in pairwise(firsts))
    if mixed or any(first < 0 for first in firsts):
        return lambda _: None

    def node_of(rank: int) -> int | None:
        at = bisect_right(firsts, rank) - 1
        return firsts[at] if at >= 0 and rank <= last[firsts[at]] else None

    return node_of
