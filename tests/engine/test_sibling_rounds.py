"""Ranks that left out transfers for which a partner waits, told by ranks of the same program where rings hold two rounds only."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Program, Recorder, facts_of, run
from test_collectives import verdicts

#: Two pipelines of two stages, each of two tensor-parallel ranks: the last stages are 4 and 5, 6 and 7.
MESH = Mesh(2, 2, 2)
MANY = 6


def step(rank: int, batches: int) -> Program:
    """One forward and one backward in turn, in batches; then the gradients, and the norm."""
    stages = MESH.groups["PIPELINE"][rank]
    last = stages.ranks.index(rank)
    peer = stages.ranks[1 - last]

    def move(*kinds: str) -> Program:
        return [Op(stages, "", 64, peers=tuple((kind, peer) for kind in kinds), batch=True)]

    begin, end = ("recv", "send") if last else ("send", "recv")
    turns = [Op(MESH.groups["TENSOR"][rank]), *move("send", "recv")] * (batches - 1)
    reduced = [Op(MESH.groups["DATA"][rank], "_reduce_scatter_base"), Op(MESH.groups["default_pg"][rank])]
    return [*move(begin), *turns, Op(MESH.groups["TENSOR"][rank]), *move(end), *reduced]


def found(last: dict[int, int], usual: int = MANY, entries: int = 60) -> dict[str, set[int]]:
    """The verdicts where the last steps of some ranks have so many micro-batches, and rings so many entries."""
    programs = {rank: step(rank, MANY) * 5 + step(rank, last.get(rank, usual)) for rank in range(MESH.size)}
    return verdicts(facts_of(run(MESH, programs, Faults(), ahead=3), Recorder(ring=entries)))


@pytest.mark.parametrize("short", [(4, 5), (6, 7)])
@pytest.mark.parametrize("entries", [56, 60])
def test_last_stages_that_run_one_micro_batch_less_than_themselves_before_and_their_siblings_now_are_at_fault(
    short: tuple[int, ...], entries: int
) -> None:
    assert found(dict.fromkeys(short, MANY - 1), entries=entries) == {"p2p-missing": set(short)}


@pytest.mark.parametrize(
    ("last", "usual"),
    [
        ({4: MANY, 5: MANY}, MANY + 1),  # as before, where all others do more
        ({4: MANY + 1, 5: MANY + 1}, MANY),  # who does more makes its partner no short one
        ({0: MANY, 1: MANY}, MANY - 1),  # a shorter step, of which two were not told
        (dict.fromkeys((4, 5, 6, 7), MANY - 1), MANY),  # all that run this program
    ],
)
@pytest.mark.parametrize("entries", [56, 60, 400])
def test_who_does_as_before_or_as_its_siblings_is_not_short(last: dict[int, int], usual: int, entries: int) -> None:
    assert set().union(*found(last, usual, entries).values()) == set()
