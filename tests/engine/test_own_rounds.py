"""A transfer that a rank leaves out where nobody runs its program beside it: its own earlier rounds tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from fr_simulator import Faults, Mesh, Op, Program, Recorder, facts_of, run
from test_collectives import verdicts

from neuron_doctor.engine.dumps import selections
from neuron_doctor.engine.own_rounds import left_their_order, short_of_its_partner
from neuron_doctor.engine.process_groups import ProcessGroup, process_groups
from neuron_doctor.engine.recorder import RankRecord

MESH = Mesh(1, 1, 2)


def programs() -> dict[int, Program]:
    return {rank: MESH.program(rank, batches=True, interleaved=True) for rank in range(2)}


def left_out(rank: int, kind: str) -> dict[int, Program]:
    """The programs, with the first of the last round's transfers of this kind left out by a rank."""
    found = programs()
    own = found[rank]
    round_begins = len(own) - len(own) // 6
    at = next(i for i in range(round_begins, len(own)) if any(what == kind for what, _ in own[i].peers))
    own[at] = replace(own[at], peers=tuple(peer for peer in own[at].peers if peer[0] != kind))
    return found


@pytest.mark.parametrize("ring", [2000, 24])
def test_the_rank_whose_last_round_lacks_a_transfer_is_at_fault(ring: int) -> None:
    job = run(MESH, left_out(0, "send"), Faults(), ahead=12)
    assert set().union(*verdicts(facts_of(job, Recorder(ring=ring))).values()) == {0}


