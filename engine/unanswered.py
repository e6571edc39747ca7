"""The one host that no other reaches over EFA, and that reaches none: packets of it alone are dropped.

Each process says from where it got no answer, if the provider knows, by the names of both ends. Such pairs of hosts are a star
around the one whose network differs, a machine that was added to another security group say. Where packets of all are dropped
there may be a star as well, since each process fails at the first peer that it asks, and all may ask the same one first. So three
others at least must have asked the host, and it two of them; and who has rank 0 is asked by all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.lost_hosts import host_named
from neuron_doctor.engine.match import canonical
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.topology import Topology

KIND = "unanswered"
#: So many others ask in vain, and of so many the host itself got no answer.
_OTHERS, _ASKED = 3, 2


def unanswered_hosts(facts: Iterable[Fact], topology: Topology) -> list[Fact]:
    """The `unanswered-host` fact, if there is one."""
    told = sorted((fact for fact in facts if fact.kind == KIND), key=canonical)
    ends = unique((str(f.data["own"]), f.place.host) for f in told if f.data.get("own") and f.place.host)
    pairs = [(fact.place.host, _peer(fact, ends, topology)) for fact in told]
    known = [(one, other) for one, other in pairs if one and other and one != other]
    if len(known) != len(pairs) or len({fact.place.attempt for fact in told}) != 1:
        return []
    host = _centre(known)
    others = {one for one, _ in known} - {host}
    asked = {other for one, other in known if one == host}
    if host is None or len(others) < _OTHERS or len(asked) < _ASKED or topology.host_of_rank.get(0) == host:
        return []
    place = Place(
        job=told[0].place.job, attempt=told[0].place.attempt, host=host, instance_id=topology.instance_of.get(host)
    )
    about = [fact for fact, (_, other) in zip(told, pairs, strict=True) if other == host]
    return [replace(about[0], kind="unanswered-host", data={"others": len(others)}, place=place, repeats=0)]


def _peer(fact: Fact, ends: Mapping[str, str], topology: Topology) -> str | None:
    """The host that the record calls the peer: by its id, by its address on EFA, if a process of one host alone says that it is
    its own, or by a name or an address of it."""
    peer = str(fact.data.get("peer") or "")
    return (
        host_named(fact.data.get("peer_id"), topology, alone=True)
        or ends.get(peer)
        or host_named(peer, topology, alone=True)
    )


def _centre(pairs: Sequence[tuple[str, str]]) -> str | None:
    """The host that all of these pairs have in common, if there is one."""
    shared = set[str](pairs[0]) if pairs else set[str]()
    for pair in pairs:
        shared &= set(pair)
    return shared.pop() if len(shared) == 1 else None
