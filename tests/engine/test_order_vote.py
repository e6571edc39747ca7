"""Two ranks that take two groups the other way round: which of them left the order, by how often each comes in a row."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Pg, facts_of, run
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
