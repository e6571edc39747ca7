"""A transfer that a rank left out in the middle of a round: both ends stop far behind it, and each waits for the other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fr_simulator import Faults, Mesh, Op, Program, Recorder, facts_of, run
from test_collectives import verdicts

#: Stages, micro-batches, steps.
STAGES, MANY, STEPS = 4, 6, 4
ONE, TWO, WIDE = Mesh(1, 1, STAGES), Mesh(1, 2, STAGES), Mesh(2, 2, STAGES)
WRAPPED = Recorder(version="2.4", ring=64)
NEURON = Recorder(backend="neuron")


def program(mesh: Mesh, rank: int, *, alternating: bool = False) -> list[Program]:
    """What a rank issues in a step: its micro-batches (GPipe, else one forward and one backward in turn), the gradients, the norm
    and the weights, with single sends and receives."""
    group = mesh.groups["PIPELINE"][rank]
    stage = group.ranks.index(rank)

    def move(kind: str, at: int) -> Program:
        return [Op(group, "", 4096, peers=((kind, group.ranks[at]),))] if 0 <= at < STAGES else []

    inner = [Op(mesh.groups["TENSOR"][rank])] if mesh.tp > 1 else []
    forward = move("recv", stage - 1) + inner + move("send", stage + 1)
    backward = move("recv", stage + 1) + inner + move("send", stage - 1)
    ahead = STAGES - stage - 1 if alternating else MANY
    moved = [*forward * ahead, *(forward + backward) * (MANY - ahead), *backward * ahead]
    data, world = mesh.groups["DATA"][rank], Op(mesh.groups["default_pg"][rank], size=1)
    return [moved, [Op(data, "reduce_scatter"), world, Op(data, "all_gather")] if mesh.dp > 1 else [world]]


def job(mesh: Mesh, *, alternating: bool = False) -> dict[int, Program]:
    programs = {rank: program(mesh, rank, alternating=alternating) for rank in range(mesh.size)}
    return {rank: (moved + end) * STEPS for rank, (moved, end) in programs.items()}


def at_last(programs: dict[int, Program], rank: int, kind: str, peer: int, nth: int) -> int:
    """Where a rank issues the n-th such transfer of its last step."""
    own = programs[rank]
    begin = len(own) - len(own) // STEPS
    return [at for at in range(begin, len(own)) if own[at].peers == ((kind, peer),)][nth]


def found_in(
    mesh: Mesh, programs: dict[int, Program], recorder: Recorder = WRAPPED, *, ahead: int = 2, eager: bool = False
) -> dict[str, set[int]]:
    return verdicts(facts_of(run(mesh, programs, Faults(), ahead=ahead, eager=eager), recorder))


TRANSFERS = [(3, "send", 5), (5, "recv", 3), (1, "send", 3), (5, "send", 7), (7, "recv", 5)]


@pytest.mark.parametrize("nth", [0, 3, 5])
@pytest.mark.parametrize(("rank", "kind", "peer"), TRANSFERS)
@pytest.mark.parametrize("recorder", [WRAPPED, Recorder(timing=True), NEURON])
def test_the_rank_beside_which_another_did_one_transfer_more_left_it_out(
    rank: int, kind: str, peer: int, nth: int, recorder: Recorder
) -> None:
    programs = job(TWO)
    del programs[rank][at_last(programs, rank, kind, peer, nth)]
    assert found_in(TWO, programs, recorder) == {"p2p-missing": {rank}}


@pytest.mark.parametrize(("rank", "kind", "peer"), [(5, "send", 3), (3, "recv", 5), (3, "send", 1)])
def test_a_gradient_that_was_left_out_is_told_as_well(rank: int, kind: str, peer: int) -> None:
    programs = job(TWO)
    del programs[rank][at_last(programs, rank, kind, peer, 3)]
    assert found_in(TWO, programs) == {"p2p-missing": {rank}}


@pytest.mark.parametrize(("rank", "kind", "peer"), [(1, "send", 2), (2, "recv", 1), (0, "send", 1), (3, "recv", 2)])
def test_without_a_replica_the_round_before_tells(rank: int, kind: str, peer: int) -> None:
    programs = job(ONE)
    del programs[rank][at_last(programs, rank, kind, peer, 4)]
    assert found_in(ONE, programs) == {"p2p-missing": {rank}}


def test_ranks_that_share_the_layers_of_a_stage_tell_of_one_another() -> None:
    programs = job(WIDE)
    del programs[7][at_last(programs, 7, "send", 11, 2)]
    assert found_in(WIDE, programs, Recorder()) == {"p2p-missing": {7}}


@pytest.mark.parametrize("nth", [2, 3])
def test_where_forward_and_backward_alternate_and_nothing_sent_holds_up_its_sender(nth: int) -> None:
    programs = job(TWO, alternating=True)
    del programs[3][at_last(programs, 3, "send", 5, nth)]
    assert found_in(TWO, programs, eager=True) == {"p2p-missing": {3}}


def test_who_skips_a_whole_micro_batch_left_out_both_its_ends() -> None:
    programs = job(TWO)
    begin = at_last(programs, 3, "recv", 1, 3)
    del programs[3][begin : begin + 2]
    assert found_in(TWO, programs, ahead=3) == {"p2p-missing": {3}}


@pytest.mark.parametrize("mesh", [ONE, TWO])
@pytest.mark.parametrize("ahead", [1, 3])
def test_two_transfers_that_changed_places_were_not_left_out(mesh: Mesh, ahead: int) -> None:
    programs = job(mesh)
    rank, after = mesh.groups["PIPELINE"][0].ranks[1:3]
    at = at_last(programs, rank, "send", after, 5)
    programs[rank][at : at + 2] = programs[rank][at : at + 2][::-1]
    found = found_in(mesh, programs, ahead=ahead)
    assert "p2p-missing" not in found
    assert set().union(*found.values()) <= {rank}


@pytest.mark.parametrize("rank", [3, 5])
@pytest.mark.parametrize("nth", [0, 2, 5])
def test_one_transfer_more_than_usual_convicts_nobody_of_one_less_who_did_as_the_replica(rank: int, nth: int) -> None:
    programs = job(TWO)
    at = at_last(programs, rank, "recv", rank - 2, nth)
    programs[rank].insert(at, programs[rank][at])
    assert found_in(TWO, programs).get("p2p-missing", set()) == set()


def test_a_replica_with_fewer_micro_batches_shows_nobody_short() -> None:
    """Its step is shorter on all stages; the hang is one of order."""
    programs = job(TWO)
    for rank in TWO.groups["PIPELINE"][0].ranks:
        moved = [at for at, op in enumerate(programs[rank]) if op.peers]
        last = at_last(programs, rank, *programs[rank][moved[-1]].peers[0], -1)
        del programs[rank][last - (0 if rank in (0, 6) else 1) : last + 1]
    at = at_last(programs, 3, "send", 5, 5)
    programs[3][at : at + 2] = programs[3][at : at + 2][::-1]
    assert set().union(*found_in(TWO, programs).values()) <= {3}


def test_who_left_one_out_and_left_no_dump_is_unknown_and_nobody_else_is_at_fault() -> None:
    programs = job(TWO)
    del programs[3][at_last(programs, 3, "send", 5, 3)]
    facts = facts_of(run(TWO, programs, Faults(), ahead=2), WRAPPED, without={3})
    assert set().union(*verdicts(facts).values()) == set()


def test_the_replica_may_be_the_one_that_lacks_dumps() -> None:
    programs = job(TWO)
    del programs[3][at_last(programs, 3, "send", 5, 3)]
    job_ = run(TWO, programs, Faults(), ahead=2)
    assert verdicts(facts_of(job_, replace(WRAPPED, ring=100), without={2, 4})).get("p2p-order") is None


def batched(mesh: Mesh, rank: int) -> Program:
    """A step as Megatron has it: what is sent one way and received the other way at a time is one batch."""
    group = mesh.groups["PIPELINE"][rank]
    stage = group.ranks.index(rank)

    def batch(*ends: tuple[str, int]) -> Program:
        peers = tuple((kind, group.ranks[at]) for kind, at in ends if 0 <= at < STAGES)
        return [Op(group, "", 4096, peers=peers, batch=True)] if peers else []

    before, after, ahead = stage - 1, stage + 1, STAGES - stage - 1
    steady = batch(("send", after), ("recv", after)) + batch(("send", before), ("recv", before))
    last = batch(("send", after), ("recv", after)) + batch(("send", before))
    moved = (batch(("recv", before)) + batch(("send", after))) * ahead + batch(("recv", before))
    moved += steady * (MANY - ahead - 1) + last + (batch(("recv", after)) + batch(("send", before))) * ahead
    return moved + program(mesh, rank)[1]


def test_a_past_that_was_cut_makes_nobody_look_new_beside_who_left_out_a_batch() -> None:
    """Of all transfers that a whole dump counts it describes the last ones."""
    steps = {rank: batched(TWO, rank) for rank in range(TWO.size)}
    programs = {rank: step * STEPS for rank, step in steps.items()}
    del programs[3][len(steps[3]) * (STEPS - 1) + 1]
    assert set().union(*found_in(TWO, programs, Recorder(), ahead=4).values()) <= {3}


@pytest.mark.parametrize("nth", [0, 3, 5])
@pytest.mark.parametrize("recorder", [Recorder(timing=True), NEURON])
@pytest.mark.parametrize(("mesh", "rank", "peer"), [(TWO, 4, 6), (WIDE, 8, 12)])
def test_who_does_as_ever_beside_one_that_sends_once_more_is_not_at_fault(
    mesh: Mesh, rank: int, peer: int, recorder: Recorder, nth: int
) -> None:
    programs = job(mesh, alternating=True)
    at = at_last(programs, rank, "send", peer, nth)
    programs[rank] = [*programs[rank][:at], programs[rank][at], *programs[rank][at:]]
    found = found_in(mesh, programs, recorder, eager=True)
    assert all(culprits <= {rank} for culprits in found.values()), found
