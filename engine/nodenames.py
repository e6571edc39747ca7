"""Processes at the host that their own account of the machine names (the runtime's infodump: `Nodename: ip-10-0-3-7`). In a
container that is the name of the pod: they are on the node on which Kubernetes shows it. A name that EC2 gives is the host's.

So are the ranks of one log of which this log says where they run:

- in words of their own (`srun -l hostname`, `[1,39]<stdout>:rank 39 on kestrel03`), if something else knows a host of that
  name,
- by where its ranks meet, which is the host of rank 0 (NEURON_RT_ROOT_COMM_ID), if something else knows a host of that name,
- by the map of its launcher (`mpirun --display-map`), what it says of how it binds ranks, or the hosts that it was told to fill
  (`mpirun -H lark1:32,lark2:32`, `mpirun -np 2 -H lark1,lark2`), and
- where a launcher reports how they ended (`srun: error: trn-b02: tasks 8-15: Exited with exit code 1`).

And so is all of a log that is called after the number of a node (AWS Batch: `train/default/node2`, SageMaker: `algo-2`), if all
accounts in it name one machine, and no other log of its row names that.

The logs of two jobs number their ranks alike, so what one of them says holds for its own records alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, ranks_of
from neuron_doctor.engine.host_slots import filled_hosts, hosts_in_turn
from neuron_doctor.engine.hostnames import EC2_NAME
from neuron_doctor.engine.nodelists import nodes_of
from neuron_doctor.engine.pods import nodes_of_pods
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

#: A source, and the process or rank that speaks in it (none: whoever does).
_Speaker = tuple[str, str, int | None]
_WHOEVER = "", None
#: What a log of one node is called after, at the end of its name.
_OF_NODE = regex(r"(?:^|[-_./!])(?:node|host|worker|machine|algo|instance)[-_]?\d{1,5}(?=\.[a-z]|!|$)", re.IGNORECASE)
#: Of these there is need to know which names are those of hosts.
_NAMING = frozenset({"meeting", "identity"})
_DIGITS = regex(r"\d+")
#: No container is called so but one that shares the network of its host, and its name.
_OF_EC2 = regex(EC2_NAME + r"(?:\.[\w.-]{1,200})?")


def at_their_nodenames(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts; those of processes of which nothing else says a host at the one that all their accounts name. Processes are
    told apart by source and number: in another file the same number may be another host's."""
    known = _known(facts) if any(fact.kind in _NAMING for fact in facts) else frozenset[str]()
    by_process, by_rank = list(_named(facts)), list(_named_by_rank(facts, known))
    whole = _of_whole_logs([*by_process, *by_rank], {fact.source: fact.span.path for fact in facts})
    ranks, node_of = unique([*by_rank, *_roots(facts, known)]), nodes_of_pods(facts)
    named = {**whole, **unique(by_process), **ranks}
    if not named and not node_of:
        return facts
    return [_renamed(_placed(fact, _named_for(fact, named), node_of), node_of) for fact in facts]


def _named_for(fact: Fact, named: Mapping[_Speaker, str]) -> str | None:
    place = fact.place
    own = named.get((fact.source, "pid", place.pid)) or named.get((fact.source, "rank", place.rank))
    return own or named.get((fact.source, *_WHOEVER))


def _named_by_rank(facts: Sequence[Fact], known: Collection[str]) -> Iterable[tuple[_Speaker, str]]:
    yield from _mapped(sorted((f for f in facts if f.kind == "mapping"), key=lambda f: (f.source, f.span.offset)))
    for fact in facts:
        if fact.kind == "host-slots":
            yield from (((fact.source, "rank", rank), host) for rank, host in filled_hosts(fact))
        elif fact.kind == "hosts-in-turn":
            yield from (((fact.source, "rank", rank), host) for rank, host in hosts_in_turn(fact))
        elif fact.kind == "launcher-failure" and fact.place.host:
            yield from (((fact.source, "rank", rank), fact.place.host) for rank in ranks_of(fact.place))
        elif fact.kind == "identity" and fact.place.rank is not None:
            name = fact.data.get("word") or fact.data.get("hostname")
            host = fact.place.host if name is None else name if name in known else None
            if host is not None:
                yield (fact.source, "rank", fact.place.rank), str(host)


def _roots(facts: Iterable[Fact], known: Collection[str]) -> Iterable[tuple[_Speaker, str]]:
    """The hosts at which rank 0 listens for the others. (Any node's log tells where that is.)"""
    for fact in facts:
        if fact.kind == "meeting" and (root := str(fact.data["address"]).rpartition(":")[0]) in known:
            yield (fact.source, "rank", 0), root


def _mapped(lines: Iterable[Fact]) -> Iterable[tuple[_Speaker, str]]:
    """The ranks below the node that a map names last, in the order in which their log has them."""
    node: Fact | None = None
    for line in lines:
        if line.place.rank is None:
            node = line
        elif node is not None and node.source == line.source and node.place.host:
            yield (line.source, "rank", line.place.rank), node.place.host


def _known(facts: Iterable[Fact]) -> frozenset[str]:
    """The names of hosts that something states which is no rank's word for its host."""
    listed = (f.data.get("nodes") for f in facts if f.kind in ("slurm-job", "listed-nodes", "named-hosts"))
    return frozenset(
        {fact.place.host for fact in facts if fact.place.host}
        | {node for nodes in listed if isinstance(nodes, str) for node in nodes_of(nodes)}
    )


def _named(facts: Iterable[Fact]) -> Iterable[tuple[_Speaker, str]]:
    for fact in facts:
        name = fact.data.get("hostname") or fact.place.host
        if fact.kind == "identity" and fact.place.pid is not None and isinstance(name, str) and name:
            yield (fact.source, "pid", fact.place.pid), name


def _of_whole_logs(named: Iterable[tuple[_Speaker, str]], path_of: Mapping[str, str]) -> dict[_Speaker, str]:
    """The logs that are called after a node, with the one machine that each names; of a row of such logs, each another one."""
    hosts: dict[str, set[str]] = defaultdict(set)
    for (source, _, _), host in named:
        if _OF_NODE.search(path_of[source]):
            hosts[source].add(host)
    row_of = {source: _DIGITS.sub("0", path_of[source]) for source in hosts}
    named_in: dict[str, Counter[str]] = defaultdict(Counter)
    for source, found in hosts.items():
        named_in[row_of[source]].update(found)
    return {
        (source, *_WHOEVER): host
        for source, found in hosts.items()
        for host in found
        if len(found) == 1 and named_in[row_of[source]][host] == 1
    }


def _placed(fact: Fact, host: str | None, node_of: Mapping[str, str]) -> Fact:
    if host is None or fact.place.host is not None:
        return fact
    if fact.place.container is not None and not _OF_EC2.fullmatch(host):
        return fact
    if host in node_of:
        return replace(fact, place=replace(fact.place, host=node_of[host], container=host))
    return replace(fact, place=replace(fact.place, host=host))


def _renamed(fact: Fact, node_of: Mapping[str, str]) -> Fact:
    """What calls the machine of a process or device by the name of a pod means the node: other names beside it are the node's."""
    name = fact.data.get("hostname")
    if fact.kind != "identity" or name not in node_of:
        return fact
    return replace(fact, data={**fact.data, "hostname": node_of[str(name)]})
