"""Ranks that differ in one operation where no majority tells who is odd: the two ends of a transfer, two equal halves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from neuron_doctor.engine.argument_vote import Disagreement, issued_at, variants_of
from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import SEND, Operation, RankRecord, named_ranks

#: Two groups run one program as far as so many collectives before a place are the same in both; the fewest that tell.
_BEFORE, _FEWEST = 6, 2
_ENDS = 2


def differing_ends(gathering: Gathering, dumps: Mapping[int, RankRecord]) -> Disagreement | None:
    """In what the two ends of a transfer differ that wait in it; the odd one is the one that moved something else before.

    Only where both dumps remember everything: else what stands for one transfer may be two.
    """
    ends = {front.rank: front.operation for front in gathering.fronts if front.operation}
    if len(ends) != _ENDS or not all(dumps[rank].whole for rank in ends):
        return None
    for what, read in (("size", _count), ("dtype", _dtype)):
        said = {rank: read(end) for rank, end in ends.items()}
        if len(set(said.values())) > 1 and "" not in said.values():
            past = {rank: _past(gathering.group, rank, end, what) for rank, end in ends.items()}
            usual = set().union(*past.values())
            odd = tuple(rank for rank in said if all(past.values()) and usual == set(said.values()) - {said[rank]})
            told = "; ".join(f"{ends[rank].kind} of {said[rank]} on {named_ranks([rank])}" for rank in sorted(said))
            return Disagreement(what, odd, told)
    return None


def _count(operation: Operation) -> str:
    count = operation.inputs if operation.kind == SEND else operation.outputs
    return f"{count} elements" if count >= 0 else ""


def _dtype(operation: Operation) -> str:
    return operation.dtype


def _past(group: ProcessGroup, rank: int, end: Operation, what: str) -> set[str]:
    """What a rank moved before between the same ends."""
    record = group.members[rank].record
    like = (end.kind, end.source, end.target)
    moved = [one for one in (record.transfers if record else ()) if (one.kind, one.source, one.target) == like]
    return {_count(one) if what == "size" else _dtype(one) for one in moved}


def settled(found: Disagreement, group: ProcessGroup, ordinal: int, groups: Iterable[ProcessGroup]) -> Disagreement:
    """A tie, with the ranks as the odd ones that differ from what all groups of the same program issued there."""
    usual = {
        variant
        for sibling in groups
        if sibling is not group and sibling.desc == group.desc and _is_alike(sibling, group, ordinal)
        for variant in variants_of(issued_at(sibling, ordinal), found.what)
    }
    variants = variants_of(issued_at(group, ordinal), found.what)
    if len(usual) != 1 or not usual < variants.keys():
        return found
    [common] = usual
    return replace(found, odd=tuple(sorted(r for v, ranks in variants.items() if v != common for r in ranks)))


def _is_alike(sibling: ProcessGroup, group: ProcessGroup, ordinal: int) -> bool:
    """Whether both groups are as large, and issued the same up to this place."""
    known = 0
    for before in range(ordinal - _BEFORE, ordinal):
        issued = [*issued_at(sibling, before).values(), *issued_at(group, before).values()]
        told = {(one.name, one.inputs, one.outputs, one.dtype) for one in issued}
        if len(told) > 1:
            return False
        known += len(issued) == len(sibling.members) + len(group.members)
    return len(sibling.ranks) == len(group.ranks) and known >= _FEWEST
