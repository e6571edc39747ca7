"""Who is at fault in a circle of waits by what it lacks: most circles of operations to which all have come do not stand."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.recorder import named_ranks

#: Those who did one thing are so many times those who did the other.
_TELLING = 2
#: So many ranks wait for one.
_SEVERAL = 2


def the_only_one_lacking(cycle: Sequence[Gathering]) -> Blame | None:
    """Where all members have come to every operation of a circle but to one collective: the few that never came to it left it
    out, as they are waited for there and wait for nobody's coming; or the few that did come put it in."""
    lacking = [gathering for gathering in cycle if gathering.absent or gathering.unknown]
    here = lacking[0] if len(lacking) == 1 else None
    if here is None or here.is_transfer or here.unknown:
        return None
    came, absent = set(here.group.members) - set(here.absent), set(here.absent)
    if _TELLING * len(absent) <= len(came):
        told = f"never issued {here.title}, in which others wait, and went on to where all others have come"
        return Blame("rank-missing", told, culprits=tuple(sorted(absent)), gathering=here, about_ranks=True)
    if _TELLING * len(came) <= len(absent):
        told = f"issued {here.title}, which no other member did, before what all have come to"
        return Blame("order-mismatch", told, culprits=tuple(sorted(came)), gathering=here, about_ranks=True)
    return None


def alone_elsewhere(cycle: Sequence[Gathering]) -> Blame | None:
    """The one rank that stands in a collective to which no other member has come, while it alone is missing in one in which
    others wait: it went another way, and all the others are where the program leads them."""
    collectives = [gathering for gathering in cycle if not gathering.is_transfer and not gathering.unknown]
    alone = {
        gathering.waiting[0]
        for gathering in collectives
        if len(gathering.waiting) == 1 and len(gathering.absent) == len(gathering.group.members) - 1 >= _SEVERAL
    }
    awaited = [g for g in collectives if len(g.absent) == 1 and set(g.absent) <= alone and len(g.waiting) >= _SEVERAL]
    if len({g.absent[0] for g in awaited}) != 1 or len(alone) != 1:
        return None
    told = f"never issued {awaited[0].title}, in which others wait, and stands in a collective to which no other came"
    return Blame("rank-missing", told, tuple(awaited[0].absent), gathering=awaited[0], about_ranks=True)


def awaited_by_all(cycle: Sequence[Gathering]) -> Blame | None:
    """The one rank that transfers of a circle with several others lack, while it stands in a collective: that it left out its
    ends is less than that all of those have one too many."""
    transfers = [gathering for gathering in cycle if gathering.is_transfer]
    absent = {rank for gathering in transfers for rank in gathering.absent}
    waiting = {rank for gathering in transfers for rank in gathering.waiting}
    if len(absent) != 1 or len(waiting) < _SEVERAL or absent & waiting:
        return None
    told = f"never issued its ends of {len(transfers)} transfers in which {named_ranks(sorted(waiting))} wait for it"
    return Blame("p2p-missing", told, tuple(absent), gathering=transfers[0], about_ranks=True)
