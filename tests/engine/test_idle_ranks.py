"""Ranks with nothing outstanding where no completion is recorded: convicted only where they cannot be waiting."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Recorder, facts_of, run
from test_fr_scenarios import programs_of, verdicts

from neuron_doctor.engine.collectives import match_collectives

ISSUES = Recorder(backend="neuron", completions=False)
GLOO = Recorder(backend="gloo")


def world_collective(mesh: Mesh, nth: int) -> int:
    return [at for at, op in enumerate(mesh.program(0)) if op.group.desc == "default_pg"][nth]


def test_several_ranks_that_end_with_one_collective_may_wait_in_it_though_others_went_on() -> None:
    mesh = Mesh(4, 4)
    at = world_collective(mesh, 3)
    job = run(mesh, programs_of(mesh), Faults(unseen=dict.fromkeys((0, 1, 2, 6), at)), ahead=1)
    found = verdicts(facts_of(job, ISSUES))
    assert found == {"undecided": set()}


def test_a_rank_alone_at_its_end_never_joined() -> None:
    mesh = Mesh(4, 4)
    at = world_collective(mesh, 3)
    job = run(mesh, programs_of(mesh), Faults(host={6: at + 1}), ahead=1)
    assert verdicts(facts_of(job, ISSUES)) == {"rank-missing": {6}}


def stopped(mesh: Mesh, *ranks: int, at: int, ahead: int) -> list[tuple[object, tuple[int, ...]]]:
    """What is found where the hosts of these ranks stop there."""
    job = run(mesh, programs_of(mesh), Faults(host=dict.fromkeys(ranks, at)), ahead=ahead)
    return [(fact.data["verdict"], fact.place.ranks) for fact in match_collectives(facts_of(job, GLOO))]


def test_a_rank_whose_operations_are_all_retired_waits_in_none_of_them_though_its_peers_ran_ahead() -> None:
    assert stopped(Mesh(2, 2, 2), 6, at=30, ahead=8) == [("rank-missing", (6,))]
    assert stopped(Mesh(4, 4), 9, 2, at=40, ahead=5) == [("rank-missing", (2,)), ("rank-missing", (9,))]


@pytest.mark.parametrize("at", range(30, 54, 3))
def test_ranks_of_a_pipeline_may_wait_in_transfers_that_no_dump_shows(at: int) -> None:
    found = stopped(Mesh(2, 2, 2), 1, at=at, ahead=1)
    assert {rank for _, ranks in found for rank in ranks} <= {1}


def test_a_rank_whose_wait_has_failed_is_not_convicted_while_its_peers_stand_in_the_same() -> None:
    """A watchdog ended the wait on one rank, which retires it there; the others still wait."""
    mesh = Mesh(4, 4)
    at = world_collective(mesh, 3)
    job = run(mesh, programs_of(mesh), Faults(stall={at}), ahead=1)
    job.issued[6][-1].done_ns = job.issued[6][-1].at_ns + 1
    assert set().union(*verdicts(facts_of(job, GLOO)).values()) == set()


@pytest.mark.parametrize(("stopped_ranks", "convicted"), [((4, 5, 6, 7), False), ((4, 5), True)])
def test_many_that_stop_at_one_place_were_stopped_together(stopped_ranks: tuple[int, ...], *, convicted: bool) -> None:
    """As a launcher stops all ranks of its host for one that died: the dumps do not tell for which."""
    mesh = Mesh(4, 4)
    at = world_collective(mesh, 3) + 1
    job = run(mesh, programs_of(mesh), Faults(host=dict.fromkeys(stopped_ranks, at)), ahead=1)
    found = match_collectives(facts_of(job))
    assert {rank for fact in found for rank in fact.place.ranks} == (set(stopped_ranks) if convicted else set())
