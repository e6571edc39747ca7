"""Which ranks of a circle of waits issued two collectives the other way round than nearly all who issued both: it needs no
past, so dumps of what is in flight will do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.order_vote import Part, part_of
from neuron_doctor.engine.recorder import RankRecord

#: So many ranks must have issued both, and of so many at most one may differ.
_FEWEST = 4
_FEW = 8

#: A collective of the circle; the part that another plays in the program, which is the same on all ranks, and its number.
_Two = tuple[int, Part, int]


def out_of_pair_order(
    cycle: Sequence[Gathering], ranks: Collection[int], dumps: Mapping[int, RankRecord]
) -> tuple[int, ...]:
    """The few ranks of the circle that did; () where they are many, or none."""
    parts = _parts(cycle, dumps)
    odd: set[int] = set()
    for said in _orders(cycle, parts, dumps).values():
        usual, times = Counter(said.values()).most_common(1)[0]
        differing = {rank for rank, order in said.items() if order is not usual}
        if len(said) >= _FEWEST and times > len(differing) and len(differing) <= max(1, len(said) // _FEW):
            odd |= differing
    return tuple(sorted(odd)) if odd <= set(ranks) and len(odd) <= max(1, len(dumps) // _FEW) else ()


def _parts(cycle: Iterable[Gathering], dumps: Mapping[int, RankRecord]) -> set[Part]:
    waited = (
        (g.group.members[rank].record, g) for g in cycle if not g.is_transfer for rank in g.waiting if rank in dumps
    )
    return {part_of(record) for record, _ in waited if record}


def _orders(
    cycle: Iterable[Gathering], parts: Collection[Part], dumps: Mapping[int, RankRecord]
) -> dict[_Two, dict[int, bool]]:
    """For each two collectives, by rank, whether the other one came before that of the circle."""
    found: dict[_Two, dict[int, bool]] = defaultdict(dict)
    for gathering in cycle:
        for rank, member in gathering.group.members.items() if not gathering.is_transfer else ():
            own = member.at(gathering.ordinal)
            others = (record for record in dumps[rank].groups if record is not member.record) if own else ()
            for record in others:
                part = part_of(record)
                for one in record.recent + record.pending if part in parts else ():
                    found[id(gathering), part, one.sequence][rank] = own is not None and one.record < own.record
    return found
