"""The one rank that left no dump and that ended of itself, as its launcher or its own log says, while all others still run,
or say that a peer closed its connection: whom those wait for that left one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.worker_ends import is_told_to_end

#: Verdicts that leave it open for whom ranks wait that left a dump.
_OPEN = frozenset({"rank-missing", "undecided"})
#: So many ranks must have lost a peer.
_FEWEST = 2


def ended_without_dump(collectives: Iterable[Fact], facts: Sequence[Fact], topology: Topology) -> Iterator[Fact]:
    """The `collective` facts; those that wait, if for anybody, for one rank that left no dump convict it where launchers
    saw it end, of itself and no other rank, or it alone says that it was through, or it alone is not heard of where all others
    lost a peer. That its dump lacks proves nothing: it may have been lost."""
    ends = [fact for fact in facts if fact.kind == "launcher-failure" and ranks_of(fact.place)]
    died = {rank for end in ends if not is_told_to_end(end) for rank in ranks_of(end.place)}
    through = {fact.place.rank for fact in facts if fact.kind == "completion" and fact.place.rank is not None}
    own, bereft = died or through, _all_bereft(facts)
    for fact in collectives:
        missing = fact.data.get("missing_dumps")
        culprits = fact.data.get("culprits")
        is_open = fact.data.get("verdict") in _OPEN and (not culprits or (culprits == missing and bool(died)))
        ranks = {one for one in missing if isinstance(one, int)} if isinstance(missing, tuple) else set()
        left = tuple(ranks) if is_open and len(ranks) == 1 else ()
        if left and {*left} == own:
            seen = f"its launcher saw rank {left[0]} end, and no other one of itself"
            told = seen if died else f"rank {left[0]} says that it was through, and no other one does"
            verdict = "rank-died" if died else "rank-missing"
        elif left and bereft and not any(left[0] in ranks_of(one.place) for one in facts):
            told = f"all others say that a peer closed its connection, and rank {left[0]} alone is not heard of"
            verdict = "rank-ended"
        else:
            yield fact
            continue
        data = {**fact.data, "verdict": verdict, "culprits": left, "description": f"{fact.data['description']}; {told}"}
        place = replace(fact.place, rank=left[0], ranks=left, host=topology.host_of_rank.get(left[0]))
        yield replace(fact, data=data, place=place, instant=None)  # the instant is of a peer's clock


def _all_bereft(facts: Iterable[Fact]) -> bool:
    """Whether all ranks that left a dump say that a peer closed its connection, and none that it was through, or that anything
    else went wrong: who was the first to close his is none of them, for each of them had lost a peer before."""
    dumped, bereft, wrong = set[int](), set[int](), set[int]()
    for fact in facts:
        ranks = ranks_of(fact.place)
        if fact.kind == "fr-rank":
            dumped.update(ranks)
        elif fact.kind == "hang-report" and fact.data.get("closed") is True:
            bereft.update(ranks)
        elif fact.kind == "completion" or (fact.data.get("exception") and not fact.data.get("lost")):
            wrong.update(ranks)
    return len(dumped) >= _FEWEST and dumped <= bereft and not wrong & dumped
