"""Transfers with the wrong rank, where no completion is recorded, or rings are too short to remember a habit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fr_simulator import Faults, Mesh, Op, Program, Recorder, facts_of, run
from test_collectives import verdicts

from neuron_doctor.engine.dumps import selections
from neuron_doctor.engine.process_groups import ProcessGroup, process_groups
from neuron_doctor.engine.round_books import gaps_of_rounds
from neuron_doctor.engine.transfer_books import Misdirected, misdirected_ranks

PIPELINE = Mesh(1, 1, 4)
ISSUED = Recorder(backend="neuron", completions=False)


def programs(mesh: Mesh, steps: int = 6) -> dict[int, Program]:
    return {rank: mesh.program(rank, steps) for rank in range(mesh.size)}


def redirected(mesh: Mesh, kind: str, usual: int, peer: int, rank: int = 1, steps: int = 6) -> dict[int, Program]:
    """The programs, with the rank's last transfer of this kind with `usual` turned to `peer`."""
    found = programs(mesh, steps)
    own = found[rank]
    at = max(i for i, op in enumerate(own) if (kind, usual) in op.peers)
    own[at] = replace(own[at], peers=tuple((kind, peer) if one == (kind, usual) else one for one in own[at].peers))
    return found


def issued_by_all(found: dict[int, Program], recorder: Recorder = ISSUED) -> dict[str, set[int]]:
    return verdicts(facts_of(run(PIPELINE, found, Faults(device=dict.fromkeys(found, 0)), ahead=1 << 20), recorder))


def groups_of(mesh: Mesh, found: dict[int, Program]) -> list[ProcessGroup]:
    job = run(mesh, found, Faults(device=dict.fromkeys(found, 0)), ahead=1 << 20)
    [selected] = selections(facts_of(job, ISSUED))
    return process_groups(selected.dumps)


def misdirected(groups: list[ProcessGroup]) -> list[Misdirected]:
    return misdirected_ranks(groups, gaps_of_rounds(groups))


@pytest.mark.parametrize(("kind", "usual", "peer"), [("send", 2, 3), ("recv", 0, 3), ("recv", 2, 3), ("send", 0, 3)])
def test_the_rank_whose_transfer_nobody_has_an_end_for_is_misdirected(kind: str, usual: int, peer: int) -> None:
    assert misdirected(groups_of(PIPELINE, redirected(PIPELINE, kind, usual, peer))) == [Misdirected(1, peer, usual)]


def with_a_barrier_lost(found: dict[int, Program], *, padded: bool) -> dict[str, set[int]]:
    """The verdict where the rings of the inner stages, or (`padded`) of all, are one entry short of the whole job."""
    barrier = Op(PIPELINE.groups["default_pg"][0], "barrier")
    length = max(map(len, found.values()))
    begun = {
        rank: [barrier, *[Op(PIPELINE.groups["DATA"][rank])] * (length - len(program) if padded else 0), *program]
        for rank, program in found.items()
    }
    return issued_by_all(begun, replace(ISSUED, ring=length))


@pytest.mark.parametrize("padded", [True, False])
def test_a_rank_is_convicted_where_rings_have_lost_what_could_have_been_the_other_end(padded: bool) -> None:
    found = redirected(PIPELINE, "send", 1, 2, rank=0)
    assert with_a_barrier_lost(found, padded=padded) == {"p2p-mismatch": {0}}


def test_in_a_first_step_who_waits_for_one_that_waits_is_not_misdirected() -> None:
    """Nobody has a past; rank 4, which rank 0 takes for its neighbour, has nothing to do with it."""
    mesh = Mesh(2, 1, 4)
    job = run(mesh, redirected(mesh, "send", 2, 4, rank=0, steps=1), Faults())
    assert verdicts(facts_of(job)) == {"p2p-mismatch": {0}}


def test_before_all_three_have_gone_on_two_of_them_may_be_late() -> None:
    found = {rank: program[:-1] for rank, program in redirected(PIPELINE, "send", 1, 2, rank=0).items()}
    assert misdirected(groups_of(PIPELINE, found)) == [Misdirected(0, 2, 1)]
    assert "p2p-mismatch" not in with_a_barrier_lost(found, padded=True)


def test_two_that_are_amiss_are_explained_in_several_ways() -> None:
    found = redirected(PIPELINE, "send", 2, 3)
    found[2] = redirected(PIPELINE, "send", 3, 0, rank=2)[2]
    assert misdirected(groups_of(PIPELINE, found)) == []


@pytest.mark.parametrize(("data", "expected"), [(3, [Misdirected(0, 6, 3)]), (1, [])])
def test_a_first_and_only_transfer_is_misdirected_where_groups_of_the_same_program_have_none_such(
    data: int, expected: list[Misdirected]
) -> None:
    mesh = Mesh(1, data, 3)
    usual, peer = data, 2 * data
    found = redirected(mesh, "send", usual, peer, rank=0, steps=1)
    assert misdirected(groups_of(mesh, found)) == expected


#: Ring attention: each rank sends to the next one and receives from the one before, in batches; so many rotations are a step.
RING, ROTATIONS = Mesh(1, 1, 8), 6


def ring(*, both_ways: bool = False) -> dict[int, Program]:
    group, world = RING.groups["PIPELINE"], RING.groups["default_pg"]
    found: dict[int, Program] = {}
    for rank in range(RING.size):
        after, before = (rank + 1) % RING.size, (rank - 1) % RING.size
        peers = (("send", after), ("recv", before), *((("send", before), ("recv", after)) if both_ways else ()))
        found[rank] = [*[Op(group[rank], "", 4096, peers=peers, batch=True)] * ROTATIONS, Op(world[rank])] * 6
    return found


def turned_once(found: dict[int, Program], kind: str, usual: int, peer: int) -> dict[str, set[int]]:
    """The verdict where rank 3 takes `peer` for `usual` in one rotation of the last step."""
    at = len(found[3]) - ROTATIONS
    own = found[3][at]
    turned = tuple((kind, peer) if one == (kind, usual) else one for one in own.peers)
    found[3] = [*found[3][:at], replace(own, peers=turned), *found[3][at + 1 :]]
    return verdicts(facts_of(run(RING, found, Faults(), ahead=1 << 20), Recorder(ring=70)))


@pytest.mark.parametrize(("kind", "usual", "peer"), [("send", 4, 2), ("recv", 2, 4), ("send", 4, 6)])
def test_who_turns_against_a_ring_is_misdirected_though_it_has_to_do_with_both_neighbours(
    kind: str, usual: int, peer: int
) -> None:
    assert turned_once(ring(), kind, usual, peer) == {"p2p-mismatch": {3}}


def test_where_neighbours_exchange_both_ways_a_transfer_too_many_and_one_too_few_convict_nobody() -> None:
    assert turned_once(ring(both_ways=True), "send", 4, 2).get("p2p-mismatch", set()) == set()
