"""Receives from any source: the rank that alone has not sent in this round is waited for, and nobody where that is not told."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fr_simulator import Faults, Mesh, Op, Program, Recorder, dump_of, encoded, fact_of, run
from test_collectives import verdicts

WORKERS = range(1, 5)
MESH = Mesh(1, 5)
WORLD = MESH.groups["default_pg"][0]
HOOK = Recorder(backend="fabric")
PLAN = Op(WORLD, "all_reduce")


def gathered(rounds: int, plan: Program, takes: dict[int, list[int]] | None = None) -> dict[int, Program]:
    """In each round rank 0 takes one block of every worker, or in the last ones what is said."""
    programs: dict[int, Program] = {rank: [] for rank in range(5)}
    for number in range(rounds):
        order = (takes or {}).get(number, list(WORKERS))
        programs[0] += [*plan, *(Op(WORLD, peers=(("recv", worker),)) for worker in order)]
        for worker in WORKERS:
            programs[worker] += [*plan, *[Op(WORLD, peers=(("send", 0),))] * order.count(worker)]
    return programs


def found_in(programs: dict[int, Program], recorder: Recorder = HOOK, **faults: Any) -> dict[str, set[int]]:
    job = run(MESH, programs, Faults(**faults), ahead=1)
    facts = []
    for rank in programs:
        text = encoded(dump_of(job, rank, recorder), "json").decode()
        facts.append(fact_of(re.sub(r"recv 0<-\d", "recv 0<-?", text).encode(), rank))
    return verdicts(facts)


@pytest.mark.parametrize("recorder", [HOOK, Recorder(backend="fabric", ring=11)])
@pytest.mark.parametrize("late", WORKERS)
def test_who_alone_has_not_sent_in_this_round_is_waited_for(late: int, recorder: Recorder) -> None:
    programs = gathered(6, [PLAN], {5: [*(w for w in WORKERS if w != late), late]})
    assert found_in(programs, recorder, host={late: len(programs[late]) - 1}) == {"p2p-missing": {late}}


def test_without_rounds_all_that_was_sent_tells() -> None:
    programs = gathered(6, [], {5: [1, 2, 4, 3]})
    assert found_in(programs, host={3: 5}) == {"p2p-missing": {3}}


def test_who_waits_elsewhere_is_not_at_fault_but_whom_it_waits_for() -> None:
    """Rank 3 receives from rank 4 before it sends."""
    programs = gathered(6, [PLAN], {5: [1, 2, 4, 3]})
    for rank, move in ((3, ("recv", 4)), (4, ("send", 3))):
        programs[rank] = [
            one for op in programs[rank] for one in ([op] if op.peers else [op, Op(WORLD, peers=(move,))])
        ]
    assert found_in(programs, host={4: len(programs[4]) - 2}) == {"p2p-missing": {4}}


@pytest.mark.parametrize(
    "takes",
    [
        {4: [1, 1, 2, 3], 5: [1, 2, 4, 3]},  # who is ready takes the next piece of work
        {5: [1, 1, 2, 3, 4]},  # one sends twice
    ],
)
def test_where_ranks_do_not_send_alike_nobody_is_waited_for(takes: dict[int, list[int]]) -> None:
    programs = gathered(6, [PLAN], takes)
    late = takes[5][-1]
    assert found_in(programs, host={late: len(programs[late]) - 1}) == {"undecided": set()}


def test_of_a_receiver_that_takes_one_more_than_was_ever_sent_no_sender_is_late() -> None:
    programs = gathered(6, [PLAN])
    programs[0] += [Op(WORLD, peers=(("recv", 2),))]
    assert found_in(programs) == {"undecided": set()}


def test_half_of_all_that_have_not_sent_are_no_few() -> None:
    programs = gathered(6, [PLAN], {5: [1, 2, 3, 4]})
    assert found_in(programs, host={3: 11, 4: 11}) == {"undecided": set()}


def test_in_a_first_round_nothing_tells_who_is_to_send() -> None:
    programs = gathered(1, [PLAN], {0: [1, 2, 4, 3]})
    assert found_in(programs, host={3: 1}) == {"undecided": set()}
