"""Two groups used the other way round by one rank, where dumps show what is in flight and nothing of the past."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Recorder, facts_of, run
from test_fr_scenarios import programs_of

from neuron_doctor.engine.collectives import match_collectives

IN_FLIGHT = Recorder(active_only=True)


def swapped(*culprits: int, shape: tuple[int, int] = (4, 4)) -> list[tuple[object, tuple[int, ...]]]:
    mesh = Mesh(*shape)
    programs = programs_of(mesh)
    for rank in culprits:
        at = [number for number, op in enumerate(programs[rank]) if op.group.desc == "default_pg"][3]
        programs[rank][at - 1], programs[rank][at] = programs[rank][at], programs[rank][at - 1]
    facts = facts_of(run(mesh, programs, Faults(), ahead=6), IN_FLIGHT)
    return [(fact.data["verdict"], fact.place.ranks) for fact in match_collectives(facts)]


@pytest.mark.parametrize("culprit", [0, 5, 15])
def test_the_one_that_issued_two_collectives_the_other_way_round_is_named(culprit: int) -> None:
    assert swapped(culprit) == [("order-mismatch", (culprit,))]


def test_of_two_halves_none_is_the_odd_one() -> None:
    assert {ranks for _, ranks in swapped(*range(8))} <= {()}


def test_two_of_two_groups_are_both_named() -> None:
    mesh = Mesh(4, 8)
    programs = programs_of(mesh)
    for rank in (3, 4):
        at = [number for number, op in enumerate(programs[rank]) if op.group.desc == "DATA"][3]
        programs[rank][at - 1], programs[rank][at] = programs[rank][at], programs[rank][at - 1]
    found = match_collectives(facts_of(run(mesh, programs, Faults(), ahead=6), Recorder(ring=30)))
    assert [(fact.data["verdict"], fact.place.ranks) for fact in found] == [("order-mismatch", (3, 4))]
