"""Do all ranks that issued a collective mean the same one? A vote on operation, element counts and data type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import Operation, named_ranks

#: Which of (inputs, outputs) must be equal on all ranks, where not both: elsewhere they depend on the rank or the root.
_EQUAL_ON_ALL = {
    "all_gather": (False, True),
    "allgather": (False, True),
    "reduce_scatter": (True, False),
    "gather": (True, False),
    "scatter": (False, True),
}
_UNEVEN = ("all_to_all", "alltoall")
#: So many variants are told apart in the description of a difference.
_SHOWN = 4
#: Where the members are not known, at most one in so many may be odd.
_MANY = 4


class Disagreement(Struct, frozen=True):
    """`what` differs (op, size or dtype); `odd` are the ranks in the minority, () in a tie; `difference` in words."""

    what: str
    odd: tuple[int, ...]
    difference: str


def disagreement(issued: Mapping[int, Operation]) -> Disagreement | None:
    """The first thing on which the ranks differ that issued one collective; None where they agree."""
    for what in _READ:
        variants = variants_of(issued, what)
        if len(variants) > 1 and not (what != "op" and "" in variants):
            return Disagreement(what, _minority(variants), _difference(variants))
    return None


def variants_of(issued: Mapping[int, Operation], what: str) -> dict[str, list[int]]:
    """The ranks that issued one collective by what they say of it: its operation, its sizes, or its type."""
    variants: dict[str, list[int]] = defaultdict(list)
    for rank, operation in issued.items():
        variants[_READ[what](operation)].append(rank)
    return dict(variants)


def _name(operation: Operation) -> str:
    return operation.name


def _sizes(operation: Operation) -> str:
    """The element counts that must agree, in words; "" where none need to."""
    if any(part in operation.name for part in _UNEVEN):
        return ""
    inputs, outputs = _EQUAL_ON_ALL.get(operation.name, (True, True))
    said = [
        f"{count} elements {way}"
        for count, way, counts in ((operation.inputs, "in", inputs), (operation.outputs, "out", outputs))
        if counts and count >= 0
    ]
    return ", ".join(said)


def _dtype(operation: Operation) -> str:
    return operation.dtype


#: What is compared, in this order.
_READ: Mapping[str, Callable[[Operation], str]] = {"op": _name, "size": _sizes, "dtype": _dtype}


def _minority(variants: Mapping[str, list[int]]) -> tuple[int, ...]:
    """All but the ranks of the one variant that most ranks have; nobody where no such variant is."""
    counts = sorted((len(ranks) for ranks in variants.values()), reverse=True)
    if counts[0] == counts[1]:
        return ()
    return tuple(sorted(rank for ranks in variants.values() if len(ranks) < counts[0] for rank in ranks))


def _difference(variants: Mapping[str, list[int]]) -> str:
    listed = sorted(variants.items(), key=lambda variant: (-len(variant[1]), variant[0]))
    parts = [f"{variant} on {named_ranks(sorted(ranks))}" for variant, ranks in listed[:_SHOWN]]
    return "; ".join(parts + [f"{len(listed) - _SHOWN} more"] * (len(listed) > _SHOWN))


def first_disagreement(group: ProcessGroup, ordinals: Iterable[int]) -> tuple[int, Disagreement] | None:
    """The first of these ordinals at which the members of a group that issued it differ.

    Where nobody recorded the members, those who carry the group's number are asked in their place: they run the same
    program, if they agree on what came just before and all but few of them agree now.
    """
    for ordinal in ordinals:
        found = disagreement(issued_at(group, ordinal))
        if found is not None and (group.proven or _is_telling(group, ordinal, found)):
            return ordinal, found
    return None


def issued_at(group: ProcessGroup, ordinal: int) -> dict[int, Operation]:
    """The operation of this ordinal as each member issued it that still describes it."""
    return {rank: operation for rank, member in group.members.items() if (operation := member.at(ordinal))}


def _is_telling(group: ProcessGroup, ordinal: int, found: Disagreement) -> bool:
    before = issued_at(group, ordinal - 1)
    few = 0 < len(found.odd) <= len(group.members) // _MANY
    return few and len(before) == len(group.members) and disagreement(before) is None
