"""Processes that name no rank, in the rank of the one core with which they load graphs: the runtime numbers the cores of all
processes through (`global_device_id=21, global_device_count=32`), and where each process has one, that number is its rank.

So it is only where every process that loads says one number, always the same, of the same count, no two logs say the same one,
and whatever rank a process is known to have is this number. A process that drives several cores names several, or more than one
at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import gcd

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.proven import unique

_LOADS = "nrt_load_collectives"
_Process = tuple[str, str | None, int | None]


def in_the_rank_of_their_core(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts, those of such processes with their ranks."""
    loads = [fact for fact in facts if fact.kind == "stand" and fact.data.get("operation") == _LOADS]
    ranks = _ranks(loads) if any(fact.place.rank is None for fact in loads) else {}
    if not ranks:
        return facts
    return [
        replace(fact, place=replace(fact.place, rank=rank))
        if fact.place.rank is None and not fact.place.ranks and (rank := ranks.get(_process(fact))) is not None
        else fact
        for fact in facts
    ]


def _ranks(loads: Sequence[Fact]) -> dict[_Process, int]:
    """The rank of each process that loads, if the numbers are ranks."""
    said = [(fact, fact.data.get("global_device"), fact.data.get("global_devices")) for fact in loads]
    counts = {count for _, _, count in said}
    count = next(iter(counts)) if len(counts) == 1 else None
    if not isinstance(count, int) or not all(isinstance(number, int) and number < count for _, number, _ in said):
        return {}
    if any(fact.place.pid is None or fact.place.rank not in (None, number) for fact, number, _ in said):
        return {}
    numbers = {(_process(fact), number) for fact, number, _ in said if isinstance(number, int)}
    ranks = unique(numbers)
    if _are_first_cores({number for _, number in numbers}):
        return {}
    one_log_each = unique((number, process[:2]) for process, number in numbers)
    if len(ranks) < len({process for process, _ in numbers}) or len(one_log_each) < len(set(ranks.values())):
        return {}
    return ranks


def _are_first_cores(numbers: Collection[int]) -> bool:
    """Whether all may be the first cores of processes that have several."""
    return len(numbers) > 1 and gcd(*numbers) > 1


def _process(fact: Fact) -> _Process:
    return fact.source, fact.place.host, fact.place.pid
