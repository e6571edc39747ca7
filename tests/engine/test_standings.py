"""Who is waited for by the words of watchdogs, reports, the runtime and traces, with and without dumps."""

from __future__ import annotations

import random

import pytest
from fr_simulator import Faults, Mesh, Op, Pg, facts_of, run
from msgspec.structs import replace

from neuron_doctor.engine.facts import NOWHERE, Clock, Fact, Instant, Place, Source, Span, Value
from neuron_doctor.engine.recorder import COLLECTIVE, GroupRecord, Operation
from neuron_doctor.engine.standings import Standings, match_standings
from neuron_doctor.engine.topology import Topology


def said(rank: int | None, *, at: int = 0, ranks: tuple[int, ...] = (), host: str = "a", **data: Value) -> Fact:
    """What rank `rank` says at byte `at` of its log; of `ranks`, where it speaks of others."""
    path = f"rank_{rank}.log"
    place = Place(host=host, rank=rank, ranks=ranks)
    return Fact("stand", {"witness": "watchdog", **data}, place, Span(path, at, 10, 1, 1, "", f"{path}{at}"), path)


def waits(
    rank: int, sequence: int, *, pg: str = "0", place: int | None = None, op: str = "ALLREDUCE", n: int = 64
) -> list[Fact]:
    """Both lines of a watchdog that gives up, as torch 2.5 writes them."""
    group: dict[str, Value] = {"pg": pg, "pg_id": 0 if pg == "0" else 1, "group_rank": rank if place is None else place}
    status: dict[str, Value] = {"last_enqueued": sequence, "last_completed": sequence - 1}
    work: dict[str, Value] = {"sequence": sequence, "operation": op, "numel_in": n, "numel_out": n}
    return [said(rank, waits=True, **work), said(rank, at=100, waits=True, sequence=sequence, **group, **status)]


def informed(rank: int, enqueued: int, completed: int | None = None) -> Fact:
    """A rank that was told of the time-out of another one."""
    done = enqueued if completed is None else completed
    return said(rank, waits=False, pg="0", pg_id=0, group_rank=rank, last_enqueued=enqueued, last_completed=done)


def report(text: str, attempt: int | None = None, rank: int = 0) -> Fact:
    path = f"rank_{rank}.log"
    return Fact("hang-report", {"what": text}, Place(rank=rank, attempt=attempt), Span(path, 5, 5), path)


def standings(facts: list[Fact], world: int | None = None, logged: tuple[int, ...] = ()) -> Standings:
    sources = [Source(f"log{rank}", f"rank_{rank}.log", "log", records=9, place=Place(rank=rank)) for rank in logged]
    return match_standings(facts, sources, Topology(world_size=world))


def found(
    facts: list[Fact], world: int | None = None, logged: tuple[int, ...] = ()
) -> list[tuple[object, object, object]]:
    collectives = standings(facts, world, logged).collectives
    return [(f.data["verdict"], f.data["culprits"], f.data["witness"]) for f in collectives]


def test_an_informed_rank_that_stands_behind_is_convicted() -> None:
    facts = [fact for rank in (0, 1, 3) for fact in waits(rank, 412)] + [informed(2, 411)]
    assert found(facts, 4) == [("rank-missing", (2,), "watchdog")]
    assert found(facts) == [("rank-missing", (2,), "watchdog")]


def test_an_informed_rank_that_enqueued_it_too_is_no_culprit() -> None:
    facts = [fact for rank in (0, 1, 3) for fact in waits(rank, 412)] + [informed(2, 412, 411)]
    assert found(facts, 4) == [("transport-stall", (), "watchdog")]


def test_a_collective_of_which_no_watchdog_tells_the_sizes_may_differ_in_them() -> None:
    facts = [fact for rank in range(4) for fact in waits(rank, 412, n=-1)]
    assert found(facts, 4) == [], "a stall of the network, or not"


def test_where_the_size_of_the_world_is_unknown_nobody_says_that_all_have_come() -> None:
    assert found([fact for rank in range(4) for fact in waits(rank, 412)]) == []


def test_a_rank_whose_peers_left_dumps_that_nothing_names_has_not_come_with_all_of_them() -> None:
    world = Pg("0", "default_pg", tuple(range(8)))
    job = run(Mesh(8, 1), {rank: [Op(world)] * 9 for rank in range(8)}, Faults(stall={5}))
    nameless = [replace(fact, place=NOWHERE) for fact in facts_of(job)[:2]]
    assert [verdict for verdict, *_ in found([*nameless, *waits(3, 5)])] == ["undecided"]


def test_a_silent_rank_is_convicted_only_beside_its_log_and_when_all_others_wait() -> None:
    facts = [fact for rank in (0, 1, 3) for fact in waits(rank, 412)]
    assert found(facts, 4, logged=(0, 1, 2, 3)) == [("rank-missing", (2,), "silence")]
    assert found(facts, 4, logged=(0, 1, 3)) == [("rank-missing", (), "watchdog")]
    assert found(facts, 5, logged=(0, 1, 2, 3, 4)) == [("rank-missing", (), "watchdog")]


