"""The wait-for graph of a hang, and what is known beforehand of the ranks and collectives in it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field

from neuron_doctor.engine.argument_vote import Disagreement, first_disagreement
from neuron_doctor.engine.gatherings import Gathering, Waits
from neuron_doctor.engine.open_rounds import Alike, of_one_program
from neuron_doctor.engine.order_vote import out_of_step
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import ROOTED, Operation, RankRecord
from neuron_doctor.engine.round_books import Gap, Omission, gaps_of_rounds, omissions
from neuron_doctor.engine.sent_astray import sent_to_strangers
from neuron_doctor.engine.tie_vote import differing_ends, settled
from neuron_doctor.engine.transfer_books import Misdirected, may_be_misdirected, misdirected_ranks
from neuron_doctor.engine.waitfor import bottoms, reversed_edges

#: A rank whose device still works on what peers have completed lags by at least this many collectives.
_LAG = 2
#: At most one in so many ranks may be the odd ones.
_FEW = 4


class Hang(Struct, dict=True):
    """The graph of one set of dumps: nodes are ranks (with a dump, or without), then gatherings, then `stages`.

    A rank waits in all operations that are open on it, as its program may wait for any of them before it issues more. What
    it has issued already waits for those that it issued earlier, and for no others: a stage is a rank up to such a place.
    `stuck` and `misdirected` ranks wait for nobody: the first cannot, the second for the wrong one. `differing`: by the
    identity of a gathering, in what the ranks differ that came to it; such a gathering waits only for who is idle.
    """

    groups: list[ProcessGroup]
    dumps: Mapping[int, RankRecord]
    waits: Waits
    ranks: list[int] = field(default_factory=list)
    node: dict[int, int] = field(default_factory=dict)
    stages: list[int] = field(default_factory=list)
    successors: list[list[int]] = field(default_factory=list)
    predecessors: list[list[int]] = field(default_factory=list)
    stuck: dict[int, Gathering] = field(default_factory=dict)
    misdirected: dict[int, Gathering] = field(default_factory=dict)
    differing: dict[int, Disagreement] = field(default_factory=dict)

    def gathering(self, node: int) -> Gathering | None:
        """The gathering that a node is, None for a rank."""
        inside = len(self.ranks) <= node < len(self.ranks) + len(self.waits.gatherings)
        return self.waits.gatherings[node - len(self.ranks)] if inside else None

    def ranks_at(self, nodes: Iterable[int]) -> list[int]:
        """The ranks that are among these nodes, or stages of which are."""
        beyond = len(self.ranks) + len(self.waits.gatherings)
        found = {
            self.ranks[n] if n < len(self.ranks) else self.stages[n - beyond]
            for n in nodes
            if self.gathering(n) is None
        }
        return sorted(found)

    def is_idle(self, rank: int) -> bool:
        """Whether a rank with a dump waits in nothing."""
        return rank in self.dumps and rank not in self.waits.by_rank

    def waiting_for(self, rank: int) -> set[int]:
        """The ranks that wait for one, at once or in the end."""
        ahead, found = [self.node[rank]], set[int]()
        while ahead:
            before = [node for node in self.predecessors[ahead.pop()] if node not in found]
            found.update(before)
            ahead += before
        return set(self.ranks_at(found))

    def core(self, circle: Sequence[int]) -> Sequence[int]:
        """The one smaller circle that remains where each rank waits in the first only of its open operations that are in
        this one: what it issued later waits too, but need not hold anybody. The same circle where no one remains."""
        nodes = sorted(circle)
        number = {node: at for at, node in enumerate(nodes)}
        inner = [[number[after] for after in self.successors[node] if after in number] for node in nodes]
        beyond = len(self.ranks) + len(self.waits.gatherings)
        for at, node in enumerate(nodes):
            earlier = [after for after in inner[at] if nodes[after] >= beyond]
            if self.gathering(node) is None and earlier:
                inner[at] = earlier
        found = [bottom for bottom in bottoms(inner) if len(bottom) > 1]
        return [nodes[at] for at in found[0]] if len(found) == 1 else circle

    def known_circles(self) -> list[list[int]]:
        """The ends of chains of waits that are circles, whatever those ranks do that left no dump."""
        unknown = {node for rank, node in self.node.items() if rank not in self.dumps}
        known = [[node for node in after if node not in unknown] for after in self.successors]
        return [bottom for bottom in bottoms(known) if len(bottom) > 1] if unknown else []

    @cached_property
    def strays(self) -> tuple[int, ...]:
        """The few ranks that have issued another number of operations than their peers up to the same collective; ()
        where they are none, or many."""
        found = out_of_step(self.groups)
        return tuple(sorted(found)) if _FEW * len(found) <= len(self.dumps) else ()

    @cached_property
    def unbalanced(self) -> list[Misdirected]:
        """The ranks that sent to, or receive from, the wrong peer by the books of their groups, whether they wait or not."""
        return misdirected_ranks(self.groups, self.gaps)

    @cached_property
    def gaps(self) -> list[Gap]:
        """What does not balance in rounds of transfers that all ends have issued."""
        return gaps_of_rounds(self.groups)

    @cached_property
    def omissions(self) -> list[Omission]:
        """The ranks that left out transfers by the books of one round, whether they wait or not."""
        return omissions(self.gaps, self.dumps)

    @cached_property
    def may_be_misdirected(self) -> set[int]:
        """The ranks that did with one peer what another has an end of, if one rank did both."""
        return may_be_misdirected(self.groups, self.gaps)

    @cached_property
    def sent_to_strangers(self) -> dict[int, set[int]]:
        """By rank, the ranks to which it sent something of which they know nothing."""
        return sent_to_strangers(self.groups)

    @cached_property
    def of_one_program(self) -> Alike:
        """By rank, the dumps of those that issued the same sorts of transfers."""
        return of_one_program(self.dumps)

    def is_waited_for(self, bottom: Sequence[int]) -> bool:
        """Whether anybody waits for the end of a chain of waits; where a stuck device stands is no such end."""
        return len(bottom) > 1 or bool(self.predecessors[bottom[0]])


def hang_of(groups: list[ProcessGroup], dumps: Mapping[int, RankRecord], found: Waits) -> Hang:
    """The graph of these waits."""
    hang = Hang(groups, dumps, found)
    hang.stuck = _lagging(hang)
    hang.misdirected = _misdirected(hang)
    hang.differing = _disagreements(hang)
    unknown = {rank for gathering in found.gatherings for rank in gathering.unknown}
    hang.ranks = sorted({*dumps, *unknown})
    hang.node = {rank: number for number, rank in enumerate(hang.ranks)}
    freed = hang.stuck.keys() | hang.misdirected.keys()
    hang.successors = [[] for _ in range(len(hang.ranks) + len(found.gatherings))]
    passed = _add_stages(hang, freed)
    for number, gathering in enumerate(found.gatherings, len(hang.ranks)):
        wanted = {hang.node[rank] for rank in (*gathering.absent, *gathering.unknown)}
        wanted |= {_before(passed.get(rank, ()), place, hang.node[rank]) for rank, place in gathering.held.items()}
        if freed.issuperset(gathering.waiting):
            wanted = set()
        elif id(gathering) in hang.differing:
            wanted = {hang.node[r] for r in (*gathering.absent, *gathering.held, *gathering.unknown) if hang.is_idle(r)}
        hang.successors[number] = sorted(wanted)
    hang.predecessors = reversed_edges(hang.successors)
    return hang


def _add_stages(hang: Hang, freed: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """Let all ranks but `freed` ones wait in what is open on them. Returns for each the places of these operations, in
    order, each with the node of all that is open up to there; the last one is the rank itself."""
    places: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, gathering in enumerate(hang.waits.gatherings, len(hang.ranks)):
        for front in gathering.fronts:
            if front.rank not in freed:
                places[front.rank][front.record].append(number)
    found: dict[int, list[tuple[int, int]]] = {}
    for rank, open_at in places.items():
        stages: list[tuple[int, int]] = []
        for place in sorted(open_at):
            earlier = [stages[-1][1]] if stages else []
            node = hang.node[rank]
            if len(stages) + 1 < len(open_at):
                node = len(hang.successors)
                hang.successors.append([])
                hang.stages.append(rank)
            hang.successors[node] = sorted({*open_at[place], *earlier})
            stages.append((place, node))
        found[rank] = stages
    return found


def _before(stages: Sequence[tuple[int, int]], place: int, otherwise: int) -> int:
    """The node of what is open before a place."""
    index = bisect_left(stages, place, key=lambda stage: stage[0])
    return stages[index - 1][1] if index else otherwise


def _lagging(hang: Hang) -> dict[int, Gathering]:
    """Ranks whose device is stuck: peers completed two or more collectives, which they cannot have without it, and the
    rank never saw them complete. A lag in which most of a group stands is none: then the others are odd."""
    found: dict[int, Gathering] = {}
    for group in hang.groups:
        top = max((member.done for member in group.members.values()), default=-1)
        lagging = [
            member.rank
            for member in group.members.values()
            if member.record
            and group.completions
            and member.done + _LAG <= top
            and _joined(member.record.pending, top - member.base) >= _LAG
        ]
        if group.proven and 2 * len(lagging) <= len(group.ranks) and not group.went_on():
            for rank in lagging:
                here = [g for g in hang.waits.by_rank.get(rank, ()) if g.group is group and not g.is_transfer]
                if here:
                    found.setdefault(rank, here[0])
    return found


def _joined(pending: Iterable[Operation], last_index: int) -> int:
    return sum(1 for operation in pending if operation.number <= last_index and operation.name not in ROOTED)


def _misdirected(hang: Hang) -> dict[int, Gathering]:
    """Ranks that sent to, or receive from, the wrong peer: somebody else waits for just that of them.

    Only where they never had to do with that peer before, and do have to do with who waits, or the books of all say so:
    else it is the peer that is late.
    """
    wanted: dict[tuple[int, int, bool], list[Gathering]] = defaultdict(list)
    transfers = [gathering for gathering in hang.waits.gatherings if gathering.is_transfer]
    for gathering in transfers:
        for rank in (*gathering.absent, *gathering.held):
            wanted[id(gathering.group), rank, _sends(gathering, rank)].append(gathering)
    found: dict[int, Gathering] = {}
    for gathering in transfers:
        for rank in gathering.waiting:
            others = [g for g in wanted[id(gathering.group), rank, _sends(gathering, rank)] if g is not gathering]
            known = any(_deals_with(one.group, rank, one.waiting) for one in others)
            if known and gathering.absent and is_first_contact(hang, gathering, rank):
                found[rank] = gathering
    for one in hang.unbalanced:
        ends = [{one.rank, one.peer}, {one.rank, one.usual}]
        here = [gathering for gathering in transfers if set(gathering.ends or ()) in ends]
        if here:
            found[one.rank] = min(here, key=lambda gathering: one.rank not in gathering.waiting)
    return found


def _deals_with(group: ProcessGroup, rank: int, peers: Collection[int]) -> bool:
    """Whether a rank issued any transfer with one of these, by its own dump."""
    record = group.members[rank].record
    ends = {group.global_rank(end) for pair in record.pairs for end in (pair.source, pair.target)} if record else set()
    return not ends.isdisjoint(peers)


def _sends(gathering: Gathering, rank: int) -> bool:
    """Whether a rank is, or would be, the source of a transfer: to one who receives from anybody, all others are."""
    if gathering.ends is None:
        return False
    source, target = gathering.ends
    return source == rank or (source < 0 and target != rank)


def is_first_contact(hang: Hang, gathering: Gathering, rank: int) -> bool:
    """Whether the two ends never exchanged anything before, as far as a dump that remembers its past can tell."""
    source, target = gathering.ends or (-1, -1)
    peer = target if rank == source else source
    records = [m.record for one in (rank, peer) if (m := gathering.group.members.get(one)) and m.record]
    remembers = hang.dumps[rank].whole or any(record.transfers for record in records[:1])
    met = 0
    for record in records:
        global_rank = gathering.group.global_rank
        ends = [{global_rank(p.source), global_rank(p.target)} for p in record.pairs for _ in range(p.times)]
        met += sum(1 for pair in ends if pair == {rank, peer})
    return remembers and met == 1


def _disagreements(hang: Hang) -> dict[int, Disagreement]:
    """By gathering: in what the ranks differ that came to it."""
    found: dict[int, Disagreement] = {}
    for gathering in hang.waits.gatherings:
        differing = differing_ends(gathering, hang.dumps) if gathering.is_transfer else _of_collective(hang, gathering)
        if differing is not None:
            found[id(gathering)] = differing
    return found


def _of_collective(hang: Hang, gathering: Gathering) -> Disagreement | None:
    found = first_disagreement(gathering.group, [gathering.ordinal])
    if found is None or found[1].odd:
        return found[1] if found else None
    return settled(found[1], gathering.group, gathering.ordinal, hang.groups)
