"""The host that went away first, where the others say whose connections they lost and it says nothing itself.

When a process dies its peers end too, and lose connections to each other. So of the hosts that are named, those whose own
processes lost a peer prove nothing: one must be left, whose logs are here and tell of no loss.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Source
from neuron_doctor.engine.match import canonical
from neuron_doctor.engine.regexes import regex
from neuron_doctor.engine.topology import Topology, completed_place

#: Who gives up waiting ends as well, and is lost by its peers: then nothing follows from whom they name.
_WAITED = frozenset({"collectives", "barrier", "watchdog", "compute", "bootstrap", "store"})
#: So many processes must name the host.
_FEWEST = 2
_ADDRESS = regex(r"\d{1,3}(?:\.\d{1,3}){3}", re.ASCII)


def lost_hosts(facts: Sequence[Fact], sources: Iterable[Source], topology: Topology) -> list[Fact]:
    """The `lost-host` fact, if there is one."""
    reports = [fact for fact in facts if fact.kind == "hang-report"]
    lost = sorted((fact for fact in reports if fact.data["what"] == "lost"), key=canonical)
    waited = any(fact.data["what"] in _WAITED for fact in reports)
    if waited or len({fact.place.attempt for fact in lost}) != 1:
        return []
    named: dict[str, dict[tuple[str | None, int | None, int | None], Fact]] = defaultdict(dict)
    for fact in lost:
        host = host_named(fact.data.get("peer"), topology)
        if host and fact.place.host and host != fact.place.host:
            named[host].setdefault((fact.place.host, fact.place.rank, fact.place.pid), fact)
    silent = sorted(named.keys() - {fact.place.host for fact in lost})
    if len(silent) != 1 or not _is_heard(silent[0], sources, topology) or len(named[silent[0]]) < _FEWEST:
        return []
    first = next(iter(named[silent[0]].values()))
    place = Place(job=first.place.job, attempt=first.place.attempt, host=silent[0],
                  instance_id=topology.instance_of.get(silent[0]))  # fmt: skip
    return [replace(first, kind="lost-host", data={"peers": len(named[silent[0]])}, place=place, repeats=0)]


def _is_heard(host: str, sources: Iterable[Source], topology: Topology) -> bool:
    """Whether its processes would tell of a loss here: where each rank has a log of its own, none of them may lack."""
    logs = [source for source in sources if source.kind == "log" and source.records]
    own = [source.place.rank for source in logs if completed_place(source.place, topology).host == host]
    if not own or topology.world_size is None or not any(rank is not None for rank in own):
        return bool(own)
    return len({rank for rank in own if rank is not None}) * len(topology.hosts) >= topology.world_size


def host_named(peer: object, topology: Topology, *, alone: bool = False) -> str | None:
    """The host that `10.0.3.7<43847>`, `ip-10-0-3-7<40712>` or `10.0.3.7` names; EC2 calls hosts by their addresses. One of which
    nothing else is known is called as it stands, unless those that are known count `alone`."""
    if not isinstance(peer, str):
        return None
    name = peer.partition("<")[0].strip("[]")
    told = (name, "ip-" + name.replace(".", "-")) if _ADDRESS.fullmatch(name) else (name,)
    known = (topology.host_of.get(one, one) for one in told if one in topology.host_of or one in topology.hosts)
    return next(known, None if alone else name)
