"""Dumps that say little of who wrote them: of unknown ranks, or of recorders that list the members of no group."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec.structs
import pytest
from fr_simulator import Faults, Mesh, Op, Pg, Recorder, facts_of, run

from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import Fact, Place


def test_dumps_of_unknown_ranks_with_open_operations_are_not_taken_for_health() -> None:
    job = run(Mesh(4, 2), {rank: Mesh(4, 2).program(rank) for rank in range(8)}, Faults(host={2: 30}))
    named = facts_of(job, Recorder())
    nameless = [msgspec.structs.replace(fact, place=Place()) for fact in named]
    (open_one,) = match_collectives(nameless)
    assert open_one.data["verdict"] == "undecided"
    assert open_one.place.ranks == ()
    ended = run(Mesh(4, 2), {rank: Mesh(4, 2).program(rank) for rank in range(8)}, Faults())
    done = [msgspec.structs.replace(fact, place=Place()) for fact in facts_of(ended, Recorder())]
    assert match_collectives(done) == ()


def gloo_world(size: int, ops: dict[int, int]) -> list[Fact]:
    """Dumps of ranks that all-reduce in a default group whose members gloo does not list: so many operations each."""
    world = Pg("0", "default_pg", tuple(range(size)))
    programs = {rank: [Op(world)] * ops.get(rank, 5) for rank in range(size)}
    mesh = Mesh(size, 1)
    return facts_of(run(mesh, programs, Faults(), ahead=1), Recorder(backend="gloo"))


def without(facts: Iterable[Fact], *ranks: int) -> list[Fact]:
    return [fact for fact in facts if fact.place.rank not in ranks]


@pytest.mark.parametrize("gone", [0, 2, 3])
def test_where_no_dump_lists_the_members_nobody_says_that_all_have_come(gone: int) -> None:
    facts = without(gloo_world(4, {gone: 4}), gone)
    (fact,) = match_collectives(facts)
    assert fact.data["verdict"] in {"rank-missing", "undecided"}
    assert fact.place.ranks == ()
    assert fact.data["missing_dumps"] == (() if gone == 3 else (gone,))


def test_that_a_job_has_a_rank_without_a_dump_may_be_known_otherwise() -> None:
    facts = without(gloo_world(4, {3: 4}), 3)
    (fact,) = match_collectives(facts, heard=range(4))
    assert (fact.data["verdict"], fact.data["missing_dumps"]) == ("rank-missing", (3,))


def test_a_rank_whose_operations_are_all_over_waits_for_no_missing_dump() -> None:
    facts = without(gloo_world(6, {4: 4}), 1)
    (fact,) = match_collectives(facts)
    assert (fact.data["verdict"], fact.place.ranks, fact.data["missing_dumps"]) == ("rank-missing", (4,), (1,))
