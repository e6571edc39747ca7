"""Whom the kinds of witness convict, where they agree and where they contradict each other."""

from __future__ import annotations

import random

from neuron_doctor.engine.facts import Fact, Place, Span, Value
from neuron_doctor.engine.witnesses import Witnesses, disagreements, witnesses


def told(kind: str, rank: int | None, *, attempt: int | None = None, host: str | None = None, **data: Value) -> Fact:
    path = f"{kind}_{rank}"
    return Fact(kind, data, Place(rank=rank, attempt=attempt, host=host), Span(path, 0, 9, 1, 1, "", path), path)


def convicts(*ranks: int, witness: str = "recorder", verdict: str = "rank-missing") -> Fact:
    return told("collective", ranks[0] if ranks else None, verdict=verdict, culprits=ranks, witness=witness)


def test_two_kinds_that_convict_different_ranks_are_shown_with_the_evidence_of_each() -> None:
    facts = [convicts(6), told("status", 2, code=1201)]
    shown = disagreements(witnesses(facts, ()))
    assert [(fact.data["witness"], fact.place.ranks, fact.source) for fact in shown] == [
        ("device", (2,), "status_2"),
        ("recorder", (6,), "collective_6"),
    ]


def test_two_kinds_that_convict_one_rank_agree() -> None:
    facts = [convicts(6), told("status", 6, code=1201)]
    found = witnesses(facts, ())
    assert disagreements(found) == []
    assert found.agreeing([6], facts[:1]) == 1
    assert found.agreeing([6], facts) == 0
    assert found.agreeing([5], ()) == 0
    assert not found.contest([6])


def test_the_words_alone_are_heard_beside_the_dumps() -> None:
    found = witnesses([convicts(2)], [convicts(1, witness="watchdog")])
    assert found.contest([2])
    assert found.contest([1])


def test_the_launcher_the_monitor_and_silence_only_agree() -> None:
    facts = [convicts(6), told("launcher-failure", 3, first=True), convicts(5, witness="silence")]
    found = witnesses(facts, ())
    assert disagreements(found) == []
    assert found.agreeing([3], ()) == 1


def test_stops_of_executions_count_only_where_all_others_of_the_host_went_on() -> None:
    def stopped(rank: int, second: int) -> Fact:
        return told("counter", rank, host="a", name="completed", until_ns=second * 10**9)

    early = witnesses([stopped(0, 100), stopped(1, 400), stopped(2, 401)], ())
    together = witnesses([stopped(0, 399), stopped(1, 400), stopped(2, 401)], ())
    assert early.agreeing([0], ()) == 1
    assert together == Witnesses()


def test_verdicts_without_fault_and_other_attempts_contradict_nobody() -> None:
    assert witnesses([convicts(3, verdict="straggler")], ()) == Witnesses()
    apart = [told("oom-kill", 1, attempt=0), told("status", 2, attempt=1, code=1202)]
    assert disagreements(witnesses(apart, ())) == []


def test_an_execution_that_timed_out_on_many_ranks_convicts_none_of_them() -> None:
    many = [told("hang-report", rank, what="compute") for rank in range(6)]
    one = [told("hang-report", rank, what="compute" if rank == 4 else "collectives") for rank in range(6)]
    assert witnesses(many, ()) == Witnesses()
    assert witnesses(one, ()).agreeing([4], ()) == 1


def test_the_order_of_facts_changes_nothing() -> None:
    facts = [convicts(6), told("status", 2, code=1201), told("oom-kill", 6), told("hang-report", 1, what="barrier")]
    mixed = random.Random(3).sample(facts, len(facts))
    assert disagreements(witnesses(mixed, ())) == disagreements(witnesses(facts, ()))
