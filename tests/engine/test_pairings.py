"""Which transfers belong together in rings that have lost their first ones: counted from the collectives around them."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Pg, Program, Recorder, facts_of, run
from test_collectives import verdicts

SIZE = 6
RING, WORLD = Pg("1", "ring", tuple(range(SIZE))), Pg("0", "default_pg", tuple(range(SIZE)))
HOPS = 8


def program(rank: int, steps: int = 4) -> Program:
    """Each step the parts go round the ring, in batches of a send and a receive; then all ranks meet."""
    hop = Op(RING, "", 64, peers=(("send", (rank + 1) % SIZE), ("recv", (rank - 1) % SIZE)), batch=True)
    return [*[hop] * HOPS, Op(WORLD)] * steps


def mesh() -> Mesh:
    found = Mesh(SIZE, 1)
    found.groups = {"default_pg": dict.fromkeys(range(SIZE), WORLD), "ring": dict.fromkeys(range(SIZE), RING)}
    return found


@pytest.mark.parametrize("ring", [2000, 40])
@pytest.mark.parametrize("gone", [0, 3])
def test_a_ring_of_transfers_waits_for_the_one_that_left_no_dump(ring: int, gone: int) -> None:
    """Those behind it stand one hop apart, and all have issued the rest of the step."""
    programs = {rank: program(rank) for rank in range(SIZE)}
    job = run(mesh(), programs, Faults(host={gone: 3 * (HOPS + 1) + 2}), ahead=12)
    found = verdicts(facts_of(job, Recorder(ring=ring), without=[gone]))
    assert "transport-stall" not in found
    assert set().union(*found.values()) <= {gone}


@pytest.mark.parametrize("ring", [2000, 40])
def test_the_one_that_stopped_is_at_fault(ring: int) -> None:
    programs = {rank: program(rank) for rank in range(SIZE)}
    job = run(mesh(), programs, Faults(host={2: 3 * (HOPS + 1) + 2}), ahead=12)
    assert set().union(*verdicts(facts_of(job, Recorder(ring=ring))).values()) == {2}
