"""A transfer that went to a rank which has no end for it: who waits behind it is a victim, whatever it issued since."""

from __future__ import annotations

import pytest
from fr_simulator import Pg, encoded, fact_of
from test_collectives import verdicts

from neuron_doctor.engine.dumps import selections
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.gatherings import waits
from neuron_doctor.engine.hang import Hang, hang_of
from neuron_doctor.engine.process_groups import process_groups
from neuron_doctor.engine.strangers import without_victims_of_strangers

WORLD = Pg("0", "default_pg", tuple(range(8)))
PIPELINES = (Pg("1", "PIPELINE", (0, 2, 4, 6)), Pg("2", "PIPELINE", (1, 3, 5, 7)))

#: What a rank issued: `send 3` or `recv 3` by the global rank of its peer, or `tensor`; with `!` where it is still open.
_Rows = list[str]


def rounds(rank: int, times: int) -> _Rows:
    """A stage takes from the one before, works with its neighbour, hands on, and has the gradient back."""
    before, after = ([f"recv {rank - 2}"] if rank > 1 else []), ([f"send {rank + 2}"] if rank < 6 else [])
    back = ([f"recv {rank + 2}"] if rank < 6 else []) + ([f"send {rank - 2}"] if rank > 1 else [])
    return [*before, "tensor", *after, *back] * times


