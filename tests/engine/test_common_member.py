"""A rank without a dump: convicted where two groups wait for it of which neither can hold up the other."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from builders import source
from fr_simulator import START_NS, fact_of
from msgspec.structs import replace

from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span
from neuron_doctor.engine.snapshots import questioned

RANKS, SIDE, STEPS = 16, 4, 3


def group_of(part: str, rank: int) -> tuple[str, list[int]]:
    if part == "TP":
        first = rank // SIDE * SIDE
        return f"tp{first}", list(range(first, first + SIDE))
    if part == "DP":
        return f"dp{rank % SIDE}", list(range(rank % SIDE, RANKS, SIDE))
    return "0", list(range(RANKS))


def dump(rank: int, standing: set[str], *, issued: int = 3, steps: int = STEPS) -> Fact:
    """The dump of a rank that issues its reductions one after the other without a wait between; the last ones of the groups
    `standing` have started and not ended."""
    entries: list[dict[str, Any]] = []
    config = {}
    for step in range(steps):
        for part in ("DP", "TP", "default_pg")[: issued if step == STEPS - 1 else 3]:
            name, ranks = group_of(part, rank)
            config[name] = {"name": name, "desc": part, "ranks": str(ranks)}
            done = step < STEPS - 1 or name not in standing
            at = START_NS + len(entries) * 10**6
            entries.append(
                {"record_id": len(entries), "pg_id": len(part), "process_group": [name, part], "collective_seq_id": step + 1,
                 "p2p_seq_id": 0, "op_id": step + 1, "profiling_name": "nccl:all_reduce", "time_created_ns": at,
                 "input_sizes": [[64]], "input_dtypes": ["Float"], "output_sizes": [[64]], "output_dtypes": ["Float"],
                 "state": "completed" if done else "started", "time_discovered_started_ns": at + 1000,
                 "time_discovered_completed_ns": at + 5000 if done else None, "retired": done, "is_p2p": False}
            )  # fmt: skip
    data = {"version": "2.10", "pg_config": config, "pg_status": {}, "entries": entries}
    return fact_of(pickle.dumps(data, 2), rank)


def told(facts: list[Fact]) -> dict[str, tuple[int, ...]]:
    return {str(fact.data["verdict"]): fact.place.ranks for fact in match_collectives(facts)}


def without(rank: int, standing: set[str]) -> list[Fact]:
    return [dump(one, standing) for one in range(RANKS) if one != rank]


def test_the_one_member_of_two_groups_that_stand_apart_is_what_they_wait_for() -> None:
    assert told(without(9, {"dp1", "tp8", "0"})) == {"rank-missing": (9,)}


@pytest.mark.parametrize(
    "standing",
    [
        {"tp8", "0"},  # one group: any of its members may be stuck, and its dump merely lost
        {"dp1", "0"},
        {"0"},
        {"dp1", "tp8", "tp0", "0"},  # another group stands that it has no part in
    ],
)
def test_a_dump_that_may_merely_be_lost_convicts_nobody(standing: set[str]) -> None:
    assert set().union(*map(set, told(without(9, standing)).values())) == set()


def test_ranks_that_did_not_go_on_may_be_held_up_by_the_first_group() -> None:
    held = [dump(rank, {"dp1", "tp8", "0"}, issued=1 if rank % SIDE == 1 else 3) for rank in range(RANKS) if rank != 9]
    assert 9 not in set().union(*map(set, told(held).values()))


def test_an_old_dump_of_it_leaves_it_open() -> None:
    facts = without(9, {"dp1", "tp8", "0"})
    old = dump(9, set(), steps=1)
    old = replace(old, data={**old.data, "last_ns": START_NS - 86_400 * 10**9})
    assert told([*facts, old])["rank-missing"] == ()


def test_beside_the_log_of_a_job_in_which_nobody_gave_up_it_may_just_be_late() -> None:
    facts = without(9, {"dp1", "tp8", "0"})
    found = [
        Fact(one.kind, {**one.data, "witness": "recorder"}, one.place, one.span, one.source)
        for one in match_collectives(facts)
    ]
    log = (source("train.log", first=0, last=1, rank=0),)
    assert [one.data["verdict"] for one in questioned(found, facts, log)] == ["unproven"]
    gave_up = Fact("hang-report", {"what": "watchdog"}, Place(), Span("w"), "w", Instant(START_NS, Clock.UTC))
    assert [one.data["verdict"] for one in questioned(found, [*facts, gave_up], log)] == ["rank-missing"]
