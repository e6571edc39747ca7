"""A transfer that a rank left out while all hosts ran ahead: found at the end of the round, by the books of the round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fr_simulator import Faults, Mesh, Op, Program, Recorder, facts_of, run
from test_collectives import verdicts
from test_transfer_books import PIPELINE, redirected

from neuron_doctor.engine.collectives import match_collectives

#: Stages, and micro-batches of a step; of so many more a ring tells no whole round of the inner stages.
STAGES, MANY, MORE = 4, 5, 8
GROUP = PIPELINE.groups["PIPELINE"][0]
WORLD = PIPELINE.groups["default_pg"][0]
WRAPPED = Recorder(ring=65)


def move(kind: str, peer: int) -> Program:
    return [Op(GROUP, "", 4096, peers=((kind, peer),))] if 0 <= peer < STAGES else []


def step(stage: int, batches: int) -> Program:
    """GPipe: all forwards, all backwards, the norm."""
    forward = move("recv", stage - 1) + move("send", stage + 1)
    backward = move("recv", stage + 1) + move("send", stage - 1)
    return [*forward * batches, *backward * batches, Op(WORLD)]


def pipeline(last: dict[int, Program], steps: int = 6, batches: int = MANY) -> dict[int, Program]:
    """Steps, the last one of some ranks as given."""
    return {
        stage: step(stage, batches) * (steps - 1) + last.get(stage, step(stage, batches)) for stage in range(STAGES)
    }


def without(stage: int, kind: str, peer: int, batches: int = MANY) -> Program:
    """A step that lacks its third such transfer."""
    found = step(stage, batches)
    del found[[at for at, op in enumerate(found) if op.peers == ((kind, peer),)][2]]
    return found


def found_in(programs: dict[int, Program], recorder: Recorder = WRAPPED) -> dict[str, set[int]]:
    return verdicts(facts_of(run(PIPELINE, programs, Faults(), ahead=1 << 20), recorder))


@pytest.mark.parametrize("stage", [1, 2])
def test_a_stage_that_runs_one_micro_batch_less_is_short_of_what_both_neighbours_wait_for(stage: int) -> None:
    assert found_in(pipeline({stage: step(stage, MANY - 1)})) == {"p2p-missing": {stage}}


@pytest.mark.parametrize(
    ("stage", "kind", "peer"), [(1, "send", 2), (2, "recv", 1), (2, "recv", 3), (3, "send", 2), (0, "recv", 1)]
)
@pytest.mark.parametrize("recorder", [WRAPPED, replace(WRAPPED, timing=True), replace(WRAPPED, dialect="json")])
def test_a_transfer_that_one_end_left_out_is_told_by_its_round_before(
    stage: int, kind: str, peer: int, recorder: Recorder
) -> None:
    assert found_in(pipeline({stage: without(stage, kind, peer)}), recorder) == {"p2p-missing": {stage}}


def test_where_no_past_tells_which_of_two_left_it_out_it_is_neither_their_order_nor_the_transport() -> None:
    programs = pipeline({1: without(1, "send", 2, MORE)}, batches=MORE)
    facts = facts_of(run(PIPELINE, programs, Faults(), ahead=1 << 20), replace(WRAPPED, ring=100))
    (fact,) = match_collectives(facts)
    assert (fact.data["verdict"], fact.place.ranks, fact.data["members"]) == ("p2p-missing", (), (1, 2))


@pytest.mark.parametrize("stage", [1, 2])
def test_who_issues_one_more_than_before_does_not_make_its_partner_short(stage: int) -> None:
    more = [*move("recv", stage - 1), *step(stage, MANY)]
    assert found_in(pipeline({stage: more})) == {"p2p-missing": set()}


def test_of_two_stages_with_fewer_micro_batches_and_two_with_as_many_as_before_none_is_at_fault() -> None:
    """Either the first two lost one, or the others were not told that the step is shorter."""
    programs = pipeline({stage: step(stage, MANY - 1) for stage in (0, 1)})
    assert found_in(programs) == {"p2p-missing": set()}


def test_a_stage_that_alone_was_not_told_of_a_shorter_step_does_not_make_the_others_short() -> None:
    programs = pipeline({stage: step(stage, MANY - 1) for stage in (0, 1, 2)})
    assert found_in(programs) == {"p2p-missing": set()}


@pytest.mark.parametrize("short", [(0, 1), (0, 1, 2), (1, 2)])
def test_where_neighbours_run_a_shorter_step_together_their_past_convicts_none_of_them(short: tuple[int, ...]) -> None:
    programs = pipeline({stage: step(stage, MANY - 1) for stage in short})
    assert found_in(programs, Recorder()) == {"p2p-missing": set()}


def test_in_a_first_step_the_one_that_all_its_partners_miss_a_transfer_of_is_short() -> None:
    """No earlier step tells the number; but three count alike, and each has but this one partner."""
    star = {
        0: [op for _ in range(MANY) for peer in (1, 2, 3) for op in move("send", peer)],
        **{peer: move("recv", 0) * (MANY + 1) for peer in (1, 2, 3)},
    }
    programs = {rank: [Op(WORLD), *program, Op(WORLD)] for rank, program in star.items()}
    assert found_in(programs, Recorder()) == {"p2p-missing": {0}}


def test_rounds_that_balance_leave_a_deadlock_one_of_order() -> None:
    """Both neighbours receive first in the last step: nothing is left out."""
    swapped = [
        *move("recv", 2) * MANY,
        *move("recv", 0) * MANY,
        *move("send", 2) * MANY,
        *move("send", 0) * MANY,
        Op(WORLD),
    ]
    assert found_in(pipeline({1: swapped})) == {"p2p-order": set()}


def test_without_the_dump_of_who_is_short_nobody_else_is() -> None:
    job = run(PIPELINE, pipeline({1: step(1, MANY - 1)}), Faults(), ahead=1 << 20)
    assert verdicts(facts_of(job, WRAPPED, without={1})) == {"rank-missing": set()}


@pytest.mark.parametrize(("kind", "usual", "peer"), [("send", 2, 3), ("recv", 0, 3)])
@pytest.mark.parametrize("extra", [{}, {"backend": "neuron"}, {"dialect": "json", "backend": "neuron"}])
def test_where_rings_have_lost_the_past_a_round_tells_of_a_transfer_with_the_wrong_rank(
    kind: str, usual: int, peer: int, extra: dict[str, Any]
) -> None:
    programs = redirected(PIPELINE, kind, usual, peer, steps=20)
    assert found_in(programs, replace(Recorder(ring=30), **extra)) == {"p2p-mismatch": {1}}


def test_the_fact_names_what_was_left_out() -> None:
    facts = facts_of(run(PIPELINE, pipeline({1: without(1, "send", 2)}), Faults(), ahead=1 << 20), WRAPPED)
    (fact,) = match_collectives(facts)
    assert "left out transfers that it issued in the round before" in str(fact.data["description"])


@pytest.mark.parametrize(
    ("late", "stop", "ahead", "ring"), [(0, -10, 8, 12), (3, -7, 8, 8), (6, -9, 6, 9), (9, -6, 5, 7)]
)
def test_a_batch_of_which_a_ring_has_kept_the_end_only_is_waited_in(
    late: int, stop: int, ahead: int, ring: int
) -> None:
    """The group of a stage that stands in its reduce waits for that batch first: nothing stalls there."""
    mesh = Mesh(2, 2, 4)
    programs = {rank: mesh.program(rank, 4, 1, batches=True, interleaved=True) for rank in range(mesh.size)}
    job = run(mesh, programs, Faults(host={late: len(programs[late]) + stop}), ahead=ahead)
    assert verdicts(facts_of(job, Recorder(ring=ring, frames=False))) == {"rank-missing": {late}}


def test_where_all_wait_in_batches_that_rings_have_lost_no_rank_is_said_to_stall() -> None:
    mesh = Mesh(2, 2, 4)
    programs = {rank: mesh.program(rank, 4, 1, batches=True, interleaved=True) for rank in range(mesh.size)}
    job = run(mesh, programs, Faults(device={0: len(programs[0]) - 10}), ahead=8)
    assert verdicts(facts_of(job, Recorder(ring=6, frames=False))) == {"transport-stall": set()}
