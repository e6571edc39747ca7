"""The rank of the one core that does not hang, where the kernels of all hosts say of every other core of the job that it hangs in
a collective.

The kernel knows devices and cores, not ranks. The runtime's own lines name both, and where those of several ranks of the host
all show ranks in the order of devices and cores, so does the line that is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from neuron_doctor.engine.facts import Fact

_HANGS = "HANG_ON_COLLECTIVES"
#: So many ranks of the host must show the order.
_FEWEST = 3


class Quiet(NamedTuple):
    """The rank, and all others of the job."""

    rank: int
    others: frozenset[int]


def quiet_rank(facts: Sequence[Fact], world_size: int) -> Quiet | None:
    """The rank, if there is one such core, and each rank of the job has one core."""
    hanging = {
        (fact.place.host, fact.place.device, fact.place.core)
        for fact in facts
        if fact.kind == "hw-err" and fact.data["name"] == _HANGS
        if fact.place.host and fact.place.device is not None and fact.place.core is not None
    }
    width = 1 + max((core for _, _, core in hanging), default=0)
    grid = {(host, device, core) for host, device, _ in hanging for core in range(width)}
    if len(grid - hanging) != 1 or len(grid) != world_size:
        return None
    [(host, device, core)] = grid - hanging
    first = _first_rank(facts, host, width)
    return None if first is None else _of(first + device * width + core, world_size)


def _of(rank: int, world_size: int) -> Quiet | None:
    everybody = frozenset(range(world_size))
    return Quiet(rank, everybody - {rank}) if rank in everybody else None


def _first_rank(facts: Iterable[Fact], host: str, width: int) -> int | None:
    """The rank of the first core of the first device, where all that the runtime says of cores of the host fits one. Whether it
    counts cores over the host or over their device, they are as far into it."""
    firsts: dict[int, set[int]] = defaultdict(set)
    for fact in facts:
        rank, device, core = fact.place.rank, fact.place.device, fact.place.core
        if fact.kind != "hang-report" or fact.place.host != host or rank is None or device is None or core is None:
            continue
        firsts[rank - device * width - core % width].add(rank)
    ranks = next(iter(firsts.values()), set())
    return next(iter(firsts)) if len(firsts) == 1 and len(ranks) >= _FEWEST else None
