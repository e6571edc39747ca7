"""Who is at fault when a job hangs, told from the dumps of simulated jobs."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec.structs
import pytest
from fr_simulator import (
    MS,
    START_NS,
    Faults,
    Mesh,
    Op,
    Pg,
    Program,
    Recorder,
    dump_of,
    encoded,
    fact_of,
    facts_of,
    run,
)

from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.kinds import KINDS
from neuron_doctor.engine.recorder import GroupRecord, Operation

MESHES = [(2, 2, 1), (4, 2, 1), (1, 8, 1), (2, 2, 2), (2, 2, 4), (1, 2, 4), (2, 1, 4)]
RECORDERS = {
    "nccl": Recorder(),
    "timing": Recorder(timing=True),
    "open entries only": Recorder(active_only=True),
    "wrapped ring": Recorder(ring=40),
    "torch json": Recorder(dialect="json"),
    "nvrx json": Recorder(dialect="nvrx", version="2.9"),
    "torch 2.2": Recorder(version="2.2"),
    "torch 2.3": Recorder(version="1.4"),
    "torch 2.4": Recorder(version="2.1"),
    "torch 2.5": Recorder(version="2.4"),
    "hook": Recorder(backend="neuron"),
    "no stacks": Recorder(frames=False),
}


def programs_of(mesh: Mesh, **options: Any) -> dict[int, Program]:
    return {rank: mesh.program(rank, **options) for rank in range(mesh.size)}


def verdicts(facts: Iterable[Fact]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for fact in match_collectives(tuple(facts)):
        found.setdefault(str(fact.data["verdict"]), set()).update(fact.place.ranks)
    return found


def index_of(program: Program, *, name: str = "", desc: str = "", kind: str = "", nth: int = 0) -> int:
    """Where in a program the nth operation of that name, group or kind of transfer stands."""
    return [
        at
        for at, op in enumerate(program)
        if (not name or op.name == name)
        and (not desc or op.group.desc == desc)
        and (bool(op.peers) == bool(kind) and (not kind or op.peers[0][0] == kind))
    ][nth]


@pytest.mark.parametrize("recorder", RECORDERS)
@pytest.mark.parametrize("shape", MESHES, ids=str)
def test_a_rank_that_never_joins_is_the_only_one_blamed(shape: tuple[int, int, int], recorder: str) -> None:
    mesh = Mesh(*shape)
    for batches, ahead in ((False, 1), (True, 6)):
        programs = programs_of(mesh, batches=batches)
        culprit = random.Random(f"{shape}{recorder}").randrange(mesh.size)
        job = run(mesh, programs, Faults(host={culprit: len(programs[culprit]) * 2 // 3}), ahead, skew_ns=17 * MS)
        found = verdicts(facts_of(job, RECORDERS[recorder]))
        assert set().union(*found.values()) == {culprit}
        assert found.keys() <= {"rank-missing", "p2p-missing"}


@pytest.mark.parametrize("shape", [(2, 2, 1), (4, 2, 1), (2, 4, 1)], ids=str)
@pytest.mark.parametrize("backend", ["gloo", "neuron"])
def test_recorders_that_learn_of_no_completion_still_show_who_never_joined(
    shape: tuple[int, int, int], backend: str
) -> None:
    mesh = Mesh(*shape)
    programs = programs_of(mesh)
    at = index_of(programs[1], desc="TENSOR", nth=9)
    job = run(mesh, programs, Faults(host={1: at}), ahead=1)
    assert verdicts(facts_of(job, Recorder(backend=backend, completions=False))) == {"rank-missing": {1}}


def test_two_culprits_are_two() -> None:
    mesh = Mesh(4, 4)
    programs = programs_of(mesh)
    at = len(programs[0]) // 2
    facts = facts_of(run(mesh, programs, Faults(host={2: at, 13: at})))
    found = match_collectives(facts)
    assert sorted(fact.place.ranks for fact in found) == [(2,), (13,)]
    assert [fact.span.path[-3:].lstrip("k_") for fact in found] == ["2", "13"]


def test_the_verdict_does_not_depend_on_the_order_of_the_dumps() -> None:
    mesh = Mesh(2, 2, 2)
    programs = programs_of(mesh)
    facts = facts_of(run(mesh, programs, Faults(host={3: 30, 6: 31})))
    expected = match_collectives(facts)
    for seed in range(5):
        shuffled = list(facts)
        random.Random(seed).shuffle(shuffled)
        assert match_collectives(shuffled) == expected


def test_groups_may_have_any_names() -> None:
    mesh = Mesh(2, 2, 2, rename=lambda name: f"ptd:{int(name) * 7 % 31:x}")
    programs = programs_of(mesh)
    job = run(mesh, programs, Faults(host={5: 40}))
    for recorder in (Recorder(), Recorder(active_only=True)):
        assert set().union(*verdicts(facts_of(job, recorder)).values()) == {5}


@pytest.mark.parametrize(
    ("verdict", "change"),
    [
        ("op-mismatch", {"name": "broadcast"}),
        ("size-mismatch", {"size": 4711}),
        ("dtype-mismatch", {"dtype": "Half"}),
    ],
)
@pytest.mark.parametrize("recorder", ["nccl", "open entries only", "torch json", "hook", "wrapped ring"])
@pytest.mark.parametrize("shape", [(4, 2, 1), (4, 1, 2)], ids=str)
def test_the_minority_is_blamed_for_a_mismatch(
    shape: tuple[int, int, int], recorder: str, verdict: str, change: dict[str, Any]
) -> None:
    mesh = Mesh(*shape)
    programs = programs_of(mesh)
    at = index_of(programs[3], name="_all_gather_base", nth=11)
    programs[3][at] = replace(programs[3][at], **change)
    (fact,) = match_collectives(facts_of(run(mesh, programs, Faults()), RECORDERS[recorder]))
    assert (fact.data["verdict"], fact.place.ranks) == (verdict, (3,))
    assert "rank 3" in str(fact.data["difference"])
    assert set(mesh.groups["TENSOR"][3].ranks) - {3} <= set(fact.data["waiting"])  # type: ignore[arg-type]


def test_of_two_ranks_that_differ_nobody_is_blamed() -> None:
    mesh = Mesh(2, 1)
    programs = programs_of(mesh)
    programs[1][10] = replace(programs[1][10], dtype="Half")
    (fact,) = match_collectives(facts_of(run(mesh, programs, Faults())))
    assert (fact.data["verdict"], fact.place.ranks, fact.data["members"]) == ("dtype-mismatch", (), (0, 1))


def test_uneven_all_to_all_is_no_mismatch() -> None:
    world = Pg("0", "default_pg", (0, 1, 2, 3))
    mesh = Mesh(1, 4)
    programs = {rank: [Op(world, "all_to_all", 100 + rank), Op(world, "all_reduce", 5)] for rank in range(4)}
    mesh.groups = {"default_pg": dict.fromkeys(range(4), world)}
    job = run(mesh, programs, Faults())
    assert all(job.head[rank] == 0 for rank in range(4)), "the simulated device waits for equal sizes"
    assert verdicts(facts_of(job)) == {"transport-stall": set()}


@pytest.mark.parametrize("shape", [(4, 2, 1), (2, 2, 2), (2, 4, 1)], ids=str)
@pytest.mark.parametrize("ahead", [1, 6])
def test_groups_used_in_another_order_are_told_from_the_past(shape: tuple[int, int, int], ahead: int) -> None:
    mesh = Mesh(*shape)
    programs = programs_of(mesh)
    program = programs[2]
    at = index_of(program, desc="default_pg", nth=3)
    program[at - 1], program[at] = program[at], program[at - 1]
    assert verdicts(facts_of(run(mesh, programs, Faults(), ahead))) == {"order-mismatch": {2}}


@pytest.mark.parametrize("steps", [1, 4])
def test_half_of_a_circle_has_left_the_order_where_ranks_outside_tell_what_each_of_it_should_do(steps: int) -> None:
    """One node of four runs another program: its ranks are half of the circle that they make with their partners."""
    world, pairs = Pg("0", "default_pg", tuple(range(16))), {}
    for first in (*range(4), *range(8, 12)):
        group = Pg(str(first + 1), "shard", (first, first + 4))
        pairs |= {first: group, first + 4: group}
    mesh = Mesh(16, 1)
    mesh.groups = {"default_pg": dict.fromkeys(range(16), world), "shard": pairs}
    step = {rank: [Op(pairs[rank], "all_gather"), Op(pairs[rank], "reduce_scatter"), Op(world)] for rank in range(16)}
    swapped = {rank: [step[rank][0], step[rank][2], step[rank][1]] if 8 <= rank < 12 else step[rank] for rank in step}
    for beginning in (2, 3):
        programs = {rank: step[rank] * beginning + swapped[rank] * steps for rank in range(16)}
        assert verdicts(facts_of(run(mesh, programs, Faults(), ahead=1))) == {"order-mismatch": {8, 9, 10, 11}}


def test_a_cycle_of_groups_without_a_past_convicts_nobody() -> None:
    first, second = Pg("0", "a", (0, 1)), Pg("1", "b", (0, 1))
    mesh = Mesh(2, 1)
    mesh.groups = {"a": dict.fromkeys((0, 1), first), "b": dict.fromkeys((0, 1), second)}
    job = run(mesh, {0: [Op(first), Op(second)], 1: [Op(second), Op(first)]}, Faults(), ahead=1)
    (fact,) = match_collectives(facts_of(job))
    assert (fact.data["verdict"], fact.place.ranks, fact.data["members"]) == ("order-mismatch", (), (0, 1))


def test_one_of_four_that_uses_two_groups_the_other_way_round_is_alone() -> None:
    first, second = Pg("0", "a", (0, 1, 2, 3)), Pg("1", "b", (0, 1, 2, 3))
    mesh = Mesh(4, 1)
    mesh.groups = {"a": dict.fromkeys(range(4), first), "b": dict.fromkeys(range(4), second)}
    programs = {rank: [Op(first), Op(second)] for rank in range(4)}
    programs[1] = programs[1][::-1]
    assert verdicts(facts_of(run(mesh, programs, Faults(), ahead=1))) == {"order-mismatch": {1}}
    # all have issued both: what each waits in is not what it issued last
    (fact,) = match_collectives(facts_of(run(mesh, programs, Faults(), ahead=2)))
    assert (fact.data["culprit_frame"], fact.data["waiting_frame"]) == (
        "train_b (/job/train.py:40)",
        "train_a (/job/train.py:40)",
    )
    assert "rank 1 waits in train_b" in str(fact.data["description"])


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("kind", ["send", "recv"])
def test_a_transfer_that_one_end_left_out_is_blamed_on_that_end(kind: str, batches: bool) -> None:
    mesh = Mesh(2, 2, 2)
    programs = programs_of(mesh, batches=batches)
    del programs[1][index_of(programs[1], kind=kind, nth=3)]
    found = verdicts(facts_of(run(mesh, programs, Faults())))
    assert set().union(*found.values()) == {1}


def pipeline_of(ranks: int) -> tuple[Mesh, Pg]:
    mesh = Mesh(1, 1, ranks)
    group = mesh.groups["PIPELINE"][0]
    mesh.groups = {"PIPELINE": dict.fromkeys(range(ranks), group)}
    return mesh, group


def test_a_rank_that_never_receives_and_has_nothing_else_to_do_is_blamed() -> None:
    mesh, group = pipeline_of(2)
    send, receive = Op(group, peers=(("send", 1),)), Op(group, peers=(("recv", 0),))
    job = run(mesh, {0: [send] * 4, 1: [receive] * 3}, Faults(), ahead=1)
    assert verdicts(facts_of(job)) == {"p2p-missing": {1}}


def test_a_send_to_the_wrong_peer_is_blamed_on_its_sender_not_on_the_one_who_did_not_expect_it() -> None:
    mesh, group = pipeline_of(4)
    right, wrong = Op(group, peers=(("send", 1),)), Op(group, peers=(("send", 2),))
    programs = {0: [right] * 3 + [wrong], 1: [Op(group, peers=(("recv", 0),))] * 4, 2: [], 3: []}
    assert verdicts(facts_of(run(mesh, programs, Faults(), ahead=1))) == {"p2p-mismatch": {0}}


def test_two_ranks_that_both_send_first_deadlock_by_order_and_nobody_is_odd() -> None:
    mesh, group = pipeline_of(2)
    programs = {
        rank: [Op(group, peers=(("send", 1 - rank),)), Op(group, peers=(("recv", 1 - rank),))] for rank in (0, 1)
    }
    (fact,) = match_collectives(facts_of(run(mesh, programs, Faults(), ahead=1)))
    assert (fact.data["verdict"], fact.place.ranks, fact.data["members"]) == ("p2p-order", (), (0, 1))


def test_a_batch_of_transfers_has_no_order_and_does_not_deadlock() -> None:
    mesh, group = pipeline_of(2)
    both = {rank: [Op(group, peers=(("send", 1 - rank), ("recv", 1 - rank)), batch=True)] * 3 for rank in (0, 1)}
    assert verdicts(facts_of(run(mesh, both, Faults()))) == {"healthy": set()}


def test_a_device_that_lags_behind_what_its_peers_completed_is_stuck() -> None:
    mesh = Mesh(4, 2)
    programs = programs_of(mesh)
    job = run(mesh, programs, Faults(host={5: 40}))
    for one in job.issued[5][-3:]:
        one.done_ns = 0
    assert verdicts(facts_of(job)) == {"device-stuck": {5}}


def test_what_the_ring_lost_before_the_first_open_collective_may_be_open_too() -> None:
    """Hosts far ahead: the rings of some no longer hold the first collective of the world that is open, the status tells."""
    mesh = Mesh(2, 2)
    programs = {
        rank: ([Op(mesh.groups["TENSOR"][rank])] * (3 if rank < 2 else 30) + [Op(mesh.groups["default_pg"][rank])]) * 8
        for rank in range(mesh.size)
    }
    job = run(mesh, programs, Faults(host={2: len(programs[2]) // 2}), ahead=1 << 20)
    assert verdicts(facts_of(job, Recorder(ring=40))) == {"rank-missing": {2}}


def test_a_collective_that_all_but_one_saw_complete_is_partial() -> None:
    mesh = Mesh(4, 2)
    programs = programs_of(mesh)
    job = run(mesh, programs, Faults(unseen={2: index_of(programs[2], desc="TENSOR", nth=8)}), ahead=1)
    assert verdicts(facts_of(job)) == {"partial-completion": {2}}


def test_a_collective_that_all_joined_and_none_completed_convicts_nobody() -> None:
    mesh = Mesh(4, 2)
    (fact,) = match_collectives(facts_of(run(mesh, programs_of(mesh), Faults(stall={25}), ahead=1)))[:1]
    assert (fact.data["verdict"], fact.place.ranks, fact.data["culprits"]) == ("transport-stall", (), ())


@pytest.mark.parametrize("recorder", ["nccl", "timing", "wrapped ring", "torch 2.2", "torch 2.3", "hook"])
@pytest.mark.parametrize("batches", [False, True])
def test_a_job_that_ran_to_its_end_is_healthy(recorder: str, batches: bool) -> None:
    mesh = Mesh(2, 2, 2)
    job = run(mesh, programs_of(mesh, batches=batches), Faults(), skew_ns=400 * MS)
    assert verdicts(facts_of(job, RECORDERS[recorder])) == {"healthy": set()}


def test_groups_that_stand_apart_with_nothing_outstanding_hang_outside_collectives() -> None:
    mesh = Mesh(2, 2)
    programs = programs_of(mesh)
    job = run(mesh, programs, Faults())
    del job.issued[3][-1]
    (fact,) = match_collectives(facts_of(job))
    assert (fact.data["verdict"], fact.place.ranks, fact.place.group) == ("outside", (), "default_pg")


def test_dumps_that_were_written_one_after_the_other_are_no_picture_of_one_moment() -> None:
    mesh = Mesh(8, 1)
    facts = [
        facts_of(run(mesh, programs_of(mesh, steps=20), Faults(until=400 + 40 * rank)), Recorder(timing=True))[rank]
        for rank in range(8)
    ]
    assert {rank for fact in match_collectives(facts) for rank in fact.place.ranks} == set()


def test_the_rank_that_its_peers_always_wait_for_is_a_straggler_though_its_neighbours_come_late_too() -> None:
    mesh = Mesh(2, 2)
    job = run(mesh, programs_of(mesh, steps=20), Faults())
    for rank, issued in job.issued.items():
        for one in issued:
            late = rank == 3 or (rank == 2 and one.op.group.desc == "DATA")
            one.started_ns = one.done_ns - (1 if late else 40) * MS
    assert verdicts(facts_of(job, Recorder(timing=True))) == {"straggler": {3}}


@pytest.mark.parametrize("shape", [(4, 2, 1), (2, 2, 2), (1, 4, 2)], ids=str)
def test_a_missing_dump_convicts_nobody_and_is_named(shape: tuple[int, int, int]) -> None:
    mesh = Mesh(*shape)
    programs = programs_of(mesh)
    job = run(mesh, programs, Faults(host={1: len(programs[1]) // 2}))
    found = match_collectives(facts_of(job, without=[1]))
    assert {(f.place.ranks, f.data["missing_dumps"], f.data["verdict"]) for f in found} == {((), (1,), "rank-missing")}


@pytest.mark.parametrize("recorder", ["nccl", "timing", "open entries only", "torch json", "hook"])
def test_without_some_dumps_nobody_else_is_blamed(recorder: str) -> None:
    chance = random.Random(recorder)
    for shape in MESHES:
        mesh = Mesh(*shape)
        programs = programs_of(mesh, batches=chance.random() < 0.5)
        culprits = set(chance.sample(range(mesh.size), 2))
        faults = Faults(host=dict.fromkeys(culprits, chance.randrange(20, 40)))
        job = run(mesh, programs, faults, chance.choice([1, 4]))
        for _ in range(3):
            without = chance.sample(range(mesh.size), chance.choice([1, 2]))
            found = verdicts(facts_of(job, RECORDERS[recorder], without))
            assert set().union(*found.values()) <= culprits


def test_a_culprit_whose_open_entries_are_none_is_found_by_its_status_alone() -> None:
    mesh = Mesh(2, 2)
    job = run(mesh, programs_of(mesh), Faults(host={2: 20}))
    facts = facts_of(job, Recorder(active_only=True))
    assert next(fact for fact in facts if fact.place.rank == 2).data["entries"] == 0
    assert verdicts(facts) == {"rank-missing": {2}}


def test_a_dump_of_an_earlier_attempt_is_left_out_and_said_to_be() -> None:
    mesh = Mesh(2, 2)
    job = run(mesh, programs_of(mesh), Faults(host={2: 20}))
    old = run(mesh, programs_of(mesh), Faults(host={1: 8}))
    for issued in old.issued.values():
        for one in issued:
            one.at_ns -= 3 * 3600 * 1000 * MS
    facts = [*facts_of(job, without=[1]), *(fact for fact in facts_of(old) if fact.place.rank == 1)]
    assert verdicts(facts) == {"rank-missing": {2}, "stale-dump": set()}


def test_a_host_whose_clock_is_hours_off_is_not_stale() -> None:
    mesh = Mesh(2, 2)
    job = run(mesh, programs_of(mesh), Faults(host={2: 20}), skew_ns=2 * 3600 * 1000 * MS)
    assert verdicts(facts_of(job)) == {"rank-missing": {2}}


def test_a_dump_of_another_job_is_left_out() -> None:
    mesh, other = Mesh(4, 2), Mesh(2, 4)
    facts = facts_of(run(mesh, programs_of(mesh), Faults(host={6: 30})), without=[1])
    other.groups.pop("default_pg")
    foreign = run(other, {rank: [Op(other.groups["TENSOR"][rank])] * 9 for rank in range(8)}, Faults(host={1: 3}))
    facts += [fact for fact in facts_of(foreign) if fact.place.rank == 1]
    assert verdicts(facts) == {"rank-missing": {6}, "stale-dump": set()}


def test_attempts_are_matched_apart() -> None:
    mesh = Mesh(2, 2)
    found = []
    for attempt, culprit in ((0, 1), (1, 3)):
        job = run(mesh, programs_of(mesh), Faults(host={culprit: 20}))
        dumps = {rank: encoded(dump_of(job, rank, Recorder()), "pickle") for rank in range(4)}
        found += [fact_of(data, rank, f"{attempt}/{rank}", attempt=attempt) for rank, data in dumps.items()]
    facts = match_collectives(found)
    assert [(fact.place.attempt, fact.place.ranks) for fact in facts] == [(0, (1,)), (1, (3,))]


def test_the_same_dump_under_two_names_changes_nothing() -> None:
    mesh = Mesh(2, 2)
    job = run(mesh, programs_of(mesh), Faults(host={2: 20}))
    copies = [fact_of(encoded(dump_of(job, rank, Recorder()), "pickle"), rank, f"copy_{rank}") for rank in range(4)]
    assert verdicts([*facts_of(job), *copies]) == {"rank-missing": {2}}


def test_sequence_numbers_skewed_by_batches_do_not_mislead() -> None:
    """Two ranks exchange batches in the group of their collectives, and so use up more numbers than the other two."""
    group = Pg("0", "default_pg", (0, 1, 2, 3))
    mesh = Mesh(4, 1)
    mesh.groups = {"default_pg": dict.fromkeys(range(4), group)}
    swap = {rank: Op(group, peers=(("send", 1 - rank), ("recv", 1 - rank)), batch=True) for rank in (0, 1)}
    step = [Op(group, "all_reduce", 7), Op(group, "_all_gather_base", 8), Op(group, "_reduce_scatter_base", 9)]
    programs = {rank: ([swap[rank]] if rank < 2 else []) + step for rank in range(4)}
    programs = {rank: program * 10 for rank, program in programs.items()}
    for ring in (2000, 20):
        for recorder in (Recorder(ring=ring), Recorder(ring=ring, active_only=True)):
            job = run(mesh, programs, Faults(stall={len(programs[0]) + 1}))
            assert verdicts(facts_of(job, recorder)) == {"healthy": set()}
            stopped = run(mesh, programs, Faults(host={3: 17}), ahead=1)
            assert verdicts(facts_of(stopped, recorder)) == {"rank-missing": {3}}


def test_ranks_that_never_used_a_group_do_not_list_it_and_have_not_come() -> None:
    mesh = Mesh(2, 1)
    job = run(mesh, programs_of(mesh), Faults(host={1: 0}), ahead=1)
    facts = []
    for rank in (0, 1):
        dump = dump_of(job, rank, Recorder(version="2.1"))
        used = {entry["process_group"][0] for entry in dump["entries"]} | {"0"}
        dump["pg_config"] = {name: group for name, group in dump["pg_config"].items() if name in used}
        facts.append(fact_of(encoded(dump, "pickle"), rank))
    assert verdicts(facts) == {"rank-missing": {1}}


def test_the_fact_says_where_the_culprit_stood_and_what_the_others_wait_in() -> None:
    mesh = Mesh(2, 2)
    (fact,) = match_collectives(facts_of(run(mesh, programs_of(mesh), Faults(host={2: 20}))))
    assert fact.kind == "collective"
    assert fact.data.keys() <= KINDS["collective"].fields.keys()
    assert (fact.place.rank, fact.place.ranks, fact.place.group) == (2, (2,), "TENSOR")
    assert fact.data["waiting"] == (0, 1, 3)
    assert str(fact.data["culprit_frame"]).startswith("train_")
    assert "/job/train.py:40" in str(fact.data["waiting_frame"])
    assert fact.span.path.endswith("rank_2")
    assert "rank 2" in str(fact.data["description"])


def test_facts_that_travelled_as_json_give_the_same_verdict() -> None:
    mesh = Mesh(2, 2, 2)
    facts = facts_of(run(mesh, programs_of(mesh), Faults(host={2: 30})))
    travelled = [msgspec.structs.replace(fact, data=json.loads(json.dumps(dict(fact.data)))) for fact in facts]
    assert match_collectives(travelled) == match_collectives(facts)


def test_no_facts_and_facts_without_a_rank_say_nothing() -> None:
    mesh = Mesh(2, 2)
    job = run(mesh, programs_of(mesh), Faults(), ahead=1)
    unknown = fact_of(encoded(dump_of(job, 0, Recorder(version="2.2")), "pickle"), None)
    assert unknown.place.rank is None
    assert match_collectives(()) == ()
    assert match_collectives((unknown,)) == ()


def test_an_isolated_dump_of_a_waiting_rank_convicts_nobody() -> None:
    mesh = Mesh(4, 2)
    job = run(mesh, programs_of(mesh), Faults(host={1: 30}))
    for rank in range(8):
        (fact,) = match_collectives(facts_of(job, without=set(range(8)) - {rank}))[:1]
        assert fact.place.ranks == ()


def rank_in_world(rank: int, size: int, issued: int) -> Fact:
    """A dump of a rank that has completed 9 all-reduces of the world, and issued `issued`."""
    done = Operation(8, "collective", "all_reduce", 9, 8, "completed", 5, 5, "Float", START_NS + 8, 1)
    waits = Operation(9, "collective", "all_reduce", 10, 9, "scheduled", 5, 5, "Float", START_NS + 9, -1)
    world = GroupRecord(
        *("0", "default_pg", 0, f"0-{size - 1}", issued, -1, 9, True, False, issued, True, False, False),
        recent=(done,),
        pending=(waits,) * (issued - 9),
        transfers=(),
        pending_transfers=(),
        pairs=(),
    )
    data = {"entries": issued, "whole": True, "issued": issued, "last_ns": START_NS + issued, "groups": (world,)}
    return Fact("fr-rank", data, Place(rank=rank), Span(f"trace_{rank}"), str(rank))


def test_thirty_thousand_ranks_in_one_group_take_seconds_not_hours() -> None:
    size = 32_768
    facts = [rank_in_world(rank, size, 9 if rank == 4711 else 10) for rank in range(size)]
    begin = time.process_time()
    (fact,) = match_collectives(facts)
    assert (fact.data["verdict"], fact.place.ranks, len(fact.data["waiting"])) == ("rank-missing", (4711,), size - 1)  # type: ignore[arg-type]
    assert time.process_time() - begin < 10
