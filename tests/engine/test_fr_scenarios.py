"""Jobs drawn at random, in each way to fail and with each recorder: the right ranks are blamed, or nobody is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from fr_scenarios import CLASSES, RECORDERS, Case, draw, may_be_open
from fr_simulator import Faults, Mesh, Op, Pg, Recorder, fact_of, facts_of, run

from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import Fact

#: A snapshot of a job that moves shows ranks that have not come yet, just as a hang does: nothing in a dump says when it
#: was taken.
TELLABLE = sorted(set(CLASSES) - {"running"})

#: An own habit that a rank breaks for the first time is no proof where no peer runs the same program.
HARD = {"both send", "skipped transfer", "wrong peer"}


def cases(name: str, first: int, wanted: int) -> Iterator[Case]:
    made = 0
    for seed in range(first, first + 200):
        case = CLASSES[name](draw(seed))
        if case is not None:
            yield case
            made += 1
        if made == wanted:
            return


def answer(case: Case, recorder: Recorder) -> tuple[set[str], set[int]]:
    found = match_collectives([fact_of(data, rank) for rank, data in case.dumps(recorder).items()])
    return {str(fact.data["verdict"]) for fact in found}, {rank for fact in found for rank in fact.place.ranks}


@pytest.mark.parametrize("name", TELLABLE)
def test_no_innocent_rank_is_blamed_and_nearly_all_at_fault_are(name: str) -> None:
    outcomes: Counter[str] = Counter()
    for number, case in enumerate(cases(name, 40_000, 4)):
        for recorder_name in list(RECORDERS)[number % 4 :: 4]:
            recorder = RECORDERS[recorder_name]
            _, blamed = answer(case, recorder)
            assert blamed <= case.culprits, (recorder_name, blamed, case.culprits)
            outcomes["right" if blamed == case.culprits or may_be_open(name, recorder, case) else "open"] += 1
    assert outcomes["right"] >= (0.6 if name in HARD else 0.9) * outcomes.total()


def verdicts(facts: list[Fact]) -> dict[str, set[int]]:
    return {str(fact.data["verdict"]): set(fact.place.ranks) for fact in match_collectives(facts)}


def programs_of(mesh: Mesh) -> dict[int, list[Op]]:
    return {rank: mesh.program(rank) for rank in range(mesh.size)}


def test_without_completions_two_groups_used_in_another_order_are_seen_though_all_have_issued_both() -> None:
    mesh = Mesh(2, 4)
    programs = programs_of(mesh)
    at = [number for number, op in enumerate(programs[5]) if op.group.desc == "default_pg"][3]
    programs[5][at - 1], programs[5][at] = programs[5][at], programs[5][at - 1]
    facts = facts_of(run(mesh, programs, Faults(), ahead=6), Recorder(backend="neuron", completions=False))
    assert verdicts(facts) == {"order-mismatch": {5}}


@pytest.mark.parametrize("change", [{"size": 4711}, {"name": "broadcast"}, {"dtype": "Half"}])
def test_a_recorder_that_retires_nothing_does_not_stand_in_its_first_barrier(change: dict[str, object]) -> None:
    mesh = Mesh(4, 2)
    world = mesh.groups["default_pg"][0]
    programs = {rank: [Op(world, "barrier", 1), *program] for rank, program in programs_of(mesh).items()}
    at = [number for number, op in enumerate(programs[3]) if op.name == "_all_gather_base"][11]
    programs[3][at] = replace(programs[3][at], **change)  # type: ignore[arg-type]
    recorder = Recorder(backend="neuron", completions=False, retires=False)
    found = verdicts(facts_of(run(mesh, programs, Faults()), recorder))
    assert list(found.values()) == [{3}]
    assert "transport-stall" not in found


def test_without_completions_a_missing_dump_may_be_what_all_wait_for() -> None:
    mesh = Mesh(4, 2)
    job = run(mesh, programs_of(mesh), Faults(host={2: 30}), ahead=4)
    facts = facts_of(job, Recorder(backend="neuron", completions=False), without=[2])
    found = match_collectives(facts)
    assert {fact.place.ranks for fact in found} == {()}
    assert {rank for fact in found for rank in fact.data["missing_dumps"]} == {2}  # type: ignore[union-attr]
    assert "healthy" not in {fact.data["verdict"] for fact in found}


def test_a_stall_without_completions_blames_no_host_that_stands_where_its_peers_do() -> None:
    mesh = Mesh(4, 4)
    group = mesh.groups["TENSOR"][9]
    job = run(mesh, programs_of(mesh), Faults(dead_group=(group.name, 20)), ahead=6)
    found = verdicts(facts_of(job, Recorder(backend="neuron", completions=False)))
    assert set().union(*found.values()) == set()


def test_of_ranks_of_one_program_the_one_that_left_out_an_operation_is_told_by_its_count() -> None:
    mesh = Mesh(4, 2, 2)
    programs = programs_of(mesh)
    at = [number for number, op in enumerate(programs[6]) if op.peers][5]
    del programs[6][at]
    facts = facts_of(run(mesh, programs, Faults(), ahead=6), Recorder(ring=25))
    assert set().union(*verdicts(facts).values()) == {6}


def test_stages_of_a_pipeline_that_come_in_turn_are_no_stragglers() -> None:
    tensor, stages = Pg("1", "TENSOR", (0, 1)), Pg("2", "PIPELINE", (0, 1))
    mesh = Mesh(2, 1)
    mesh.groups = {"TENSOR": dict.fromkeys((0, 1), tensor), "PIPELINE": dict.fromkeys((0, 1), stages)}
    programs = {
        0: [Op(stages, "", 64, peers=(("send", 1),)), Op(tensor)] * 20,
        1: [Op(stages, "", 64, peers=(("recv", 0),)), Op(tensor)] * 20,
    }
    job = run(mesh, programs, Faults())
    for rank, issued in job.issued.items():
        for one in issued:
            one.started_ns = one.done_ns - (1 if rank else 40) * 1_000_000
    assert verdicts(facts_of(job, Recorder(timing=True))) == {"healthy": set()}


def test_a_rank_still_to_come_while_elsewhere_a_collective_runs_is_a_job_that_moves() -> None:
    mesh = Mesh(4, 2)
    faults = Faults(host={1: 12}, dead_group=(mesh.groups["TENSOR"][4].name, 10))
    (fact,) = match_collectives(facts_of(run(mesh, programs_of(mesh), faults, ahead=1)))
    assert (fact.data["verdict"], fact.place.ranks, fact.data["members"]) == ("undecided", (), (1,))
    assert "take them again" in str(fact.data["description"])


def test_a_rank_still_to_come_while_elsewhere_a_collective_ends_is_a_job_that_moves() -> None:
    mesh = Mesh(4, 2)
    at = [number for number, op in enumerate(mesh.program(6)) if op.group.desc == "TENSOR"][9]
    job = run(mesh, programs_of(mesh), Faults(host={1: 12}, unseen={6: at}), ahead=1)
    (fact,) = match_collectives(facts_of(job))
    assert (fact.data["verdict"], fact.place.ranks) == ("undecided", ())


def crossed(mesh: Mesh, rank: int) -> dict[int, list[Op]]:
    """The programs of a pipeline in which one rank receives what its partner makes of what it would only send then."""
    programs = programs_of(mesh)
    program = programs[rank]
    at = [
        number
        for number, (first, then) in enumerate(pairwise(program))
        if first.peers and then.peers and (first.peers[0][0], then.peers[0][0]) == ("send", "recv")
    ][4]
    program[at], program[at + 1] = program[at + 1], program[at]
    return programs


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 1, 2)])
def test_of_two_ranks_that_wait_for_each_others_transfers_the_one_is_named_that_left_the_order_of_its_peers(
    shape: tuple[int, int, int],
) -> None:
    mesh = Mesh(*shape)
    facts = facts_of(run(mesh, crossed(mesh, 1), Faults(), ahead=12), Recorder(ring=40))
    (fact,) = match_collectives(facts)
    assert (fact.data["verdict"], fact.place.ranks) == ("p2p-order", (1,))
    assert fact.data["members"] == (1, 1 + mesh.size // 2)


def turns(mesh: Mesh, rank: int) -> list[Op]:
    """A step in which two stages exchange many times between their collectives: the first one sends first."""
    stages, world = mesh.groups["PIPELINE"][rank], mesh.groups["default_pg"][rank]
    stage = stages.ranks.index(rank)
    peer = stages.ranks[1 - stage]
    kinds = ["recv", "send"] if stage else ["send", "recv"]
    return [*[Op(stages, "", 64, peers=((kind, peer),)) for kind in kinds] * 12, Op(world)]


@pytest.mark.parametrize("at", [4, 10, 20])
def test_who_left_the_order_far_behind_the_last_collective_is_told_by_its_peers_back_to_there(at: int) -> None:
    """The rings hold no whole round: a habit of their own they do not tell."""
    mesh = Mesh(1, 3, 2)
    programs = {rank: turns(mesh, rank) * 3 for rank in range(mesh.size)}
    last = len(programs[4]) - len(turns(mesh, 4)) + at
    programs[4][last], programs[4][last + 1] = programs[4][last + 1], programs[4][last]
    facts = facts_of(run(mesh, programs, Faults(), ahead=12), Recorder(ring=28))
    assert verdicts(facts) == {"p2p-order": {4}}


def test_stages_of_a_pipeline_that_begin_alike_and_do_not_go_on_alike_are_not_out_of_step() -> None:
    """The last stage does less between two collectives of the world: it has not left anything out."""
    mesh = Mesh(2, 1, 8)
    world = mesh.groups["default_pg"][0]
    setup = [Op(world, "barrier", 1)]
    programs = {rank: setup + program for rank, program in programs_of(mesh).items()}
    odd = programs[11]
    at = [number for number, op in enumerate(odd) if op.group == world][2]
    odd[at - 1], odd[at] = odd[at], odd[at - 1]
    found = verdicts(facts_of(run(mesh, programs, Faults(), ahead=12), Recorder()))
    assert set().union(*found.values()) <= {11}


@pytest.mark.parametrize("lost", [0, 2, 5, 20])
@pytest.mark.parametrize("stopped", [2, 3, 4, 5])
def test_a_rank_that_may_wait_in_a_transfer_is_not_blamed_for_what_rings_have_lost(stopped: int, lost: int) -> None:
    """A rank of a pipeline stops; its neighbours, whose recorders learn of no completion, wait for what it would send."""
    mesh = Mesh(2, 1, 4)
    programs = programs_of(mesh)
    job = run(mesh, programs, Faults(host={stopped: 24}), ahead=2)
    longest = max(len(issued) for issued in job.issued.values())
    recorder = Recorder(backend="neuron", completions=False, ring=longest - lost)
    found = verdicts(facts_of(job, recorder))
    blamed = {rank for ranks in found.values() for rank in ranks}
    assert blamed <= {stopped}
    if lost <= 2:
        assert blamed == {stopped}


def written_at(stops: dict[int, int]) -> list[Fact]:
    """Dumps of one job, each of the moment at which its rank had issued so many operations."""
    mesh = Mesh(len(stops), 1)
    found = []
    for rank, stop in stops.items():
        job = run(mesh, programs_of(mesh), Faults(host=dict.fromkeys(stops, stop)))
        found += facts_of(job, without=set(stops) - {rank})
    return found


def test_dumps_written_one_after_the_other_of_a_job_that_goes_on_show_no_hang() -> None:
    assert verdicts(written_at({rank: 8 + 4 * rank for rank in range(8)})) == {"moving": set()}


def test_dumps_of_which_several_are_of_the_last_moment_may_show_a_hang() -> None:
    assert verdicts(written_at({rank: 8 + 4 * min(rank, 5) for rank in range(8)})) == {"undecided": set()}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("broadcast", {"rank-missing": {1}, "op-mismatch": {6}}),
        ("all_reduce", {"rank-missing": {1}}),
    ],
)
def test_who_comes_with_another_operation_is_at_fault_too_where_one_does_not_come_at_all(
    other: str, expected: dict[str, set[int]]
) -> None:
    world = Pg("0", "default_pg", tuple(range(8)))
    programs = {rank: [Op(world)] * 30 for rank in range(8)}
    programs[1] = programs[1][:20]
    programs[6] = [*programs[6][:20], Op(world, other), *programs[6][21:]]
    assert verdicts(facts_of(run(Mesh(8, 1), programs, Faults(), ahead=1))) == expected


@pytest.mark.parametrize(
    ("timing", "expected"),
    # untimed, all ranks of both look alike
    [(True, {"device-stuck": {1}, "transport-stall": set()}), (False, {"transport-stall": set()})],
)
def test_a_collective_that_all_have_started_stalls_of_itself_where_a_device_of_another_group_is_stuck(
    timing: bool, expected: dict[str, set[int]]
) -> None:
    mesh = Mesh(4, 2)
    programs = {rank: [Op(mesh.groups["TENSOR"][rank])] * 30 for rank in range(mesh.size)}
    job = run(mesh, programs, Faults(device={1: 12}, dead_group=(mesh.groups["TENSOR"][4].name, 12)), ahead=2)
    assert verdicts(facts_of(job, Recorder(timing=timing))) == expected


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({6: 18}, {"device-stuck": {6}}),  # one rank alone sees nothing end: all others are at one place
        ({6: 18, 2: 14, 3: 7}, {"moving": set()}),
        (dict.fromkeys(range(5), 9), {"moving": set()}),
    ],
)
def test_dumps_at_several_places_that_others_show_to_be_over_are_of_a_job_that_moves_though_hosts_run_ahead(
    over: dict[int, int], expected: dict[str, set[int]]
) -> None:
    """All hosts have issued all; `over`: of so many of the collectives that the others completed a rank shows no end."""
    world = Pg("0", "default_pg", tuple(range(8)))
    job = run(Mesh(8, 1), {rank: [Op(world)] * 60 for rank in range(8)}, Faults(stall={40}), ahead=20)
    for rank, last in over.items():
        for one in job.issued[rank][40 - last : 40]:
            one.done_ns = 0
    assert verdicts(facts_of(job)) == expected


def at_places(places: dict[int, tuple[int, int]]) -> list[Fact]:
    """Timed dumps of ranks that share one group, each of the moment at which its device had completed, and its host had
    issued, so many collectives."""
    world = Pg("0", "default_pg", tuple(places))
    programs = {rank: [Op(world)] * 20 for rank in places}
    found = []
    for rank, (done, issued) in places.items():
        job = run(Mesh(len(places), 1), programs, Faults(host=dict.fromkeys(places, issued), stall={done}), ahead=8)
        found += facts_of(job, Recorder(timing=True), without=set(places) - {rank})
    return found


@pytest.mark.parametrize(
    ("other_places", "expected"),
    [
        ({}, {"rank-missing": {4}}),  # its dump shows as much as the others' do: it hangs
        ({4: (10, 10)}, {"rank-missing": set()}),  # the others show the end of what it had not issued: it went on
        ({4: (10, 10), 2: (10, 12), 3: (11, 11), 7: (10, 11)}, {"moving": set()}),
        ({2: (10, 12), 3: (11, 11), 7: (10, 11)}, {"undecided": set()}),  # two reasons, of one moment, as far as seen
    ],
)
def test_a_dump_that_lacks_what_others_show_to_be_over_is_of_an_earlier_moment(
    other_places: dict[int, tuple[int, int]], expected: dict[str, set[int]]
) -> None:
    usual = {0: (11, 12), 1: (11, 14), 2: (11, 12), 3: (11, 12), 4: (11, 11), 5: (11, 12), 6: (11, 13), 7: (11, 12)}
    assert verdicts(at_places({**usual, **other_places})) == expected
