"""How many ranks the job has: by what its environment says, else by the members that its flight recorders list."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.recorder import rank_record, ranks_of
from neuron_doctor.engine.topology import Topology


def world_of(facts: Iterable[Fact], topology: Topology) -> int | None:
    """The size of the world; None where nothing tells. A list of members tells of the whole job only if it has every rank
    that left a dump."""
    if topology.world_size is not None:
        return topology.world_size
    dumps = [
        rank_record(fact, fact.place.rank) for fact in facts if fact.kind == "fr-rank" and fact.place.rank is not None
    ]
    dumped = {dump.rank for dump in dumps}
    lists = {text for dump in dumps for text in (dump.peers, *(group.members for group in dump.groups))}
    whole = [ranks for text in lists if dumped.issubset(ranks := ranks_of(text))]
    return max((max(ranks) + 1 for ranks in whole if ranks), default=None)