@pytest.mark.parametrize("ring", [2000, 24])
def test_a_host_that_ran_ahead_into_the_next_round_left_one_out_in_the_one_before(ring: int) -> None:
    found = left_out(0, "send")
    whole = programs()
    for rank in found:
        found[rank] += whole[rank][: len(whole[rank]) // 6]
    job = run(MESH, found, Faults(), ahead=40)
    told = verdicts(facts_of(job, Recorder(ring=ring)))
    assert {(verdict, *ranks) for verdict, ranks in told.items()} == {("p2p-missing", 0)}


def test_rounds_that_are_all_alike_convict_nobody() -> None:
    last = max(i for i, op in enumerate(programs()[0]) if op.peers)
    found = verdicts(facts_of(run(MESH, programs(), Faults(device={0: last, 1: last}), ahead=12)))
    assert "p2p-missing" not in found


def test_the_rank_that_leaves_the_order_of_its_own_rounds_is_at_fault_though_nobody_runs_beside_it() -> None:
    found = {rank: MESH.program(rank, interleaved=True) for rank in range(2)}
    moved = [at for at, op in enumerate(found[0]) if op.peers]
    at = next(
        a for a, b in zip(moved[-4:], moved[-3:], strict=False) if found[0][a].peers[0][0] != found[0][b].peers[0][0]
    )
    found[0][at], found[0][at + 1] = found[0][at + 1], found[0][at]
    for ring in (2000, 24):
        facts = facts_of(run(MESH, found, Faults(), ahead=12), Recorder(ring=ring))
        assert verdicts(facts) == {"p2p-order": {0}}


def test_an_order_that_changes_from_round_to_round_convicts_nobody() -> None:
    found = {rank: MESH.program(rank, interleaved=True) for rank in range(2)}
    moved = [at for at, op in enumerate(found[0]) if op.peers]
    for first, then in ((moved[4], moved[5]), (moved[-4], moved[-3])):
        found[0][first], found[0][then] = found[0][then], found[0][first]
    [selected] = selections(facts_of(run(MESH, found, Faults(device={0: 0, 1: 0}), ahead=1 << 20), Recorder()))
    assert left_their_order(process_groups(selected.dumps), selected.dumps, (0, 1)) == set()


@pytest.mark.parametrize(("lacking", "steps", "short"), [(1, 12, (0,)), (0, 12, ()), (2, 12, ()), (1, 3, ())])
def test_of_two_ends_that_went_on_the_one_that_counts_one_transfer_less_left_it_out(
    lacking: int, steps: int, short: tuple[int, ...]
) -> None:
    found = {rank: MESH.program(rank, steps) for rank in range(2)}
    moved = [at for at, op in enumerate(found[0]) if op.peers]
    for at in moved[len(moved) - lacking :][::-1]:
        del found[0][at]
    ends = {rank: len(found[rank]) - 2 for rank in range(2)}
    job = run(MESH, found, Faults(device=ends), ahead=1 << 20)
    [selected] = selections(facts_of(job, Recorder(backend="neuron", active_only=True)))
    [group] = [one for one in process_groups(selected.dumps) if one.desc == "PIPELINE"]
    assert short_of_its_partner(group) == short


@pytest.mark.parametrize("ring", [2000, 30])
def test_where_no_completion_is_recorded_the_rank_that_left_one_out_is_told_by_its_rounds_alone(ring: int) -> None:
    issued = Recorder(backend="neuron", completions=False, ring=ring)
    found = left_out(1, "send")
    facts = facts_of(run(MESH, found, Faults(device=dict.fromkeys((0, 1), 0)), ahead=1 << 20), issued)
    assert verdicts(facts) == {"p2p-missing": {1}}
    facts = facts_of(run(MESH, programs(), Faults(device=dict.fromkeys((0, 1), 0)), ahead=1 << 20), issued)
    assert verdicts(facts) == {"healthy": set()}


def test_where_no_completion_is_recorded_the_rank_that_changed_its_order_is_told_by_its_rounds_alone() -> None:
    mesh = Mesh(1, 2, 2)
    issued = Recorder(backend="neuron", completions=False)
    found = {rank: mesh.program(rank, interleaved=True) for rank in range(4)}
    everywhere = Faults(device=dict.fromkeys(found, 0))
    assert verdicts(facts_of(run(mesh, found, everywhere, ahead=1 << 20), issued)) == {"healthy": set()}
    for rank, expected in ((1, {"p2p-order": {1}}), (2, {"healthy": set()})):  # two at once may mean another schedule
        own = found[rank]
        moved = [at for at, op in enumerate(own) if op.peers][-4:]
        at = next(
            a for a in moved if own[a].peers and own[a + 1].peers and own[a].peers[0][0] != own[a + 1].peers[0][0]
        )
        own[at], own[at + 1] = own[at + 1], own[at]
        assert verdicts(facts_of(run(mesh, found, everywhere, ahead=1 << 20), issued)) == expected


def test_the_one_that_several_wait_for_in_transfers_left_its_ends_out_where_it_waits_in_a_collective() -> None:
    """Rank 0 sends to 1, which sends to 2, all in the world's group, four times; rank 1 three times. Then all reduce."""
    world = Mesh(1, 3).groups["default_pg"][0]
    ends = {0: (("send", 1),), 1: (("recv", 0), ("send", 2)), 2: (("recv", 1),)}

    def program(rank: int) -> Program:
        times = 3 if rank == 1 else 4
        return [*[Op(world, "", 64, peers=(end,)) for _ in range(times) for end in ends[rank]], Op(world)]

    job = run(Mesh(1, 3), {rank: program(rank) for rank in range(3)}, Faults(), ahead=12)
    assert verdicts(facts_of(job)) == {"p2p-missing": {1}}


def turns(kinds: str, times: int, last: str) -> Program:
    """A rank's transfers with its only peer: so often the same turn, then what it did at last."""
    group = MESH.groups["PIPELINE"][0]
    own = {"s": "send", "r": "recv"}
    return [Op(group, peers=((own[kind], -1),)) for kind in kinds * times + last]


@pytest.mark.parametrize("ring", [2000, 12])
@pytest.mark.parametrize(("last", "expected"), [(("r", "r"), {0}), (("s", "s"), {1}), (("sr", "rs"), set())])
def test_where_no_collective_divides_what_ranks_did_their_turns_tell_who_left_the_order(
    ring: int, last: tuple[str, str], expected: set[int]
) -> None:
    found = {0: turns("sr", 9, last[0]), 1: turns("rs", 9, last[1])}
    for rank, program in found.items():
        found[rank] = [replace(op, peers=((op.peers[0][0], 1 - rank),)) for op in program]
    told = verdicts(facts_of(run(MESH, found, Faults(), ahead=1), Recorder(ring=ring)))
    assert set().union(*told.values()) == expected


@pytest.mark.parametrize(("last", "expected"), [(("r", "r"), {0}), (("s", "s"), {1}), (("sr", "rs"), set())])
def test_turns_tell_it_too_where_a_collective_comes_too_seldom_for_two_rounds_to_be_described(
    last: tuple[str, str], expected: set[int]
) -> None:
    world = MESH.groups["default_pg"][0]
    found = {0: turns("sr", 8, ""), 1: turns("rs", 8, "")}
    for rank, program in found.items():
        own = [*(3 * [*program, Op(world)]), *turns("sr" if rank == 0 else "rs", 5, last[rank])]
        found[rank] = [replace(op, peers=((op.peers[0][0], 1 - rank),)) if op.peers else op for op in own]
    [selected] = selections(facts_of(run(MESH, found, Faults(), ahead=1)))
    assert left_their_order(process_groups(selected.dumps), selected.dumps, (0, 1)) == expected


def left_by(of_0: str, of_1: str) -> tuple[list[ProcessGroup], Mapping[int, RankRecord]]:
    """What the dumps tell of two ranks that took five turns, and then this."""
    found = {0: turns("sr", 5, of_0), 1: turns("rs", 5, of_1)}
    for rank, program in found.items():
        found[rank] = [replace(op, peers=((op.peers[0][0], 1 - rank),)) for op in program]
    [selected] = selections(facts_of(run(MESH, found, Faults(), ahead=1), Recorder()))
    return list(process_groups(selected.dumps)), selected.dumps


def test_of_a_rank_of_which_nothing_is_known_none_can_be_said_to_have_left_the_order_before_it() -> None:
    groups, dumps = left_by("r", "rr")
    assert left_their_order(groups, dumps, (0, 1)) == {0}
    assert left_their_order(groups, dumps, (0, 1, 2)) == set()


def test_of_two_that_left_their_turns_at_once_both_are_told() -> None:
    assert left_their_order(*left_by("r", "s"), (0, 1)) == {0, 1}
