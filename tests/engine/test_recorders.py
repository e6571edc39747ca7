"""Two recorders of one process: what one of them shows is matched by itself, and who waits in it is not late in the other."""

from __future__ import annotations

from fr_simulator import START_NS, Faults, Job, Mesh, Op, Recorder, dump_of, encoded, fact_of, facts_of, run
from msgspec.structs import replace
from test_collectives import verdicts

from neuron_doctor.engine.facts import Fact

MESH = Mesh(4, 2)
GLOO = Recorder(backend="gloo")


def trained(**host: int) -> list[Fact]:
    stops = {int(rank[1:]): at for rank, at in host.items()}
    return facts_of(run(MESH, {rank: MESH.program(rank) for rank in range(MESH.size)}, Faults(host=stops)))


def saved(part: str = "default_pg", *late: int, without: int = -1) -> list[Fact]:
    """Of the threads that save a checkpoint over gloo, by groups of a part of the mesh: `late` ones never come to its end."""
    ops = {
        rank: [Op(MESH.groups[part][rank], "gather"), Op(MESH.groups[part][rank], "broadcast")]
        for rank in range(MESH.size)
    }
    job = run(MESH, ops, Faults(host=dict.fromkeys(late, 1)), ahead=1)
    return [gloo_dump(job, rank) for rank in range(MESH.size) if rank != without]


def gloo_dump(job: Job, rank: int) -> Fact:
    return fact_of(encoded(dump_of(job, rank, GLOO), GLOO.dialect), rank, name=f"gloo/trace_rank_{rank}")


def test_a_rank_is_late_in_what_one_recorder_shows_though_all_is_over_in_the_other() -> None:
    assert verdicts([*trained(), *saved("default_pg", 3)]) == {"healthy": set(), "rank-missing": {3}}


def test_a_dump_of_one_recorder_that_is_lost_is_not_made_up_for_by_the_other() -> None:
    assert verdicts([*trained(), *saved("default_pg", without=3)]).get("rank-missing", set()) == set()


def test_who_waits_by_one_recorder_is_not_at_fault_for_what_it_lacks_by_the_other() -> None:
    assert verdicts(trained(r3=30)) == {"rank-missing": {3}}
    assert set().union(*verdicts([*trained(r3=30), *saved("TENSOR", 0, 1, 2)]).values()) == set()


def test_dumps_of_another_backend_from_before_are_of_an_earlier_run() -> None:
    hour = 3600 * 10**9
    before = [
        replace(one, data={**one.data, "first_ns": START_NS - hour, "last_ns": START_NS - hour + 1})
        for one in saved("default_pg", 3)
    ]
    assert set().union(*verdicts([*trained(), *before]).values()) == set()
