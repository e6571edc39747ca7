"""How many ranks the job has."""

from __future__ import annotations

from builders import hit
from fr_simulator import Faults, Mesh, Recorder, facts_of, run

from neuron_doctor.engine.patterns import Pattern, read_captures
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.world import world_of


def test_dumps_that_list_the_members_of_the_world_tell_its_size_without_the_one_that_left_none() -> None:
    job = run(Mesh(4, 2), {rank: Mesh(4, 2).program(rank) for rank in range(8)}, Faults())
    facts = [fact for fact in facts_of(job, Recorder()) if fact.place.rank != 7]
    assert world_of(facts, Topology()) == 8
    assert world_of(facts, Topology(world_size=16)) == 16


def test_a_list_without_a_rank_that_left_a_dump_is_of_a_smaller_group() -> None:
    job = run(Mesh(4, 2), {rank: Mesh(4, 2).program(rank) for rank in range(8)}, Faults())
    assert world_of(facts_of(job, Recorder(backend="gloo", completions=False)), Topology()) is None
    assert world_of([hit("a", rank=3)], Topology()) is None


def test_the_ranges_of_a_list_of_tasks_are_written_out() -> None:
    pattern = Pattern("p", r"tasks (?P<ranks>[\d,-]+)")
    assert read_captures(pattern, {"ranks": "0-2,5,7-8"})[1].ranks == (0, 1, 2, 5, 7, 8)
    assert read_captures(pattern, {"ranks": "1, 2"})[1].ranks == (1, 2)
