"""Takes back that a collective stalls, or that a rank's device never came to it, where the dumps may be of a job that
moves: somebody asked for them, nobody gave up.

A dump does not say why, or when, it was written. All ranks inside one collective, or all but one that still computes, is
what every job looks like now and then. A hang is proven by anybody who gave up, or by time that passed with the
collective still the last thing issued.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.elapsed import unmoved_ns
from neuron_doctor.engine.facts import Clock, Fact, Source

#: What is collected beside dumps of a hang goes on so long after the last operation was issued.
_LONG_NS = 60 * 10**9
#: No collective, and no step of training, takes so long; it is the default time-out of process groups.
_LONGEST_NS = 600 * 10**9
#: Facts that only somebody states who gave up, or for whom a worker ended.
_GAVE_UP = frozenset({"hang-report", "launcher-failure", "status"})

#: What the dumps of a job that moves may look like as well.
_PASSING = frozenset({"transport-stall", "device-stuck"})

_TOLD = (
    "; but no log tells of a time-out, and nothing is dated a minute after the last operation: so it looks as well when "
    "somebody takes the dumps of a job that moves. Take them again a minute later (the same numbers still open prove a "
    "hang), or set TORCH_NCCL_DUMP_ON_TIMEOUT=1, which writes them when a time-out proves one"
)


def questioned(collectives: Iterable[Fact], facts: Sequence[Fact], sources: Iterable[Source]) -> Iterator[Fact]:
    """The `collective` facts; those that a job may look like that moves undecided where it may."""
    sources = tuple(sources)
    proven = _is_hang(facts) or unmoved_ns(facts, sources) >= _LONGEST_NS
    unproven = any(source.kind == "log" and source.records for source in sources) and not proven
    for fact in collectives:
        if unproven and fact.data.get("verdict") in _PASSING and fact.data.get("witness") == "recorder":
            told = f"{fact.data['description']}{_TOLD}"
            yield replace(fact, data={**fact.data, "verdict": "undecided", "description": told})
        else:
            yield fact


def _is_hang(facts: Sequence[Fact]) -> bool:
    """Whether anybody gave up, or the job issued nothing more for long."""
    if any(fact.kind in _GAVE_UP or _waits_in_vain(fact) for fact in facts):
        return True
    issued = max(
        (ns for fact in facts if fact.kind == "fr-rank" and isinstance(ns := fact.data["last_ns"], int)), default=0
    )
    seen = {fact.kind: fact.instant.ns for fact in sorted(facts, key=_moment) if fact.instant and _is_dated(fact)}
    last, moved = max(seen.values(), default=0), seen.get("progress", 0)
    return last - issued >= _LONG_NS and moved <= issued


def _waits_in_vain(fact: Fact) -> bool:
    """Whether somebody says that it waits; that a call of the runtime was entered says so of no job."""
    return fact.kind == "stand" and fact.data.get("waits") is True and fact.data.get("witness") != "api"


def _is_dated(fact: Fact) -> bool:
    return fact.instant is not None and fact.instant.clock is Clock.UTC and fact.kind not in {"fr-rank", "collective"}


def _moment(fact: Fact) -> int:
    return fact.instant.ns if fact.instant else 0
