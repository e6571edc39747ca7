"""Which of the ranks that wait issued too few transfers, by all that can tell: their own rounds, their partners, the books."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.hang import Hang
from neuron_doctor.engine.own_rounds import short_of_a_round, short_of_its_partner


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
    return short, "left out transfers that it issued in the round before, and for which their other ends wait"


def unbalanced(hang: Hang, ranks: Sequence[int], gathering: Gathering) -> tuple[int, ...]:
    """Two of these ranks that have issued another number of sends than of receives, one to the other, up to the same collective:
    then it is neither the order of transfers nor what carries them that keeps them."""
    near = {*ranks, *(gathering.ends or ())}
    return next((tuple(sorted(gap.ranks)) for gap in hang.gaps if gap.ranks <= near), ())
