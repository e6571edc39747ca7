"""Who is it that the others wait for? The answers of all kinds of witness, and where two of them contradict each other.

Kinds: recorder, watchdog, desync, fingerprint, barrier (a monitored one), runtime, api, ndet, device (hardware errors), kernel
(its OOM killer); and those that can only agree: silence, launcher (the first to fail is often a victim) and monitor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, ranks_of
from neuron_doctor.engine.recorder import named_ranks

#: Statuses of the runtime that only a fault of the own device gives (NRT: 1201 to 1203 and 1205).
_DEVICE_STATUSES = frozenset({1201, 1202, 1203, 1205})
_NO_FAULT = frozenset({"straggler", "healthy", "moving", "stale-dump", "undecided", "unproven", "outside"})
_WEAK = frozenset({"silence", "launcher", "monitor"})
#: Of the ranks of a job, at most one in so many can be those whose own computation hangs.
_FEW = 4
#: A process whose executions stopped so long before those of all others of its host did not stop with them.
_STOPPED_NS = 60 * 10**9
_PROCESSES = 3


class Vote(Struct, frozen=True):
    """The ranks that one kind of witness convicts in one attempt, and the facts that say so."""

    witness: str
    attempt: int | None
    ranks: frozenset[int]
    facts: tuple[Fact, ...]

    def contradicts(self, other: Vote) -> bool:
        """Whether both cannot be right about who is at fault."""
        weak = self.witness in _WEAK or other.witness in _WEAK
        return not weak and self.attempt == other.attempt and not self.ranks & other.ranks


class Witnesses(Struct, frozen=True):
    """All votes."""

    votes: tuple[Vote, ...] = ()

    def agreeing(self, ranks: Iterable[int], facts: Iterable[Fact]) -> int:
        """How many kinds of witness beside `facts` convict some of these ranks and no others."""
        blamed, own = frozenset(ranks), {id(fact) for fact in facts}
        return sum(bool(blamed) and vote.ranks <= blamed and own.isdisjoint(map(id, vote.facts)) for vote in self.votes)

    def contest(self, ranks: Iterable[int]) -> bool:
        """Whether the witnesses against these ranks are contradicted."""
        blamed = frozenset(ranks)
        return any(vote.ranks & blamed and any(vote.contradicts(other) for other in self.votes) for vote in self.votes)


def witnesses(facts: Sequence[Fact], told: Iterable[Fact]) -> Witnesses:
    """The votes of `facts`, and of what the words of ranks with dumps would say alone."""
    found: dict[tuple[str, int | None], dict[int, Fact]] = defaultdict(dict)
    for witness, ranks, fact in (*_collective((*facts, *told)), *_own_words(facts), *_of_others(facts)):
        for rank in ranks:
            found[witness, fact.place.attempt].setdefault(rank, fact)
    votes = [
        Vote(witness, attempt, frozenset(by_rank), tuple({id(fact): fact for fact in by_rank.values()}.values()))
        for (witness, attempt), by_rank in sorted(found.items(), key=lambda one: (one[0][0], str(one[0][1])))
    ]
    return Witnesses(tuple(votes))


def disagreements(found: Witnesses) -> list[Fact]:
    """For each kind that another one contradicts: whom it convicts, on its evidence."""
    opposed: dict[int, set[int]] = defaultdict(set)
    for a, b in combinations(range(len(found.votes)), 2):
        if found.votes[a].contradicts(found.votes[b]):
            opposed[a].add(b)
            opposed[b].add(a)
    return [_disagreement(found.votes[n], [found.votes[m] for m in sorted(opposed[n])]) for n in sorted(opposed)]


def _disagreement(vote: Vote, others: Sequence[Vote]) -> Fact:
    evidence = vote.facts[0]
    against = ", ".join(f"{other.witness} convicts {named_ranks(sorted(other.ranks))}" for other in others)
    told = f"{vote.witness} convicts {named_ranks(sorted(vote.ranks))}; {against}"
    place = Place(job=evidence.place.job, attempt=vote.attempt, ranks=tuple(sorted(vote.ranks)))
    data = {"witness": vote.witness, "description": told}
    return replace(evidence, kind="disagreement", data=data, place=place, repeats=0)


_Told = Iterator[tuple[str, tuple[int, ...], Fact]]


def _collective(facts: Iterable[Fact]) -> _Told:
    """Whom the wait-for graph convicts."""
    for fact in facts:
        if fact.kind == "collective" and fact.data["verdict"] not in _NO_FAULT:
            culprits = fact.data.get("culprits")
            ranks = tuple(rank for rank in culprits if isinstance(rank, int)) if isinstance(culprits, tuple) else ()
            yield str(fact.data.get("witness", "recorder")), ranks, fact


def _own_words(facts: Sequence[Fact]) -> _Told:
    """Ranks whose own runtime says that they hang in compute, if they are few; those that a barrier names; those whose
    device failed."""
    spoken = {rank for fact in facts if fact.kind in ("hang-report", "stand") for rank in ranks_of(fact.place)}
    computing = [fact for fact in facts if _is_compute_hang(fact)]
    few = len({fact.place.rank for fact in computing}) * _FEW <= len(spoken)
    yield from (("runtime", ranks_of(fact.place), fact) for fact in computing if few)
    for fact in facts:
        if fact.kind == "stand" and fact.data.get("witness") == "barrier":
            yield "barrier", ranks_of(fact.place), fact
        elif fact.kind == "status" and fact.data["code"] in _DEVICE_STATUSES:
            yield "device", ranks_of(fact.place), fact
        elif fact.kind == "oom-kill":
            yield "kernel", ranks_of(fact.place), fact


def _is_compute_hang(fact: Fact) -> bool:
    """An execution that timed out in compute, or after its last collective operation."""
    if fact.kind == "hang-report":
        return fact.data["what"] == "compute"
    after = fact.kind == "stand" and fact.data.get("witness") == "runtime"
    return after and fact.data.get("waits") is False and "sequence" not in fact.data


def _of_others(facts: Sequence[Fact]) -> _Told:
    """What can only agree: the launcher's first failure, and executions that stopped before those of all others."""
    for fact in facts:
        if fact.kind == "launcher-failure" and fact.data.get("first") is True:
            yield "launcher", ranks_of(fact.place), fact
    by_host: dict[str | None, list[tuple[int, Fact]]] = defaultdict(list)
    for fact in facts:
        until = fact.data.get("until_ns")
        if fact.kind == "counter" and fact.data["name"] == "completed" and isinstance(until, int):
            by_host[fact.place.host].append((until, fact))
    for stops in by_host.values():
        stops.sort(key=lambda stop: (stop[0], stop[1].span.path, stop[1].span.offset))
        if len(stops) >= _PROCESSES and stops[1][0] - stops[0][0] >= _STOPPED_NS:
            yield "monitor", ranks_of(stops[0][1].place), stops[0][1]