def fact(rank: int, rows: _Rows, *, backend: str, by_world: bool = False, lost: int = 5) -> Fact:
    """The dump of a rank whose ring has lost its first entries."""
    tensor = Pg(str(3 + rank // 2), "TENSOR", (rank // 2 * 2, rank // 2 * 2 + 1))
    pipeline = WORLD if by_world else PIPELINES[rank % 2]
    numbers = {WORLD.name: 0, pipeline.name: 0, tensor.name: 0}
    entries = []
    for at, what in enumerate(rows):
        group = tensor if what.startswith("tensor") else pipeline
        kind, _, peer = what.rstrip("!").partition(" ")
        arrow = "->" if kind == "send" else "<-"
        ends = f"{group.ranks.index(rank)}{arrow}{group.ranks.index(int(peer))}" if peer else ""
        numbers[group.name] += 1
        state = "scheduled" if what.endswith("!") else "completed"
        entries.append({
            "record_id": at, "pg_id": list(numbers).index(group.name), "process_group": (group.name, group.desc),
            "collective_seq_id": 0 if peer else numbers[group.name], "p2p_seq_id": numbers[group.name] if peer else 0,
            "op_id": at, "profiling_name": f"{backend}:{kind} {ends}" if peer else f"{backend}:all_reduce",
            "time_created_ns": 1_758_610_505_000_000_000 + at * 1_000_000, "input_sizes": [[64]], "input_dtypes": ["BFloat16"],
            "output_sizes": [[64]], "output_dtypes": ["BFloat16"], "state": state, "time_discovered_started_ns": None,
            "time_discovered_completed_ns": None, "retired": state == "completed", "timeout_ms": 600_000, "is_p2p": bool(peer),
        })  # fmt: skip
    known = {group.name: group for group in (WORLD, pipeline, tensor)}
    config = {g.name: {"name": g.name, "desc": g.desc, "ranks": str(list(g.ranks))} for g in known.values()}
    content = {"version": "2.10", "pg_config": config, "pg_status": {}, "entries": entries[lost:]}
    return fact_of(encoded(content, "pickle"), rank)


#: Rank 3 hands on to rank 7 what is rank 5's: both still have the gradient of the round before on its way.
ASTRAY: dict[int, _Rows] = {
    0: [*rounds(0, 6), "tensor", "send 2", "recv 2!"],
    1: [*rounds(1, 6), "tensor", "send 3", "recv 3!"],
    2: [*rounds(2, 6), "recv 0", "tensor", "send 4", "recv 4", "send 0", "tensor!"],
    3: [*rounds(3, 6), "recv 1", "tensor", "send 7!", "recv 5"],
    4: [*rounds(4, 6), "recv 2", "send 2", "tensor!"],
    5: [*rounds(5, 6), "recv 3!", "send 3"],
    6: [*rounds(6, 6), "recv 4!"],
    7: [*rounds(7, 6), "recv 5!"],
}


@pytest.mark.parametrize("by_world", [False, True])
def test_who_sends_past_the_next_stage_is_convicted_and_not_who_waits_for_it(by_world: bool) -> None:
    facts = [fact(rank, rows, backend="neuron", by_world=by_world) for rank, rows in ASTRAY.items()]
    assert verdicts(facts) == {"p2p-mismatch": {3}}


def test_who_receives_from_past_the_stage_before_is_convicted() -> None:
    rows = ASTRAY | {
        3: [*rounds(3, 6), "recv 1", "tensor", "send 5!", "recv 5"],
        5: [*rounds(5, 6), "recv 1!", "send 3"],
    }
    facts = [fact(rank, own, backend="neuron") for rank, own in rows.items()]
    assert verdicts(facts) == {"p2p-mismatch": {5}}


def test_without_the_dump_of_who_sent_astray_nobody_is_convicted() -> None:
    facts = [fact(rank, rows, backend="neuron") for rank, rows in ASTRAY.items() if rank != 3]
    assert not any(verdicts(facts).values())


def test_a_send_of_nccl_that_is_over_tells_that_what_stands_before_it_between_the_two_is_over() -> None:
    rows = ["recv 3!", "send 3"]
    [nccl, other] = [fact(5, rows, backend=backend, lost=0).data["groups"] for backend in ("nccl", "neuron")]
    opened = [[one.kind for group in groups for one in group.pending_transfers] for groups in (nccl, other)]
    assert opened == [[], ["recv"]]


def hang_where_one_sent_astray() -> Hang:
    [selected] = selections([fact(rank, rows, backend="neuron") for rank, rows in ASTRAY.items()])
    groups = process_groups(selected.dumps)
    return hang_of(groups, selected.dumps, waits(groups, selected.dumps))


@pytest.mark.parametrize("verdict", ["p2p-missing", "p2p-order", "order-mismatch"])
def test_of_a_circle_in_which_one_waits_for_a_stranger_no_other_is_convicted_by_its_order(verdict: str) -> None:
    hang = hang_where_one_sent_astray()
    [freed] = without_victims_of_strangers(hang, [Blame(verdict, "left the order", (5,))], range(8))
    [kept] = without_victims_of_strangers(hang, [Blame(verdict, "left the order", (3, 5))], range(8))
    assert (freed.culprits, freed.members, freed.verdict) == ((), (3, 5), verdict)
    assert (kept.culprits, kept.verdict) == ((3,), "p2p-mismatch")


def test_what_is_told_of_arguments_holds_whoever_waits_for_a_stranger() -> None:
    differing = Blame("size-mismatch", "issued another size", (5,))
    assert without_victims_of_strangers(hang_where_one_sent_astray(), [differing], range(8)) == [differing]


def test_a_small_send_that_is_gone_before_anybody_received_it_makes_a_stranger_too() -> None:
    rows = {0: ["send 2", "send 2", "send 6"], 2: ["recv 0", "recv 0"], 6: ["send 4!"], 4: []}
    [selected] = selections([fact(rank, own, backend="nccl", lost=0) for rank, own in rows.items()])
    groups = process_groups(selected.dumps)
    hang = hang_of(groups, selected.dumps, waits(groups, selected.dumps))
    [freed] = without_victims_of_strangers(hang, [Blame("p2p-missing", "left out a transfer", (4,))], range(8))
    assert freed.culprits == ()


def test_a_stranger_of_another_circle_frees_nobody_nor_one_that_is_itself_stuck_before() -> None:
    hang = hang_where_one_sent_astray()
    elsewhere, before = Blame("p2p-order", "left the order", (5,)), Blame("p2p-order", "left the order", (7,))
    assert without_victims_of_strangers(hang, [elsewhere], (5, 7)) == [elsewhere]
    assert without_victims_of_strangers(hang, [before], range(8)) == [before]
