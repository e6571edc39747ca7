"""A transfer that a rank leaves out where nobody runs its program beside it: its own earlier rounds tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fr_simulator import Faults, Mesh, Program, Recorder, facts_of, run
from test_collectives import verdicts

MESH = Mesh(1, 1, 2)


def programs() -> dict[int, Program]:
    return {rank: MESH.program(rank, batches=True, interleaved=True) for rank in range(2)}


def left_out(rank: int, kind: str) -> dict[int, Program]:
    """The programs, with the first of the last round's transfers of this kind left out by a rank."""
    found = programs()
    own = found[rank]
    round_begins = len(own) - len(own) // 6
    at = next(i for i in range(round_begins, len(own)) if any(what == kind for what, _ in own[i].peers))
    own[at] = replace(own[at], peers=tuple(peer for peer in own[at].peers if peer[0] != kind))
    return found


@pytest.mark.parametrize("ring", [2000, 24])
def test_the_rank_whose_last_round_lacks_a_transfer_is_at_fault(ring: int) -> None:
    job = run(MESH, left_out(0, "send"), Faults(), ahead=12)
    assert set().union(*verdicts(facts_of(job, Recorder(ring=ring))).values()) == {0}


def test_rounds_that_are_all_alike_convict_nobody() -> None:
    last = max(i for i, op in enumerate(programs()[0]) if op.peers)
    found = verdicts(facts_of(run(MESH, programs(), Faults(device={0: last, 1: last}), ahead=12)))
    assert "p2p-missing" not in found