def test_the_minority_of_operations_and_sizes_is_named_and_nobody_in_a_tie() -> None:
    odd_operation = [f for r in range(4) for f in waits(r, 9, op="BROADCAST" if r == 1 else "ALLREDUCE")]
    odd_size = [f for r in range(4) for f in waits(r, 9, n=63 if r == 1 else 64)]
    tie = [f for r in range(4) for f in waits(r, 9, n=63 if r < 2 else 64)]
    assert found(odd_operation, 4) == [("op-mismatch", (1,), "watchdog")]
    assert found(odd_size, 4) == [("size-mismatch", (1,), "watchdog")]
    assert found(tie, 4) == [("size-mismatch", (), "watchdog")]


def test_a_rank_one_behind_lost_a_message_and_one_far_behind_has_a_stuck_device() -> None:
    others = [fact for rank in (0, 1, 2) for fact in waits(rank, 412)]
    assert found(others + waits(3, 411), 4) == [("partial-completion", (3,), "watchdog")]
    assert found(others + waits(3, 400), 4) == [("device-stuck", (3,), "watchdog")]


def test_the_chain_through_a_tensor_parallel_group_ends_at_its_missing_place() -> None:
    group = [
        fact for place, rank in enumerate((4, 5, 6, 7)) if rank != 5 for fact in waits(rank, 90, pg="2", place=place)
    ]
    world = [fact for rank in range(4) for fact in waits(rank, 7)]
    assert found([*group, *world, informed(5, 6)], 8) == [("rank-missing", (5,), "watchdog")]


def test_members_that_stand_in_no_line_are_not_guessed() -> None:
    group = [fact for place, rank in ((0, 0), (1, 1), (3, 9)) for fact in waits(rank, 90, pg="2", place=place)]
    assert found([*group, informed(8, 6)], 10) == []


def test_many_informed_ranks_may_wait_for_one_of_them_unseen() -> None:
    facts = [fact for rank in range(4, 8) for fact in waits(rank, 7)] + [informed(rank, 6) for rank in range(4)]
    assert all(culprits == () for _, culprits, _ in found(facts, 8))
    few = [fact for rank in range(2, 8) for fact in waits(rank, 7)] + [informed(rank, 6) for rank in range(2)]
    assert found(few, 8) == [("rank-missing", (0, 1), "watchdog")]


def test_numbers_of_process_local_groups_are_not_compared() -> None:
    def local(rank: int, sequence: int) -> Fact:
        return said(rank, waits=True, pg="1", group_rank=rank % 2, sequence=sequence, last_enqueued=sequence)

    assert found([local(0, 90), local(1, 90), local(2, 100), local(3, 100)], 4) == []


def test_point_to_point_operations_are_not_counted_as_collectives() -> None:
    facts = [fact for rank in (0, 1) for fact in waits(rank, 40 + rank, pg="3", place=rank, op="RECV")]
    assert found(facts, 2) == []


def test_a_completed_number_that_was_never_set_is_no_number() -> None:
    facts = [
        said(r, waits=True, pg="0", group_rank=r, sequence=31, last_enqueued=31, last_completed=76280750235782912)
        for r in range(3)
    ]
    assert found([*facts, said(3, waits=False, pg="0", group_rank=3, last_enqueued=30, last_completed=30)], 4) == [
        ("rank-missing", (3,), "watchdog")
    ]


def test_a_peer_names_the_rank_in_a_desync_report_and_lends_it_no_host() -> None:
    named = said(
        0, at=300, ranks=(3,), host="peer", witness="desync", waits=False, named=True, last_completed=40, sequence=41
    )
    facts = [fact for rank in (0, 1, 2) for fact in waits(rank, 41)] + [replace(named, instant=Instant(5, Clock.UTC))]
    [fact] = standings(facts, 4).collectives
    assert (fact.data["verdict"], fact.data["culprits"], fact.data["witness"]) == ("rank-missing", (3,), "desync")
    assert (fact.place.host, fact.instant) == (None, None)


def test_the_time_at_which_others_gave_up_is_none_of_the_silent_ranks_clock() -> None:
    facts = [replace(fact, instant=Instant(5, Clock.HOST_LOCAL)) for rank in (0, 1, 3) for fact in waits(rank, 412)]
    [fact] = standings(facts, 4, logged=(2,)).collectives
    assert (fact.place.rank, fact.place.host, fact.instant) == (2, None, None)


def test_the_rank_between_two_operations_is_the_one_that_the_others_wait_for() -> None:
    others = [said(r, witness="runtime", waits=True, sequence=71, total=140) for r in (0, 1, 2)]
    odd = said(3, witness="runtime", waits=False, last_completed=70, sequence=71, total=140)
    assert found([*others, odd]) == [("device-stuck", (3,), "runtime")]
    assert found(others) == []
    elsewhere = said(4, witness="runtime", waits=True, sequence=60, total=140)
    assert found([*others, odd, elsewhere]) == []


