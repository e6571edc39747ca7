"""Two ranks that take two groups the other way round: which of them left the order, by how often each comes in a row."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Pg, Recorder, facts_of, run
from test_collectives import verdicts

WORLD, TENSOR = Pg("0", "default_pg", (0, 1)), Pg("1", "tensor", (0, 1))


def mesh() -> Mesh:
    found = Mesh(2, 1)
    found.groups = {"default_pg": dict.fromkeys((0, 1), WORLD), "tensor": dict.fromkeys((0, 1), TENSOR)}
    return found


@pytest.mark.parametrize("rounds", [2, 3])
def test_of_two_ranks_the_one_is_named_whose_run_of_a_group_is_of_a_new_length(rounds: int) -> None:
    """Both went from one group to the other before; how often in a row tells them apart, once two rounds were alike."""
    step = [*[Op(TENSOR)] * 4, Op(WORLD), Op(WORLD)]
    programs = {0: step * (rounds + 1), 1: step * rounds + [*step[:3], step[4], step[3], step[5]]}
    assert verdicts(facts_of(run(mesh(), programs, Faults(), ahead=12))) == {"order-mismatch": {1}}


def test_runs_that_were_never_of_one_length_name_nobody() -> None:
    past = [op for length in (4, 6, 2) for op in (*[Op(TENSOR)] * length, Op(WORLD))]
    programs = {0: [*past, *[Op(TENSOR)] * 5, Op(WORLD)], 1: [*past, *[Op(TENSOR)] * 4, Op(WORLD), Op(TENSOR)]}
    assert verdicts(facts_of(run(mesh(), programs, Faults(), ahead=12))) == {"order-mismatch": set()}


def test_many_are_named_where_the_past_of_each_tells_and_all_others_do_as_ever() -> None:
    """Three towers share a group by pairs; that a whole tower takes its two the other way round closes a circle of three."""
    pairs = {name: Pg(str(at), name, ranks) for at, (name, ranks) in enumerate(_TOWERS.items(), 1)}
    usual = {0: ("vl", "va"), 2: ("la", "vl"), 4: ("la", "va")}
    orders = {rank: usual[rank - rank % 2] for rank in range(6)}
    steps = {rank: [Op(pairs[name]) for name in order] for rank, order in orders.items()}
    programs = {rank: step * 4 + (step[::-1] if rank >= 4 else step) for rank, step in steps.items()}
    found = Mesh(6, 1)
    found.groups = {str(at): {rank: pairs[order[at]] for rank, order in orders.items()} for at in range(2)}
    job = run(found, programs, Faults(), ahead=12)
    assert verdicts(facts_of(job)) == {"order-mismatch": {4, 5}}


_TOWERS = {"vl": (0, 1, 2, 3), "la": (2, 3, 4, 5), "va": (0, 1, 4, 5)}


def test_of_three_the_one_that_goes_as_far_as_all_did_before_is_not_odd() -> None:
    """Two of three last stages run a micro-batch less than ever, which their neighbours wait for."""
    mesh = Mesh(1, 3, 3)

    def step(rank: int, batches: int) -> list[Op]:
        stages = mesh.groups["PIPELINE"][rank]
        at = stages.ranks.index(rank)

        def move(kind: str, stage: int) -> list[Op]:
            here = 0 <= stage < len(stages.ranks)
            return [Op(stages, "", 64, peers=((kind, stages.ranks[stage]),))] if here else []

        turns = move("recv", at - 1) + move("send", at + 1), move("recv", at + 1) + move("send", at - 1)
        reduced = [Op(mesh.groups["DATA"][rank]), Op(mesh.groups["default_pg"][rank])]
        return [*turns[0] * batches, *turns[1] * batches, *reduced]

    programs = {rank: step(rank, 4) * 5 + step(rank, 3 if rank in {6, 8} else 4) for rank in range(mesh.size)}
    job = run(mesh, programs, Faults(), ahead=1 << 20)
    found = [verdicts(facts_of(job, Recorder(ring=ring))) for ring in (30, 40, 500)]
    assert found == [{"p2p-missing": set()}, {"p2p-missing": {6, 8}}, {"p2p-missing": {6, 8}}]
