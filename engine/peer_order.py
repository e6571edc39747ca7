"""Which rank of a circle of waits did something else than the ranks that run the same program, at the same place in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.order_vote import Part, part_of
from neuron_doctor.engine.recorder import COLLECTIVE, Operation, RankRecord

#: Ranks run one program as far as this many operations before a place are the same on both, and all since a collective.
_BEFORE = 6
#: So many of them tell for sure what belongs at the place; and so large a share must agree.
_WITNESSES = 2
_SHARE = 0.75

#: What an operation does in the program: ends of transfers are numbers within the group, which like ranks share, and so
#: are the numbers of collectives.
Step = tuple[str, Part, int, int, int]


class Comparison(Struct, frozen=True):
    """Of the ranks of a circle: who did another thing than most who run its program (`odd`), and who did the same."""

    odd: tuple[int, ...]
    same: frozenset[int]


def compared(cycle: Sequence[Gathering], ranks: Sequence[int], dumps: Mapping[int, RankRecord]) -> Comparison:
    """What each rank of a circle waits in, beside what its peers outside the circle issued as their n-th operation. One
    peer is enough against a rank where all others of the circle are cleared."""
    steps = {rank: dict(_steps(dump)) for rank, dump in dumps.items()}
    places = {rank: place for rank in ranks if rank in dumps and (place := _place(cycle, rank)) is not None}
    told = {rank: _told(rank, place, steps, frozenset(ranks)) for rank, place in places.items()}
    usual = {rank: found.most_common(1)[0] for rank, found in told.items() if found}
    clear = {rank: (step, times) for rank, (step, times) in usual.items() if times >= _SHARE * told[rank].total()}
    same = frozenset(rank for rank, (step, _) in clear.items() if step == steps[rank].get(places[rank]))
    odd = sorted(clear.keys() - same)
    sure = [rank for rank in odd if clear[rank][1] >= _WITNESSES]
    return Comparison(tuple(sure or (odd if len(odd) == 1 and len(same) + 1 == len(ranks) else ())), same)


def _place(cycle: Iterable[Gathering], rank: int) -> int | None:
    fronts = (front for gathering in cycle for front in gathering.fronts if front.rank == rank)
    return min((front.operation.record for front in fronts if front.operation), default=None)


def _told(rank: int, place: int, steps: Mapping[int, Mapping[int, Step]], inside: frozenset[int]) -> Counter[Step]:
    """What the ranks of the same program issued at a place of a rank, without those `inside` the circle."""
    own = steps[rank]
    before = _before(place, own)
    return Counter(
        theirs[place]
        for peer, theirs in steps.items()
        if before
        and peer not in inside
        and place in theirs
        and all(theirs.get(number) == own[number] for number in before)
    )


def _before(place: int, own: Mapping[int, Step]) -> list[int]:
    """The operations before a place that tell which program a rank runs, and where in it: back to a collective, as the turns of a
    pipeline look alike. None where the dump does not describe all of them."""
    before = [number for number in range(place - _BEFORE, place) if number in own]
    while before and not any(own[number][-1] >= 0 for number in before):
        earlier = before[0] - 1
        if earlier not in own:
            return []
        before.insert(0, earlier)
    return before


def _steps(dump: RankRecord) -> Iterator[tuple[int, Step]]:
    for group in dump.groups:
        part = part_of(group)
        for operations in (group.recent, group.pending, group.transfers, group.pending_transfers):
            yield from ((one.record, _step(one, part)) for one in operations)


def _step(one: Operation, part: Part) -> Step:
    return f"{one.kind} {one.name}", part, one.source, one.target, one.sequence if one.kind == COLLECTIVE else -1