def test_the_call_that_was_not_left_tells_only_where_somebody_hangs() -> None:
    loading = [said(r, at=50, witness="api", waits=True, operation="nrt_load_collectives") for r in range(3)]
    done = said(3, at=60, witness="api", waits=False)
    assert found([*loading, done]) == []
    assert found([*loading, done, report("retry")]) == [("rank-missing", (3,), "api")]
    left = [said(r, at=70, witness="api", waits=False) for r in range(3)]
    assert found([*loading, *left, done, report("retry")]) == []


def test_a_rank_that_got_on_does_not_wait() -> None:
    facts = [fact for rank in (0, 1, 3) for fact in waits(rank, 412)] + [informed(2, 411)]
    steps = [
        Fact("progress", {"what": "step", "value": 9.0}, Place(rank=r), Span(f"rank_{r}.log", 900, 5), f"rank_{r}.log")
        for r in range(4)
    ]
    assert found(facts + steps, 4) == []


def event(rank: int, name: str, number: int, *, complete: bool = True) -> Fact:
    data: dict[str, Value] = {"event": name, "complete": complete, "exec_id": number}
    return Fact("ndet-event", data, Place(rank=rank), Span("trace.json", rank * 100 + number, 9), "trace")


def test_the_rank_that_never_came_to_an_execution_of_the_trace() -> None:
    others = [event(rank, "cc_exec_barrier", 39, complete=False) for rank in (0, 1, 3)]
    assert found([*others, event(2, "nc_exec", 38)]) == [("rank-missing", (2,), "ndet")]
    assert found([*others, event(2, "nc_exec", 12)]) == []
    assert found([*others, event(2, "nc_exec", 38), event(2, "nc_exec", 39, complete=False)]) == []


def test_a_single_rank_that_has_nothing_open_is_waited_for_though_it_ended_an_execution_of_that_number() -> None:
    others = [event(rank, "cc_op_exec", 39, complete=False) for rank in (0, 1, 3)]
    assert found([*others, event(2, "nc_exec", 39)]) == [("rank-missing", (2,), "ndet")]
    assert found([*others[:2], event(2, "nc_exec", 39)]) == []
    assert found([*others, event(2, "nc_exec", 39), event(4, "nc_exec", 39)]) == []


def dump(rank: int, issued: int, done: int) -> Fact:
    pending = tuple(
        Operation(n, COLLECTIVE, "all_reduce", n, n - done - 1, "scheduled", 64, 64, "Float", 1, -1)
        for n in range(done + 1, issued + 1)
    )
    group = GroupRecord(
        "0", "default_pg", 0, "0-3", issued, -1, done, True, False, len(pending), True, False, False, (), pending, (), (), ()
    )  # fmt: skip
    counts: dict[str, Value] = {"entries": len(pending), "issued": 0, "first_ns": 0, "last_ns": 0}
    data: dict[str, Value] = {**counts, "version": "2.10", "dialect": "json", "whole": False, "groups": (group,)}
    return Fact("fr-rank", data, Place(rank=rank), Span(f"trace_{rank}", 0, 9), f"trace_{rank}")


def test_words_stand_for_the_dump_that_a_rank_did_not_leave() -> None:
    dumps = [dump(rank, 412, 411) for rank in (0, 1, 3)]
    assert found(dumps, 4) == [("rank-missing", (), "recorder")]
    assert found([*dumps, informed(2, 411)], 4) == [("rank-missing", (2,), "recorder")]
    assert found([*dumps, *waits(2, 412)], 4) == [("transport-stall", (), "recorder")]


def test_the_dumps_of_the_last_attempt_decide() -> None:
    facts = [
        replace(
            dump(rank, 4 if rank == culprit else 5, 4), place=Place(rank=rank, attempt=attempt), source=f"{attempt}"
        )
        for attempt, culprit in ((0, 1), (1, 2))
        for rank in range(4)
    ]
    told = [(fact.data["verdict"], fact.place.ranks, fact.place.attempt) for fact in standings(facts).collectives]
    assert told == [("rank-missing", (2,), 1), *[("stale-dump", (), 0)] * 4]


def test_what_the_words_alone_say_is_kept_apart_from_the_dumps() -> None:
    dumps = [dump(rank, 412, 411) for rank in (0, 1, 3)] + [dump(2, 411, 411)]
    words = [fact for rank in (0, 2, 3) for fact in waits(rank, 412)] + [informed(1, 411)]
    both = standings([*dumps, *words], 4)
    assert [fact.data["culprits"] for fact in both.collectives] == [(2,)]
    assert [fact.data["culprits"] for fact in both.told] == [(1,)]


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_facts_changes_nothing(seed: int) -> None:
    group = [
        fact for place, rank in enumerate((4, 5, 6, 7)) if rank != 5 for fact in waits(rank, 90, pg="2", place=place)
    ]
    facts = [*group, *(fact for rank in range(4) for fact in waits(rank, 7)), informed(5, 6), dump(0, 7, 6)]
    mixed = random.Random(seed).sample(facts, len(facts))
    assert standings(mixed, 8) == standings(facts, 8)
