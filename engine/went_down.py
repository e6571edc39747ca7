"""Hosts that went down under their processes, by their own kernel logs: processes had opened devices and none of them had
let go when the kernel started anew. A process that ends, by itself or by a signal, lets go of its devices before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact


def went_down(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The `host-down` facts: one for the last start of a kernel that its log shows to be such a one. Where other processes
    open devices afterwards, it was under an earlier job, unless a rank of this one is among those that never let go."""
    logs: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if (fact.kind in {"attach", "detach"} and fact.place.pid is not None) or _is_start(fact):
            logs[fact.source].append(fact)
    for told in logs.values():
        yield from _in_log(sorted(told, key=lambda fact: fact.span.offset))


def _in_log(told: Sequence[Fact]) -> Iterator[Fact]:
    held: dict[int | None, Fact] = {}
    down: Fact | None = None
    for fact in told:
        if fact.kind == "detach":
            held.pop(fact.place.pid, None)
        elif fact.kind == "attach":
            held[fact.place.pid] = fact
            down = down if down is not None and down.data["of_ranks"] else None
        elif held:
            of_ranks = any(one.place.rank is not None for one in held.values())
            down = replace(fact, kind="host-down", data={"processes": len(held), "of_ranks": of_ranks})
            held = {}
    if down is not None:
        yield down


def _is_start(fact: Fact) -> bool:
    return fact.kind == "version" and fact.data.get("component") == "kernel"
