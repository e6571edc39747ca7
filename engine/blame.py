"""Who is at fault when ranks wait: the ends of the wait-for graph, each with the class of what is wrong there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from neuron_doctor.engine.argument_vote import Disagreement, first_disagreement
from neuron_doctor.engine.gatherings import Gathering, Waits, waits
from neuron_doctor.engine.order_vote import deviants, is_precedented
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import COLLECTIVE, ROOTED, GroupRecord, Operation, RankRecord, ranks_text
from neuron_doctor.engine.waitfor import bottoms, reversed_edges, upstream

#: A rank whose device still works on what peers have completed lags by at least this many collectives.
_LAG = 2
#: The ranks that wait, directly or through others, are listed for this many faults; for more, those who wait directly.
_TRACED = 64
#: A rank that has issued so many operations has long been through all that its program does.
_LONG = 10_000


@dataclass(frozen=True, slots=True)
class Blame:
    """One fault: its class, in words, the ranks at fault, the ranks that wait because of it, and at what."""

    verdict: str
    description: str
    culprits: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    difference: str = ""
    gathering: Gathering | None = None
    group: ProcessGroup | None = None


@dataclass
class _Case:
    """The graph of one set of dumps: nodes are ranks (with a dump, or without), then gatherings."""

    groups: list[ProcessGroup]
    dumps: Mapping[int, RankRecord]
    waits: Waits
    ranks: list[int] = field(default_factory=list)
    successors: list[list[int]] = field(default_factory=list)
    predecessors: list[list[int]] = field(default_factory=list)
    stuck: dict[int, Gathering] = field(default_factory=dict)
    misdirected: dict[int, Gathering] = field(default_factory=dict)
    differing: dict[int, Disagreement] = field(default_factory=dict)

    def gathering(self, node: int) -> Gathering | None:
        """The gathering that a node is, None for a rank."""
        return self.waits.gatherings[node - len(self.ranks)] if node >= len(self.ranks) else None

    def is_idle(self, rank: int) -> bool:
        """Whether a rank with a dump waits in nothing."""
        return rank in self.dumps and rank not in self.waits.by_rank

    def is_waited_for(self, bottom: Sequence[int]) -> bool:
        """Whether anybody waits for the end of a chain of waits; where a stuck device stands is no such end."""
        return len(bottom) > 1 or bool(self.predecessors[bottom[0]])


def blame(groups: list[ProcessGroup], dumps: Mapping[int, RankRecord], found: Waits) -> list[Blame]:
    """The faults that all waiting hangs on, those that convict first. Empty where nothing waits, or nothing tells."""
    case = _case(groups, dumps, found)
    blames: list[Blame] = []
    for bottom in bottoms(case.successors):
        if case.is_waited_for(bottom):
            blames += _of_bottom(case, bottom)
    return _arranged(case, blames)


def _case(groups: list[ProcessGroup], dumps: Mapping[int, RankRecord], found: Waits) -> _Case:
    case = _Case(groups, dumps, found)
    case.stuck = _lagging(case)
    case.misdirected = _misdirected(case)
    case.differing = _disagreements(case)
    unknown = {rank for gathering in found.gatherings for rank in gathering.unknown}
    case.ranks = sorted({*dumps, *unknown})
    node = {rank: number for number, rank in enumerate(case.ranks)}
    at = {id(gathering): len(node) + number for number, gathering in enumerate(found.gatherings)}
    freed = case.stuck.keys() | case.misdirected.keys()
    case.successors = [
        [] if rank in freed else sorted({at[id(gathering)] for gathering in found.by_rank.get(rank, ())})
        for rank in case.ranks
    ]
    for gathering in found.gatherings:
        wanted = {*gathering.absent, *gathering.held, *gathering.unknown}
        if id(gathering) in case.differing:
            wanted = {rank for rank in wanted if case.is_idle(rank)}
        case.successors.append(sorted(node[rank] for rank in wanted))
    case.predecessors = reversed_edges(case.successors)
    return case


def _lagging(case: _Case) -> dict[int, Gathering]:
    """Ranks whose device is stuck: peers completed two or more collectives, which they cannot have without it, and the
    rank never saw them complete. A lag in which most of a group stands is none: then the others are odd."""
    found: dict[int, Gathering] = {}
    for group in case.groups:
        top = max((member.done for member in group.members.values()), default=-1)
        lagging = [
            member.rank
            for member in group.members.values()
            if member.record
            and group.completions
            and member.done + _LAG <= top
            and _joined(member.record.pending, top - member.base) >= _LAG
        ]
        if group.proven and 2 * len(lagging) <= len(group.ranks):
            for rank in lagging:
                here = [g for g in case.waits.by_rank.get(rank, ()) if g.group is group and not g.is_transfer]
                if here:
                    found.setdefault(rank, here[0])
    return found


def _joined(pending: Iterable[Operation], last_index: int) -> int:
    return sum(1 for operation in pending if operation.index <= last_index and operation.name not in ROOTED)


def _misdirected(case: _Case) -> dict[int, Gathering]:
    """Ranks that sent to, or receive from, the wrong peer: somebody else waits for just that of them.

    Only where they never had to do with that peer before: else it is the peer that is late.
    """
    wanted: dict[tuple[int, int, bool], list[Gathering]] = defaultdict(list)
    transfers = [gathering for gathering in case.waits.gatherings if gathering.is_transfer]
    for gathering in transfers:
        for rank in gathering.absent:
            wanted[id(gathering.group), rank, _sends(gathering, rank)].append(gathering)
    found: dict[int, Gathering] = {}
    for gathering in transfers:
        for rank in gathering.waiting:
            others = [g for g in wanted[id(gathering.group), rank, _sends(gathering, rank)] if g is not gathering]
            if others and gathering.absent and _is_first_contact(case, gathering, rank):
                found[rank] = gathering
    return found


def _sends(gathering: Gathering, rank: int) -> bool:
    return gathering.ends is not None and gathering.ends[0] == rank


def _is_first_contact(case: _Case, gathering: Gathering, rank: int) -> bool:
    """Whether the two ends never exchanged anything before, as far as a dump that remembers its past can tell."""
    source, target = gathering.ends or (-1, -1)
    peer = target if rank == source else source
    records = [m.record for one in (rank, peer) if (m := gathering.group.members.get(one)) and m.record]
    remembers = case.dumps[rank].whole or any(record.transfers for record in records[:1])
    met = 0
    for record in records:
        global_rank = gathering.group.global_rank
        ends = [{global_rank(p.source), global_rank(p.target)} for p in record.pairs for _ in range(p.count)]
        met += sum(1 for pair in ends if pair == {rank, peer})
    return remembers and met == 1


def _disagreements(case: _Case) -> dict[int, Disagreement]:
    """By gathering: in what the ranks differ that came to it."""
    found: dict[int, Disagreement] = {}
    for gathering in case.waits.gatherings:
        if not gathering.is_transfer:
            differing = first_disagreement(gathering.group, [gathering.ordinal])
            if differing is not None:
                found[id(gathering)] = differing[1]
    return found


def _mismatch(differing: Disagreement, gathering: Gathering | None, group: ProcessGroup) -> Blame:
    what = {"op": "different operations", "size": "different element counts", "dtype": "different data types"}
    return Blame(
        f"{differing.what}-mismatch",
        f"the ranks of {group.title} issued one collective with {what[differing.what]}: {differing.difference}",
        culprits=differing.odd,
        members=() if differing.odd else tuple(sorted(group.members)),
        difference=differing.difference,
        gathering=gathering,
        group=group,
    )


def _of_bottom(case: _Case, bottom: Sequence[int]) -> list[Blame]:
    if len(bottom) > 1:
        return _of_cycle(case, bottom)
    gathering = case.gathering(bottom[0])
    if gathering is not None:
        return [_of_gathering(case, gathering)]
    rank = case.ranks[bottom[0]]
    before = [g for node in case.predecessors[bottom[0]] if (g := case.gathering(node))]
    return [_of_rank(case, rank, before)]


def _of_rank(case: _Case, rank: int, before: list[Gathering]) -> Blame:
    """A rank that others wait for and that waits for nobody; `before`: where they wait for it."""
    here = max(before, key=lambda gathering: (not gathering.is_transfer, case.waits.first_waiting(gathering)))
    at = f"{here.operation.name if here.operation else 'a collective'} of {here.group.title}"
    if rank not in case.dumps:
        return Blame("rank-missing", f"{at} waits for rank {rank}, which left no dump", missing=(rank,), gathering=here)
    if rank in case.stuck:
        own = case.stuck[rank]
        told = f"rank {rank} issued what its peers in {own.group.title} completed, and its device never completed it"
        return Blame("device-stuck", told, culprits=(rank,), gathering=own)
    if rank in case.misdirected:
        told = f"rank {rank} exchanges with a peer that does not expect it, while another one waits for it"
        return Blame("p2p-mismatch", told, culprits=(rank,), gathering=case.misdirected[rank])
    if not here.group.completions and _stand_together(case, rank):
        told = f"rank {rank} never issued {at}; no completion is recorded, and it may wait with its peers in what all issued"
        return Blame("undecided", told, members=(rank,), gathering=here)
    if all(gathering.is_transfer for gathering in before):
        return Blame("p2p-missing", f"rank {rank} never issued its end of {at}", culprits=(rank,), gathering=here)
    told = f"rank {rank} has nothing outstanding and never issued {at}, in which others wait"
    if any(_few_missing(case, gathering) for gathering in before):
        return Blame("rank-missing", told, culprits=(rank,), gathering=here)
    return Blame("rank-missing", f"most ranks never issued {at}", members=(rank,), gathering=here)


def _stand_together(case: _Case, rank: int) -> bool:
    """Whether the last operation that a rank issued is also the last of all who take part in it, or one of them left no
    dump: then the rank may wait in it. Only where no completion is recorded."""
    last = case.dumps[rank].last_issued()
    if last is None:
        return False
    record, operation = last
    group = next(g for g in case.groups if (m := g.members.get(rank)) and m.record is record)
    ends = (group.global_rank(operation.source), group.global_rank(operation.target))
    peers = [peer for peer in (group.ranks if operation.kind == COLLECTIVE else ends) if peer not in {rank, None}]
    return bool(peers) and all(peer not in case.dumps or _stands_at(case.dumps[peer], record, operation) for peer in peers)


def _stands_at(dump: RankRecord, record: GroupRecord, operation: Operation) -> bool:
    last = dump.last_issued()
    return (
        last is not None
        and (last[0].name, last[0].members) == (record.name, record.members)
        and (operation.kind != COLLECTIVE or last[1].sequence == operation.sequence)
    )


def _few_missing(case: _Case, gathering: Gathering) -> bool:
    """Whether those who did not come without waiting elsewhere are no majority: else who came may be the odd ones."""
    idle = sum(1 for rank in gathering.absent if case.is_idle(rank))
    return gathering.is_transfer or 2 * idle <= len(gathering.group.ranks)


def _of_gathering(case: _Case, gathering: Gathering) -> Blame:
    """An operation to which everybody has come."""
    if id(gathering) in case.differing:
        return _mismatch(case.differing[id(gathering)], gathering, gathering.group)
    at = f"{gathering.operation.name if gathering.operation else 'a collective'} of {gathering.group.title}"
    if gathering.is_open_ended:
        told = f"{at} does not complete, and no dump tells who should take part in it"
        return Blame("undecided", told, members=tuple(sorted(gathering.group.members)), gathering=gathering)
    if gathering.is_transfer:
        return Blame("transport-stall", f"both ends of {at} have come and it does not complete", gathering=gathering)
    unstarted = _unstarted(case, gathering)
    if unstarted:
        told = f"all ranks issued {at}, and on rank {ranks_text(unstarted)} it never started: the device is stuck before it"
        return Blame("device-stuck", told, culprits=unstarted, gathering=gathering)
    waiting = gathering.waiting
    members = gathering.group.members
    completed = [rank for rank in members if rank not in set(waiting)] if gathering.group.completions else []
    if completed:
        odd = tuple(waiting) if 2 * len(waiting) < len(members) else ()
        told = f"{at} completed on rank {ranks_text(sorted(completed))} and never on rank {ranks_text(waiting)}"
        return Blame("partial-completion", told, culprits=odd, members=tuple(sorted(members)), gathering=gathering)
    told = f"all ranks have come to {at} with equal arguments, and it completes on none"
    return Blame("transport-stall", told, members=tuple(sorted(members)), gathering=gathering)


def _unstarted(case: _Case, gathering: Gathering) -> tuple[int, ...]:
    """The ranks on which a collective never started while it did on at least as many others; only ranks whose
    recorder learns of starts."""
    states = {front.rank: front.operation.state for front in gathering.fronts if front.operation}
    started = [rank for rank, state in states.items() if state == "started"]
    learns = {rank for rank in states if any(group.starts for group in case.dumps[rank].groups)}
    unstarted = sorted(rank for rank, state in states.items() if state == "scheduled" and rank in learns)
    return tuple(unstarted) if started and 2 * len(unstarted) <= len(states) else ()


def _of_cycle(case: _Case, bottom: Sequence[int]) -> list[Blame]:
    """Ranks that wait for one another in a circle."""
    cycle = [gathering for node in bottom if (gathering := case.gathering(node))]
    ranks = [case.ranks[node] for node in bottom if node < len(case.ranks)]
    differing = [g for g in cycle if id(g) in case.differing]
    if differing:
        return [_mismatch(case.differing[id(g)], g, g.group) for g in differing]
    transfers = [gathering for gathering in cycle if gathering.is_transfer]
    odd = deviants(cycle, ranks, case.dumps)
    told = f"ranks {ranks_text(ranks)} wait for one another in {_titles(cycle)}"
    if len(transfers) == len(cycle):
        return [Blame("p2p-order", told, culprits=odd, members=tuple(ranks), gathering=transfers[0])]
    collective = next(gathering for gathering in cycle if not gathering.is_transfer)
    if not transfers:
        return [Blame("order-mismatch", told, culprits=odd, members=tuple(ranks), gathering=collective)]
    skipped = next((g for g in transfers if set(g.absent) & set(odd or ranks)), None)
    if odd or not all(_has_done_so_before(case, cycle, rank) for rank in ranks):
        verdict = "p2p-missing" if skipped else "order-mismatch"
        return [Blame(verdict, told, culprits=odd, members=tuple(ranks), gathering=skipped or collective)]
    return _without_transfers(case, set(ranks)) or [
        Blame("undecided", told, members=tuple(ranks), gathering=collective)
    ]


def _titles(cycle: Iterable[Gathering]) -> str:
    return ", ".join(
        sorted({f"{g.operation.name if g.operation else 'a collective'} of {g.group.title}" for g in cycle})
    )


def _has_done_so_before(case: _Case, cycle: Sequence[Gathering], rank: int) -> bool:
    """Whether this order of operations has worked on the rank before: shown by its past, or it has long lost its past."""
    precedented = is_precedented(case.dumps[rank], cycle, rank)
    return case.dumps[rank].issued >= _LONG if precedented is None else precedented


def _without_transfers(case: _Case, ranks: set[int]) -> list[Blame]:
    """The faults among these ranks if point-to-point operations are taken to be issued ahead, so that nobody stands in
    them: in an order that has worked before, a transfer that is open does not keep its rank from going on."""
    reduced = _case(case.groups, case.dumps, waits(case.groups, case.dumps, transfers=False))
    blames: list[Blame] = []
    for bottom in bottoms(reduced.successors):
        inside = {reduced.ranks[node] for node in bottom if node < len(reduced.ranks)}
        inside.update(rank for node in bottom if (g := reduced.gathering(node)) for rank in g.waiting)
        if len(bottom) == 1 and inside & ranks and reduced.is_waited_for(bottom):
            blames += _of_bottom(reduced, bottom)
    return blames


def _arranged(case: _Case, blames: list[Blame]) -> list[Blame]:
    """One blame for each class and place, with all who wait because of it; what convicts nobody gives way."""
    convicting = [one for one in blames if one.culprits]
    missing = tuple(sorted({rank for one in blames for rank in one.missing}))
    if convicting:
        keep = {"order-mismatch", "op-mismatch", "size-mismatch", "dtype-mismatch", "p2p-order"}
        blames = [one for one in blames if one.culprits or one.verdict in keep]
    merged: dict[tuple[str, int, bool], Blame] = {}
    for one in blames:
        place = one.gathering.group if one.verdict == "undecided" and one.gathering else one.gathering
        key = (one.verdict, id(place), bool(one.culprits))
        held = merged.get(key)
        merged[key] = one if held is None else _joint(held, one)
    found = [replace(one, missing=missing) for one in merged.values()]
    traced = len(found) <= _TRACED
    found = [one if one.waiting else replace(one, waiting=_waiting(case, one, traced=traced)) for one in found]
    return sorted(found, key=lambda one: (not one.culprits, one.culprits, one.verdict, one.waiting, one.description))


def _joint(one: Blame, other: Blame) -> Blame:
    return replace(
        one,
        culprits=tuple(sorted({*one.culprits, *other.culprits})),
        members=tuple(sorted({*one.members, *other.members})),
        description=one.description
        if one.description == other.description
        else f"{one.description}; {other.description}",
    )


def _waiting(case: _Case, one: Blame, *, traced: bool) -> tuple[int, ...]:
    """The ranks that wait because of a fault, without those at fault."""
    blamed = set(one.culprits)
    direct = set(one.gathering.waiting) if one.gathering else set()
    if traced:
        nodes = {case.ranks.index(rank) for rank in one.culprits or one.missing if rank in case.ranks}
        if one.gathering in case.waits.gatherings:
            nodes.add(len(case.ranks) + case.waits.gatherings.index(one.gathering))
        direct |= {case.ranks[node] for node in upstream(case.predecessors, nodes) if node < len(case.ranks)}
    return tuple(sorted((direct & set(case.waits.by_rank)) - blamed))
