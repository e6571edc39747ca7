"""Dumps that were asked for while a job goes on: they stand at more places than those of one that hangs."""

from __future__ import annotations

import pytest
from fr_simulator import MS, Faults, Mesh, Op, Pg, Recorder, facts_of, run
from test_collectives import verdicts

from neuron_doctor.engine.facts import Fact

WORLD = Pg("0", "default_pg", tuple(range(8)))
TIMING = Recorder(timing=True)


def dumps(*stands: int, slow: int = -1) -> list[Fact]:
    """Of eight ranks, each as it was when its device stood before this one of forty collectives; all have issued them."""
    found: list[Fact] = []
    for rank, stands_at in enumerate(stands):
        job = run(Mesh(8, 1), {one: [Op(WORLD)] * 40 for one in range(8)}, Faults(device={rank: stands_at}), ahead=40)
        for one, issued in job.issued.items():
            for number, operation in enumerate(issued):
                operation.started_ns = operation.done_ns - (2 if one == slow or number % 4 else 30) * MS
        found.append(facts_of(job, TIMING)[rank])
    return found


def test_ranks_that_stand_at_several_places_are_not_stuck() -> None:
    assert verdicts(dumps(30, 30, 30, 31, 32, 32, 33, 33)) == {"moving": set()}


def test_the_rank_that_all_wait_for_is_slow_while_the_job_goes_on() -> None:
    assert verdicts(dumps(30, 30, 30, 31, 32, 32, 33, 33, slow=5)) == {"straggler": {5}}


@pytest.mark.parametrize("behind", [0, 6])
def test_one_rank_behind_is_no_sign_that_the_job_goes_on(behind: int) -> None:
    stands = [33] * 8
    stands[behind] = 30
    assert "moving" not in verdicts(dumps(*stands))


def test_what_stands_in_one_group_is_no_fault_where_several_others_went_on() -> None:
    mesh = Mesh(4, 4)
    found: list[Fact] = []
    for rank in range(mesh.size):
        stop = Faults(device={rank: 30 + 5 * (rank % 4) + rank // 4})
        job = run(mesh, {one: mesh.program(one, steps=12) for one in range(mesh.size)}, stop, ahead=60)
        found.append(facts_of(job, TIMING)[rank])
    assert set().union(*verdicts(found).values()) == set()


def at_one_moment(stands: str, *, slow: int = -1) -> list[Fact]:
    """Of two groups of four that reduce their gradients in pairs: each rank as its device stands in the last of these: `d`one,
    `r`unning or still to start (`w`). All wait for `slow` in each operation of its four."""
    mesh = Mesh(4, 2)
    job = run(mesh, {one: mesh.program(one, steps=8) for one in range(mesh.size)}, Faults(), ahead=100)
    for rank, issued in job.issued.items():
        for one in issued:
            waited = one.op.group.desc == "TENSOR" and slow in one.op.group.ranks and rank != slow
            one.started_ns = one.done_ns - (30 if waited else 2) * MS
        *_, gradients, norm = issued
        norm.started_ns = norm.done_ns = 0
        gradients.done_ns *= stands[rank] == "d"
        gradients.started_ns *= stands[rank] != "w"
    return facts_of(job, TIMING)


def test_what_ends_in_two_groups_while_it_has_not_begun_in_a_third_is_of_a_job_that_moves() -> None:
    assert verdicts(at_one_moment("drrrrdww")) == {"moving": set()}


def test_a_slow_rank_is_told_though_devices_seem_to_be_stuck_at_one_moment() -> None:
    assert verdicts(at_one_moment("drrrrdww", slow=6)) == {"straggler": {6}}


def test_what_ends_in_one_group_while_it_has_not_begun_in_another_is_left_open() -> None:
    assert verdicts(at_one_moment("ddrdrdwd")) == {"undecided": set()}


def test_a_slow_rank_is_told_though_several_devices_have_not_begun_while_all_others_are_through() -> None:
    assert verdicts(at_one_moment("ddrrddww", slow=6)) == {"straggler": {6}}


def test_what_has_not_begun_while_all_others_are_through_is_stuck() -> None:
    assert verdicts(at_one_moment("ddrdddwd")) == {"device-stuck": {6}}
