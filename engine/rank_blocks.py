"""The hosts of ranks that nothing names, where launchers numbered the ranks host by host: 0 to 31 on the first, 32 to 63 next."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

#: So many hosts must be known with all their ranks.
_WHOLE_HOSTS = 2


def hosts_by_block(host_of_rank: Mapping[int, str], ranks: Iterable[int]) -> dict[int, str]:
    """The hosts of those of `ranks` that `host_of_rank` lacks. Each host must have one aligned block of as many ranks as the
    others, as far as its ranks are known, two of them all of it: ranks that were dealt out in turn, or moved, prove nothing."""
    size = max(Counter(host_of_rank.values()).values(), default=0)
    hosts: dict[int, set[str]] = defaultdict(set)
    blocks: dict[str, set[int]] = defaultdict(set)
    for rank, host in host_of_rank.items():
        hosts[rank // max(size, 1)].add(host)
        blocks[host].add(rank // max(size, 1))
    whole = sum(count == size for count in Counter(host_of_rank.values()).values())
    one_to_one = all(len(some) == 1 for some in hosts.values()) and all(len(some) == 1 for some in blocks.values())
    if size <= 1 or whole < _WHOLE_HOSTS or not one_to_one:
        return {}
    return {
        rank: next(iter(hosts[rank // size])) for rank in ranks if rank not in host_of_rank and rank // size in hosts
    }
