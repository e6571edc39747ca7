"""Who loads another graph than all others, where every rank waits in the runtime for the others to load theirs.

The call returns when all ranks have loaded the same graph. What a rank loads is the graph that it took from the cache, or
compiled, last before it entered the call. The stages of a pipeline load different graphs by design, but then the first differs
from the others and the last one too; so only one host, or one rank, that differs alone is the odd one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.recorder import named_ranks
from neuron_doctor.engine.topology import Topology

_LOADS = "nrt_load_collectives"
#: So many ranks, and so many hosts, must load something for one of them to be odd.
_FEWEST = 3


def odd_graphs(facts: Sequence[Fact], topology: Topology) -> Iterator[Fact]:
    """One `odd-graph` at most: at the host or the rank, on the record of the graph that its first rank took."""
    loading = _loading(facts)
    taken = _taken(facts, loading)
    if len(taken) < _FEWEST or len(taken) < max(len(loading), topology.world_size or 0):
        return
    ranks: dict[object, list[int]] = defaultdict(list)
    for rank, graph in taken.items():
        ranks[graph.data["module"]].append(rank)
    usual = max(ranks, key=lambda module: len(ranks[module]))
    odd = sorted(rank for module, own in ranks.items() if module != usual for rank in own)
    if odd and 2 * len(ranks[usual]) > len(taken) and _stand_alone(odd, ranks[usual], loading):
        yield _fact(odd, taken, str(usual), len(ranks[usual]))


def _loading(facts: Iterable[Fact]) -> dict[int, Fact]:
    """The ranks whose last call of the runtime is the one that waits for all others."""
    calls = (f for f in facts if f.kind == "stand" and f.data.get("witness") == "api" and f.place.rank is not None)
    last: dict[int, Fact] = {}
    for call in sorted(calls, key=_place_in_text):
        last[call.place.rank or 0] = call
    waits = {rank for rank, call in last.items() if call.data.get("waits") and call.data.get("operation") == _LOADS}
    return {rank: call for rank, call in last.items() if rank in waits}


def _taken(facts: Iterable[Fact], loading: Mapping[int, Fact]) -> dict[int, Fact]:
    """The graph that each of these ranks took last before it entered the call."""
    taken: dict[int, Fact] = {}
    for graph in sorted((fact for fact in facts if fact.kind == "graph"), key=_place_in_text):
        call = loading.get(-1 if graph.place.rank is None else graph.place.rank)
        if call is not None and graph.source == call.source and graph.span.offset < call.span.offset:
            taken[graph.place.rank or 0] = graph
    return taken


def _place_in_text(fact: Fact) -> tuple[str, int]:
    return fact.span.path, fact.span.offset


def _stand_alone(odd: Sequence[int], others: Sequence[int], loading: Mapping[int, Fact]) -> bool:
    """Whether the odd ones are one rank, or all ranks of the one host of several that has them."""
    hosts, usual = {loading[rank].place.host for rank in odd}, {loading[rank].place.host for rank in others}
    of_one_host = len(hosts) == 1 and None not in hosts | usual and not hosts & usual
    return len(odd) == 1 or (of_one_host and len(hosts | usual) >= _FEWEST)


def _fact(odd: Sequence[int], taken: Mapping[int, Fact], usual: str, times: int) -> Fact:
    first = taken[odd[0]]
    alone = odd[0] if len(odd) == 1 else None
    graphs = ", ".join(sorted({str(taken[rank].data["module"]) for rank in odd}))
    told = f"{named_ranks(odd)} took {graphs} before all ranks began to load, and the {times} others {usual}"
    place = replace(first.place, rank=alone, ranks=tuple(odd), pid=first.place.pid if alone is not None else None,
                    device=None, core=None, local_rank=None)  # fmt: skip
    return replace(
        first, kind="odd-graph", data={"module": graphs, "usual": usual, "description": told}, place=place, repeats=0
    )
