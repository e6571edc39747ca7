"""Whose machines the exports of a dashboard are about: those of the job, or of the whole fleet.

A host of which nothing but metrics is here may be one of the job whose logs are lost, or one on which somebody else's job ran. It
is taken for the job's where its scheduler lists it among the job's nodes; and where ranks are missing, and no more such hosts are
shown than have these ranks. Where neither ranks nor nodes are known, nothing tells strangers apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from neuron_doctor.engine.facts import Fact, Place, Source
from neuron_doctor.engine.nodelists import nodes_of
from neuron_doctor.engine.topology import Topology

_METRICS = "metrics"


def of_the_job(facts: Sequence[Fact], sources: Sequence[Source], topology: Topology) -> tuple[Fact, ...]:
    """The facts without those of metrics of hosts that may be none of the job; all where nothing else tells of a host."""
    exports = {source.id for source in sources if source.kind == _METRICS}
    others, nodes = _others_and_nodes(facts, exports)
    told = [fact.place for fact in facts if fact.source not in exports and fact.place.job not in others]
    told += [source.place for source in sources if source.id not in exports]
    known = {name for place in told for name in (_name(place, topology), place.instance_id) if name is not None}
    shown = {(_name(fact.place, topology), fact.place.instance_id) for fact in facts if fact.source in exports}
    nodes = {topology.host_of.get(node, node) for node in nodes}
    listed = any(name in nodes for name, _ in shown)  # else the two may call hosts by other names
    strangers = {names for names in shown if (known | nodes).isdisjoint(names)}
    ranks = {place.rank for place in told if place.rank is not None}
    if not known or not (ranks or listed) or len(strangers) <= _missing_hosts(ranks, topology):
        return tuple(facts)
    return tuple(
        fact
        for fact in facts
        if fact.source not in exports or (_name(fact.place, topology), fact.place.instance_id) not in strangers
    )


def _name(place: Place, topology: Topology) -> str | None:
    return topology.host_of.get(place.host, place.host) if place.host is not None else None


def _others_and_nodes(facts: Sequence[Fact], exports: set[str]) -> tuple[set[str], set[str]]:
    """The jobs that only the accounting shows, and the nodes that Slurm gave to the one which anything else tells of too, or
    which is the only one. The log of a controller, which starts and ends jobs, lists nodes of any."""
    rows = [fact for fact in facts if fact.kind == "slurm-job"]
    accounting = exports | {row.source for row in rows}
    jobs = {row.place.job for row in rows if row.place.job is not None}
    own = jobs & {fact.place.job for fact in facts if fact.source not in accounting}
    own = own or (jobs if len(jobs) == 1 else set())
    controllers = {fact.source for fact in facts if fact.kind == "job-event"}
    said = [fact for fact in facts if fact.kind == "listed-nodes" and fact.source not in controllers]
    given = [*said, *(row for row in rows if row.place.job in own)]
    return jobs - own, {node for fact in given for node in nodes_of(str(fact.data.get("nodes") or ""))}


def _missing_hosts(ranks: set[int], topology: Topology) -> int:
    """How many hosts have the ranks of the job of which nothing is here: as many ranks each as those that are known."""
    homes = {topology.host_of_rank[rank] for rank in ranks if rank in topology.host_of_rank}
    missing = max(topology.world_size or 0, max(ranks, default=-1) + 1) - len(ranks)
    each = max(1, len(ranks) // len(homes)) if homes else 1
    return -(-missing // each)
