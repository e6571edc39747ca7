"""Who is at fault when ranks wait: the ends of the wait-for graph, each with the class of what is wrong there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.argument_vote import Disagreement
from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.gatherings import Gathering, Waits, learns_starts, tells_of_ends, waits
from neuron_doctor.engine.hang import Hang, hang_of, is_first_contact
from neuron_doctor.engine.idle_ranks import is_through, may_wait, silent_peers, with_the_same_end
from neuron_doctor.engine.lacking import alone_elsewhere, awaited_by_all, the_only_one_lacking
from neuron_doctor.engine.late_issues import came_too_late
from neuron_doctor.engine.moving_jobs import of_a_hang
from neuron_doctor.engine.open_rounds import did_more, left_out_midway
from neuron_doctor.engine.order_vote import deviants, is_precedented
from neuron_doctor.engine.own_rounds import (
    alone_out_of_order,
    have_come_to_one_place,
    left_their_order,
    short_of_a_round,
)
from neuron_doctor.engine.pair_order import out_of_pair_order
from neuron_doctor.engine.peer_order import compared
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import RankRecord, most_alone, named_ranks
from neuron_doctor.engine.short_ranks import left_out_for_good, short_ranks, unbalanced
from neuron_doctor.engine.sibling_rounds import short_of_siblings
from neuron_doctor.engine.strangers import is_out_of_habit, without_victims_of_strangers
from neuron_doctor.engine.unseen_transfers import of_unseen_transfers
from neuron_doctor.engine.waitfor import bottoms, upstream

#: The ranks that wait, directly or through others, are listed for this many faults; for more, those who wait directly.
_TRACED = 64
#: A rank that has issued so many operations has long been through all that its program does.
_LONG = 10_000
#: At most one in so many ranks of a circle may have left the order.
_FEW = 4
#: So many groups are named in a sentence.
_SHOWN = 4
#: With what arguments ranks came to a collective of which none are told.
_UNTOLD = "arguments that no record tells"
#: The states of an operation to which a device has come.
_BEGUN = frozenset({"started", "completed"})
#: Two ranks that wait for each other, and no more.
_TWO = 2


def blame(groups: list[ProcessGroup], dumps: Mapping[int, RankRecord], found: Waits) -> list[Blame]:
    """The faults that all waiting hangs on, those that convict first. Empty where nothing waits, or nothing tells."""
    hang = hang_of(groups, dumps, found)
    blames: list[Blame] = []
    for bottom in bottoms(hang.successors):
        if hang.is_waited_for(bottom):
            blames += _of_bottom(hang, bottom)
    if not any(one.culprits for one in blames):
        circles = [one for circle in hang.known_circles() for one in _of_bottom(hang, circle) if one.culprits]
        blames = [*circles, *blames]
    if not any(one.culprits for one in blames) and not all(group.completions for group in groups):
        blames = _misdirected_of_all(hang) or blames or _short_of_all(hang) or _unordered_of_all(hang)
    blames = of_a_hang(blames, groups, dumps)
    if not any(one.verdict == "moving" for one in blames):
        blames += left_out_for_good(hang, {rank for one in blames for rank in one.culprits})
    return _arranged(hang, blames)


def _mismatch(differing: Disagreement, gathering: Gathering | None, group: ProcessGroup) -> Blame:
    what = {"op": "different operations", "size": "different element counts", "dtype": "different data types"}
    kind = "transfer" if gathering and gathering.is_transfer else "collective"
    return Blame(
        f"{differing.what}-mismatch",
        f"the ranks of {group.title} issued one {kind} with {what[differing.what]}: {differing.difference}",
        culprits=differing.odd,
        members=() if differing.odd else tuple(sorted(group.members)),
        difference=differing.difference,
        gathering=gathering,
        group=group,
    )


def _of_bottom(hang: Hang, bottom: Sequence[int]) -> list[Blame]:
    if len(bottom) > 1:
        return without_victims_of_strangers(hang, _of_cycle(hang, bottom), hang.ranks_at(bottom))
    gathering = hang.gathering(bottom[0])
    if gathering is not None:
        return [_of_gathering(hang, gathering)]
    rank = hang.ranks[bottom[0]]
    before = [g for node in hang.predecessors[bottom[0]] if (g := hang.gathering(node))]
    # if the rank came, they would still not agree
    differing = [(g, found) for g in before if (found := hang.differing.get(id(g))) and found.odd and not g.is_transfer]
    return [_of_rank(hang, rank, before), *(_mismatch(found, g, g.group) for g, found in differing)]


def _of_rank(hang: Hang, rank: int, before: list[Gathering]) -> Blame:
    """A rank that others wait for and that waits for nobody; `before`: where they wait for it."""
    here = max(before, key=lambda gathering: (not gathering.is_transfer, hang.waits.first_waiting(gathering)))
    if rank not in hang.dumps:
        told = f"{here.title} waits for rank {rank}, which left no dump"
        return Blame("rank-missing", told, missing=(rank,), gathering=here)
    if any(gathering.group.outdated(rank) for gathering in before):
        told = f"{here.title} waits for rank {rank}, whose dump is older than the end of what others show to be over"
        return Blame("rank-missing", told, missing=(rank,), gathering=here)
    if rank in hang.stuck:
        own = hang.stuck[rank]
        told = f"issued what its peers in {own.group.title} completed, and its device never completed it"
        return Blame("device-stuck", told, culprits=(rank,), gathering=own, about_ranks=True)
    if rank in hang.misdirected:
        told = "exchanges with a peer that does not expect it, while another one waits for it"
        return Blame("p2p-mismatch", told, culprits=(rank,), gathering=hang.misdirected[rank], about_ranks=True)
    return _of_idle(hang, rank, before, here)


def _of_idle(hang: Hang, rank: int, before: list[Gathering], here: Gathering) -> Blame:
    """A rank with nothing outstanding that never came to `here`."""
    at = here.title
    unseen = not here.group.completions
    unknown = silent_peers(hang, rank) if unseen and not is_through(hang, rank) else ()
    if unknown:
        told = (
            f"never issued {at}; no completion is recorded, so the wait may be for {named_ranks(unknown)}, which left "
            "no dump"
        )
        return Blame("undecided", told, missing=unknown, members=(rank,), gathering=here, about_ranks=True)
    strays = tuple(stray for stray in hang.strays if stray != rank)
    if strays and not here.group.completions:
        return _astray("order-mismatch", strays, here)
    if unseen and (of_others := of_unseen_transfers(hang, rank, here)):
        return of_others
    doubt = may_wait(hang, rank) if unseen else ""
    if doubt:
        told = f"never issued {at}; no completion is recorded, so the wait may be in {doubt}"
        return Blame("undecided", told, members=(rank,), suspects=(rank,), gathering=here, about_ranks=True)
    return _of_late(hang, rank, before, here)


def _of_late(hang: Hang, rank: int, before: list[Gathering], here: Gathering) -> Blame:
    """A rank that waits in nothing and never came to `here`: at fault, unless it is one of many."""
    at = here.title
    if all(gathering.is_transfer for gathering in before):
        return _of_partner(hang, rank, before, here)
    few = most_alone(len(hang.dumps))
    if len(with_the_same_end(hang, rank, few)) == few:
        told = f"never issued {at}, and stopped where others did: which of them is at fault no dump tells"
        return Blame("rank-missing", told, members=(rank,), gathering=here, about_ranks=True)
    if any(_few_missing(hang, gathering) for gathering in before):
        told = f"never issued {at}, in which others wait, {_free(here)}"
        return Blame("rank-missing", told, culprits=(rank,), gathering=here, about_ranks=True)
    told = f"never issued {at}, as most of its members: those who did may be the odd ones"
    return Blame("rank-missing", told, members=(rank,), gathering=here, about_ranks=True)


def _free(here: Gathering) -> str:
    """That a rank waits in nothing, as far as recorders tell."""
    if here.group.completions:
        return "while nothing was outstanding"
    return "and issued nothing else to wait in; whether the last that it issued is over is not recorded"


def _of_partner(hang: Hang, rank: int, before: list[Gathering], here: Gathering) -> Blame:
    """A rank with nothing outstanding that is waited for in transfers only."""
    told = f"never issued its end of {here.title}"
    over = sorted({o for g in before for o in g.waiting if did_more(g, o, hang.dumps, hang.of_one_program)})
    if over:
        told = (
            f"{named_ranks([rank])} {told}, and {named_ranks(over)} issued more than ever: which is wrong no dump tells"
        )
        return Blame("p2p-missing", told, members=tuple(sorted({rank, *over})), gathering=here)
    strange = sorted({one for g in before for one in g.waiting if is_out_of_habit(hang, g, one)})
    if not strange:
        return Blame("p2p-missing", told, (rank,), gathering=here, about_ranks=True)
    told = f"{named_ranks([rank])} {told}, and {named_ranks(strange)} had to do with other ranks only before"
    return Blame("p2p-missing", told, members=tuple(sorted({rank, *strange})), gathering=here)


def _astray(verdict: str, ranks: tuple[int, ...], gathering: Gathering) -> Blame:
    told = "issued more or fewer operations than the other ranks of their program up to the same collective"
    return Blame(verdict, told, culprits=ranks, gathering=gathering, about_ranks=True)


def _few_missing(hang: Hang, gathering: Gathering) -> bool:
    """Whether those who did not come without waiting elsewhere are no majority: else who came may be the odd ones."""
    idle = sum(1 for rank in gathering.absent if hang.is_idle(rank))
    return gathering.is_transfer or 2 * idle <= len(gathering.group.ranks)


def _of_gathering(hang: Hang, gathering: Gathering) -> Blame:
    """An operation to which everybody has come."""
    if id(gathering) in hang.differing:
        return _mismatch(hang.differing[id(gathering)], gathering, gathering.group)
    at = gathering.title
    if gathering.is_open_ended:
        told = f"{at} does not complete, and no dump tells who should take part in it"
        return Blame("undecided", told, members=tuple(sorted(gathering.group.members)), gathering=gathering)
    if gathering.is_transfer:
        return _of_transfer(hang, gathering)
    return _of_common_stall(hang, gathering, at)


def _of_common_stall(hang: Hang, gathering: Gathering, at: str) -> Blame:
    """A collective, in words `at`, to which everybody has come with equal arguments."""
    waiting = gathering.waiting
    members = gathering.group.members
    if gathering.group.went_on():
        told = f"{at} was under way when some dumps were written, and others show that the group has gone on since"
        return Blame("moving", told, members=tuple(sorted(members)), gathering=gathering)
    unstarted = _unstarted(hang, gathering)
    if unstarted:
        told = f"issued {at} as all others did, and never started it: the device is stuck before it"
        return Blame("device-stuck", told, culprits=unstarted, gathering=gathering, about_ranks=True, momentary=True)
    completed = [rank for rank in members if rank not in set(waiting)] if gathering.group.completions else []
    if completed:
        odd = tuple(waiting) if 2 * len(waiting) < len(members) else ()
        told = f"{at} completed on {named_ranks(sorted(completed))} and never on {named_ranks(waiting)}"
        return Blame("partial-completion", told, culprits=odd, members=tuple(sorted(members)), gathering=gathering)
    if not gathering.group.completions and (too_late := came_too_late(gathering.group, hang.groups)):
        rank, gap_ms = too_late
        told = f"came to {at} {gap_ms / 1000:.0f} s after all others, which had given up waiting by then"
        return Blame("rank-missing", told, culprits=(rank,), gathering=gathering, about_ranks=True)
    equal = _equal(gathering)
    told = f"all ranks have come to {at} with {equal or _UNTOLD}, and it completes on none"
    doubt = _doubt(gathering, at, equal)
    verdict = "undecided" if doubt else "transport-stall"
    return Blame(verdict, doubt or told, members=tuple(sorted(members)), gathering=gathering)


def _doubt(gathering: Gathering, at: str, equal: str) -> str:
    """Why it is not sure that the transport stalls where all seem to have come; nothing where it is."""
    if not gathering.group.whole:
        return (
            f"all ranks that left a dump have come to {at} with {equal or _UNTOLD}, and it completes on none; no dump lists "
            "the members of the group, and one may be missing"
        )
    if unseen := _unseen(gathering):
        return (
            f"{at} completes on none; {named_ranks(unseen)} issued it and had not started it, and no dump lists what else it "
            "may wait in"
        )
    if not equal:
        return (
            f"all ranks have come to {at} with {_UNTOLD}, and it completes on none; the transport below stalls, or these "
            "differ"
        )
    return ""


def _unseen(gathering: Gathering) -> tuple[int, ...]:
    """The ranks of which only their status tells that they issued a collective (a dump that was cut, say), and that their
    device had not come to it, as others had."""
    begun = any(front.operation and front.operation.state in _BEGUN for front in gathering.fronts)
    alone = [front.rank for front in gathering.fronts if front.operation is None] if begun else []
    records = {rank: gathering.group.members[rank].record for rank in alone}
    return tuple(
        rank for rank, one in records.items() if one and one.started is not None and one.started == one.completed
    )


def _equal(gathering: Gathering) -> str:
    """What of the arguments is known to be equal, nothing where none is told: watchdogs may tell of none, recorders before
    PyTorch 2.4 note no types."""
    operation = gathering.operation
    if operation is None or (operation.inputs < 0 and not operation.dtype):
        return ""
    return (
        "equal arguments" if operation.inputs == 0 or operation.dtype else "equal sizes (their types are not recorded)"
    )


def _of_transfer(hang: Hang, gathering: Gathering) -> Blame:
    """A transfer to which both ends seem to have come: if a rank left one out, it is the next one that came."""
    if hang.strays:
        return _astray("p2p-missing", hang.strays, gathering)
    unstarted = _unstarted(hang, gathering)
    if unstarted:
        told = f"never started {gathering.title}, as the other end did, though it waits in nothing before: its device is stuck"
        return Blame("device-stuck", told, culprits=unstarted, gathering=gathering, about_ranks=True, momentary=True)
    told = f"both ends of {gathering.title} have come and it does not complete"
    ends = sorted({*gathering.waiting, *(gathering.ends or ())} & set(hang.dumps))
    return _short(hang, ends, gathering) or Blame("transport-stall", told, gathering=gathering)


def _short(hang: Hang, ranks: Sequence[int], gathering: Gathering) -> Blame | None:
    """The one of these ranks that left out a transfer, if its own past tells, or the books; else two, if one of them did."""
    short, told = short_ranks(hang, ranks, gathering)
    two = unbalanced(hang, ranks, gathering) if not short else ()
    told = "issued more ends of transfers, or fewer, than the other: which of the two no dump tells" if two else told
    found = Blame("p2p-missing", told, short, members=two, gathering=gathering, about_ranks=True)
    return found if short or two else None


def _short_of_all(hang: Hang) -> list[Blame]:
    """Where no completion is recorded, and nothing else tells that anybody waits: the one rank that left out a transfer."""
    short = tuple(short_of_a_round(hang.groups, hang.dumps, hang.dumps))
    told = "issued fewer transfers in its last round than in each one before, and no completion is recorded"
    return [Blame("p2p-missing", told, short, about_ranks=True)] if len(short) == 1 else []


def _unordered_of_all(hang: Hang) -> list[Blame]:
    """Where no completion is recorded, and nothing else tells that anybody waits: the one rank that changed its order."""
    left = alone_out_of_order(hang.groups, hang.dumps)
    told = "issued the transfers of its last round in another order than before, as no other did, and no completion is recorded"
    return [Blame("p2p-order", told, left, about_ranks=True)] if left else []


def _misdirected_of_all(hang: Hang) -> list[Blame]:
    """Where not all completions are recorded, and nothing else convicts anybody: who exchanged with the wrong rank, once all
    three have gone on: before that, two of them may be late."""
    return [
        Blame(
            "p2p-mismatch",
            f"exchanged with rank {one.peer}, which has no end for it, and rank {one.usual} has one too many",
            culprits=(one.rank,),
            waiting=(one.usual,),
            about_ranks=True,
        )
        for one in hang.unbalanced
        if have_come_to_one_place(hang.dumps[rank] for rank in (one.rank, one.peer, one.usual))
    ]


def _unstarted(hang: Hang, gathering: Gathering) -> tuple[int, ...]:
    """The ranks on which an operation never started while it did on at least as many others, or is over there; only ranks
    whose recorder learns of starts. Where none of the others waits here, only ranks that show what is over: a ring may have
    lost what they stand in."""
    here = {front.rank: front.operation.state for front in gathering.fronts if front.operation}
    states = gathering.met | here
    begun = {rank for rank, state in states.items() if state in _BEGUN}
    able = {
        rank
        for rank in states
        if learns_starts(hang.dumps[rank]) and (begun & here.keys() or tells_of_ends(hang.dumps[rank]))
    }
    unstarted = sorted(rank for rank, state in states.items() if state == "scheduled" and rank in able)
    return tuple(unstarted) if begun and 2 * len(unstarted) <= len(states) else ()


def _of_cycle(hang: Hang, bottom: Sequence[int]) -> list[Blame]:
    """Ranks that wait for one another in a circle."""
    bottom = hang.core(bottom)
    cycle = [gathering for node in bottom if (gathering := hang.gathering(node))]
    ranks = hang.ranks_at(bottom)
    differing = [g for g in cycle if id(g) in hang.differing]
    if differing:
        return [_mismatch(hang.differing[id(g)], g, g.group) for g in differing]
    transfers = [gathering for gathering in cycle if gathering.is_transfer]
    if left_out := the_only_one_lacking(cycle) or _left_out_midway(hang, transfers, ranks):
        return [left_out]
    odd = _out_of_order(hang, cycle, ranks)
    told = f"{named_ranks(ranks)} wait for one another: {_standing(cycle)}"
    strange = [g for g in transfers for rank in odd if rank in g.waiting and is_first_contact(hang, g, rank)]
    if strange and all(any(rank in g.waiting for g in strange) for rank in odd):
        return [Blame("p2p-mismatch", told, culprits=odd, members=tuple(ranks), gathering=strange[0])]
    if len(transfers) == len(cycle) and (not odd or len(ranks) <= _TWO):
        left = tuple(left_their_order(hang.groups, hang.dumps, ranks))
        culprits = odd or (left if len(left) == 1 else ())
        unordered = Blame("p2p-order", told, culprits=culprits, members=tuple(ranks), gathering=transfers[0])
        short = _short(hang, ranks, transfers[0])
        return [short if short and (short.culprits or not culprits) else unordered]
    if not transfers:
        return [Blame("order-mismatch", told, culprits=odd, members=tuple(ranks), gathering=cycle[0])]
    return _of_mixed_cycle(hang, cycle, ranks, odd, told)


def _left_out_midway(hang: Hang, transfers: Sequence[Gathering], ranks: Sequence[int]) -> Blame | None:
    """The one rank of a circle that left out a transfer behind which its round went on as ever."""
    left_out = left_out_midway(transfers, ranks, hang.dumps, hang.of_one_program)
    here = next((gathering for gathering in transfers if set(gathering.absent) & set(left_out)), None)
    told = "left out a transfer in the middle of its round, unlike before or unlike other ranks of the same program"
    return Blame("p2p-missing", told, left_out, gathering=here, about_ranks=True) if left_out else None


def _of_mixed_cycle(
    hang: Hang, cycle: Sequence[Gathering], ranks: Sequence[int], odd: tuple[int, ...], told: str
) -> list[Blame]:
    """Ranks that wait for one another in transfers and collectives."""
    if went_away := alone_elsewhere(cycle):
        return [went_away]
    collective = next((gathering for gathering in cycle if not gathering.is_transfer), cycle[0])
    if left_out := short_of_siblings(cycle):
        told = "left out transfers for which others wait, unlike in the round before and unlike other ranks of the same program"
        here = next(gathering for gathering in cycle if gathering.is_transfer and set(gathering.absent) & set(left_out))
        return [Blame("p2p-missing", told, left_out, gathering=here, about_ranks=True)]
    skipped = next((g for g in cycle if g.is_transfer and set(g.absent) & set(odd or ranks)), None)
    short = _short(hang, ranks, skipped) if skipped and not odd else None
    short = short if short and short.culprits else awaited_by_all(cycle) if skipped and not odd else None
    if short:
        return [short]
    if odd or not all(_has_done_so_before(hang, cycle, rank) for rank in ranks):
        verdict = "p2p-missing" if skipped else "order-mismatch"
        return [Blame(verdict, told, culprits=odd, members=tuple(ranks), gathering=skipped or collective)]
    return _without_transfers(hang, set(ranks)) or [
        Blame("undecided", told, members=tuple(ranks), gathering=collective)
    ]


def _standing(cycle: Sequence[Gathering]) -> str:
    """Who waits in what: of ranks that use groups in different orders, this is the difference."""
    told = [f"{named_ranks(g.waiting)} in {g.title}" for g in sorted(cycle, key=lambda g: (g.waiting, g.title))]
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return "; ".join(told[:_SHOWN]) + more


def _out_of_order(hang: Hang, cycle: Sequence[Gathering], ranks: Sequence[int]) -> tuple[int, ...]:
    """The ranks of a circle that left the order: by what their peers did at the same place, else by what else tells."""
    beside = compared(cycle, ranks, hang.dumps)
    told_of_all = beside.same and set(beside.odd) | beside.same == set(ranks)
    if beside.odd and (told_of_all or len(beside.odd) <= max(1, len(ranks) // _FEW)):
        return beside.odd
    found = deviants(cycle, ranks, hang.dumps, hang.groups) or out_of_pair_order(cycle, ranks, hang.dumps)
    return tuple(rank for rank in found if rank not in beside.same)


def _has_done_so_before(hang: Hang, cycle: Sequence[Gathering], rank: int) -> bool:
    """Whether this order of operations has worked on the rank before: shown by its past, or it has long lost its past."""
    precedented = is_precedented(hang.dumps[rank], cycle, rank)
    return hang.dumps[rank].issued >= _LONG if precedented is None else precedented


def _without_transfers(hang: Hang, ranks: set[int]) -> list[Blame]:
    """The faults among these ranks if point-to-point operations are taken to be issued ahead, so that nobody stands in
    them: in an order that has worked before, a transfer that is open does not keep its rank from going on."""
    reduced = hang_of(hang.groups, hang.dumps, waits(hang.groups, hang.dumps, transfers=False))
    blames: list[Blame] = []
    for bottom in bottoms(reduced.successors):
        inside = set(reduced.ranks_at(bottom))
        inside.update(rank for node in bottom if (g := reduced.gathering(node)) for rank in g.waiting)
        if len(bottom) == 1 and inside & ranks and reduced.is_waited_for(bottom):
            blames += _of_bottom(reduced, bottom)
    return blames if len(blames) == 1 else []  # one cycle has one reason


def _arranged(hang: Hang, blames: list[Blame]) -> list[Blame]:
    """One blame for each class and place, with all who wait because of it; what convicts nobody gives way."""
    blames = _without_the_rest_of_batches(blames)
    convicting = [one for one in blames if one.culprits]
    missing = tuple(sorted({rank for one in blames for rank in one.missing}))
    if convicting:
        keep = {"order-mismatch", "op-mismatch", "size-mismatch", "dtype-mismatch", "p2p-order"}
        blames = [one for one in blames if one.culprits or one.verdict in keep or _is_started_by_all(one)]
    merged: dict[tuple[str, int, bool], Blame] = {}
    for one in blames:
        place = one.gathering.group if one.verdict == "undecided" and one.gathering else one.gathering
        key = (one.verdict, id(place), bool(one.culprits))
        held = merged.get(key)
        merged[key] = one if held is None else _joint(held, one)
    found = [replace(one, missing=missing) for one in merged.values()]
    traced = len(found) <= _TRACED
    found = [one if one.waiting else replace(one, waiting=_waiting(hang, one, traced=traced)) for one in found]
    return sorted(found, key=lambda one: (not one.culprits, one.culprits, one.verdict, one.waiting, one.description))


def _is_started_by_all(one: Blame) -> bool:
    """Whether a fault that convicts nobody is a collective that the devices of all its ranks have started: what holds up others
    does not hold up this one."""
    here = one.gathering
    return (
        one.verdict == "transport-stall"
        and here is not None
        and not here.is_transfer
        and all(front.operation is not None and front.operation.state == "started" for front in here.fronts)
    )


def _without_the_rest_of_batches(blames: list[Blame]) -> list[Blame]:
    """Without stalls of transfers to which both ends have come, where one of these waits for a partner of another transfer:
    those of a batch complete together."""
    short = {rank for one in blames if one.verdict == "p2p-missing" and one.gathering for rank in one.gathering.waiting}
    stalls = [one for one in blames if one.verdict == "transport-stall" and one.gathering and one.gathering.is_transfer]
    rest = {id(one) for one in stalls if one.gathering and short.intersection(one.gathering.waiting)}
    return [one for one in blames if id(one) not in rest]


def _joint(one: Blame, other: Blame) -> Blame:
    return replace(
        one,
        culprits=tuple(sorted({*one.culprits, *other.culprits})),
        members=tuple(sorted({*one.members, *other.members})),
        suspects=tuple(sorted({*one.suspects, *other.suspects})),
    )


def _waiting(hang: Hang, one: Blame, *, traced: bool) -> tuple[int, ...]:
    """The ranks that wait because of a fault, without those at fault."""
    blamed = set(one.culprits)
    direct = set(one.gathering.waiting) if one.gathering else set()
    if traced:
        nodes = {hang.node[rank] for rank in one.culprits or one.missing if rank in hang.node}
        if one.gathering in hang.waits.gatherings:
            nodes.add(len(hang.ranks) + hang.waits.gatherings.index(one.gathering))
        direct |= set(hang.ranks_at(upstream(hang.predecessors, nodes)))
    return tuple(sorted((direct & set(hang.waits.by_rank)) - blamed))
