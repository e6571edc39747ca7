"""Which of the ranks that wait issued too few transfers, by all that can tell: their own rounds, their partners, the books."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.hang import Hang
from neuron_doctor.engine.own_rounds import short_of_a_round, short_of_its_partner

#: What a rank did that left out a transfer, in words.
_LEFT_OUT = "left out transfers that it issued in the round before, and for which their other ends wait"


def short_ranks(hang: Hang, ranks: Sequence[int], gathering: Gathering) -> tuple[tuple[int, ...], str]:
    """The ranks among those that wait, or are the ends of a transfer, with what they did, in words; () where nothing tells, or
    the same of several that could blame each other."""
    short = tuple(short_of_a_round(hang.groups, hang.dumps, ranks))
    told = "issued fewer transfers in its last round than in each one before"
    if gathering.is_transfer and not short:
        short, told = (
            short_of_its_partner(gathering.group),
            "has issued one transfer less than the other end of all of them",
        )
    if len(short) == 1:
        return short, told
    near = {*ranks, *(gathering.ends or ())}
    short = tuple(sorted(one.rank for one in hang.omissions if one.rank in near))
    return short, _LEFT_OUT


def left_out_for_good(hang: Hang, blamed: Collection[int]) -> Iterator[Blame]:
    """The ranks, beside those that are `blamed`, that left out a transfer for which its other end waits, though both have issued
    what ends that round: whatever else stands, this transfer never comes."""
    for one in hang.omissions:
        waits = [g for partner in one.partners for g in hang.waits.by_rank.get(partner, ()) if g.is_transfer]
        here = next((g for g in waits if one.rank in (*g.absent, *g.held) and g.group.completions), None)
        if here is not None and one.rank not in blamed:
            yield Blame("p2p-missing", _LEFT_OUT, (one.rank,), gathering=here, about_ranks=True)


def unbalanced(hang: Hang, ranks: Sequence[int], gathering: Gathering) -> tuple[int, ...]:
    """Two of these ranks that have issued another number of sends than of receives, one to the other, up to the same collective:
    then it is neither the order of transfers nor what carries them that keeps them."""
    near = {*ranks, *(gathering.ends or ())}
    return next((tuple(sorted(gap.ranks)) for gap in hang.gaps if gap.ranks <= near), ())
