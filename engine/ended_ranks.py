"""The one rank that left no dump and that ended of itself, as its launcher or its own log says, while all others still run:
whom those wait for that left one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.worker_ends import is_told_to_end

#: Verdicts that leave it open for whom ranks wait that left a dump.
_OPEN = frozenset({"rank-missing", "undecided"})


def ended_without_dump(collectives: Iterable[Fact], facts: Sequence[Fact], topology: Topology) -> Iterator[Fact]:
    """The `collective` facts; those that wait, if for anybody, for one rank that left no dump convict it where launchers
    saw it end, of itself and no other rank, or it alone says that it was through. That its dump lacks proves nothing: it may
    have been lost."""
    ends = [fact for fact in facts if fact.kind == "launcher-failure" and ranks_of(fact.place)]
    died = {rank for end in ends if not is_told_to_end(end) for rank in ranks_of(end.place)}
    through = {fact.place.rank for fact in facts if fact.kind == "completion" and fact.place.rank is not None}
    own = died or through
    for fact in collectives:
        missing = fact.data.get("missing_dumps")
        is_open = fact.data.get("verdict") in _OPEN and not fact.data.get("culprits")
        if is_open and len(own) == 1 and isinstance(missing, tuple) and set(missing) == own:
            [rank] = own
            seen = f"its launcher saw rank {rank} end" if died else f"rank {rank} says that it was through"
            told = f"{fact.data['description']}; {seen}, and no other one of itself"
            verdict = "rank-died" if died else "rank-missing"
            data = {**fact.data, "verdict": verdict, "culprits": (rank,), "description": told}
            place = replace(fact.place, rank=rank, ranks=(rank,), host=topology.host_of_rank.get(rank))
            yield replace(fact, data=data, place=place, instant=None)  # the instant is of a peer's clock
        else:
            yield fact
