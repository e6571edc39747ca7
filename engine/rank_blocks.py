"""The host of a rank that left nothing, by the blocks in which launchers give ranks to hosts: of four hosts with ranks 0-3, 4-7,
8, 10, 11 and 12-15, rank 9 is on the third."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

#: A block of one rank proves nothing, and of one host there is no block.
_LEAST = 2


def homes_by_blocks(host_of_rank: Mapping[int, str], world: int | None) -> dict[int, str]:
    """The hosts of the ranks without one, where all that are known show even blocks: as many ranks on each host, one after the
    other, no rank in the block of another host, and of each block more than half is known. Else nothing. A `world` that
    nothing tells ends with the last rank that is known."""
    known: dict[str, list[int]] = defaultdict(list)
    for rank, host in host_of_rank.items():
        known[host].append(rank)
    world = max(host_of_rank, default=0) + 1 if world is None else world
    if len(known) < _LEAST or world % len(known):
        return {}
    size = world // len(known)
    block_of = {host: {rank // size for rank in ranks} for host, ranks in known.items()}
    if size < _LEAST or any(len(blocks) > 1 for blocks in block_of.values()):
        return {}
    hosts = {min(blocks): host for host, blocks in block_of.items()}
    whole = len(hosts) == len(known) and set(hosts) == set(range(len(known)))
    if not whole or any(2 * len(ranks) <= size for ranks in known.values()):
        return {}
    return {rank: hosts[rank // size] for rank in range(world) if rank not in host_of_rank}
