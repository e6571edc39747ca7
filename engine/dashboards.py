"""Whose machines the exports of a dashboard are about: those of the job, or of the whole fleet.

A host of which nothing but metrics is here may be one of the job whose logs are lost, or one on which somebody else's job ran. It
is taken for the job's where ranks are missing, and no more such hosts are shown than have these ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

from neuron_doctor.engine.facts import Fact, Place, Source
from neuron_doctor.engine.topology import Topology

_METRICS = "metrics"


def of_the_job(facts: Sequence[Fact], sources: Sequence[Source], topology: Topology) -> tuple[Fact, ...]:
    """The facts without those of metrics of hosts that may be none of the job; all where nothing else tells of a host."""
    exports = {source.id for source in sources if source.kind == _METRICS}
    told = [fact.place for fact in facts if fact.source not in exports]
    told += [source.place for source in sources if source.id not in exports]
    known = {name for place in told for name in (_name(place, topology), place.instance_id) if name is not None}
    shown = {(_name(fact.place, topology), fact.place.instance_id) for fact in facts if fact.source in exports}
    strangers = {names for names in shown if known.isdisjoint(names)}
    if not known or len(strangers) <= _missing_hosts({place.rank for place in told}, topology):
        return tuple(facts)
    return tuple(
        fact
        for fact in facts
        if fact.source not in exports or (_name(fact.place, topology), fact.place.instance_id) not in strangers
    )


def _name(place: Place, topology: Topology) -> str | None:
    return topology.host_of.get(place.host, place.host) if place.host is not None else None


def _missing_hosts(seen: set[int | None], topology: Topology) -> int:
    """How many hosts have the ranks of the job of which nothing is here: as many ranks each as those that are known."""
    ranks = {rank for rank in seen if rank is not None}
    homes = {topology.host_of_rank[rank] for rank in ranks if rank in topology.host_of_rank}
    missing = max(topology.world_size or 0, max(ranks, default=-1) + 1) - len(ranks)
    each = max(1, len(ranks) // len(homes)) if homes else 1
    return -(-missing // each)
