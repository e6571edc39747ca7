"""Gloo counts transfers and does not describe them: who may wait in one is not convicted, who left one out is, by the counts."""

from __future__ import annotations

import pytest
from fr_simulator import Faults, Mesh, Op, Pg, Program, Recorder, facts_of, run
from test_fr_scenarios import verdicts

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span
from neuron_doctor.engine.own_waits import without_those_who_gave_up

WORLD = Pg("0", "default_pg", (0, 1, 2, 3))
GLOO = Recorder(backend="gloo")


def program(rank: int, steps: int = 8, *, short_in: int = -1, transfers: bool = True) -> Program:
    """A pipeline of four stages in one group: three micro-batches, then two collectives."""
    found: Program = []
    for step in range(steps):
        for batch in range(3):
            if rank and transfers:
                found.append(Op(WORLD, "", 64, peers=(("recv", rank - 1),)))
            if rank < 3 and transfers and not (step == short_in and batch == 2):
                found.append(Op(WORLD, "", 64, peers=(("send", rank + 1),)))
        found += [Op(WORLD, "broadcast", 1), Op(WORLD, "all_reduce", 512)]
    return found


def dumps_of(programs: dict[int, Program], **stops: int) -> list[Fact]:
    host = {int(name.removeprefix("rank")): at for name, at in stops.items()}
    return facts_of(run(Mesh(4, 1), programs, Faults(host=host), ahead=1, eager=True), GLOO)


@pytest.mark.parametrize("short", [1, 2])
def test_who_left_out_a_transfer_is_convicted_by_the_counts_and_not_who_waits_for_it(short: int) -> None:
    programs = {rank: program(rank, short_in=5 if rank == short else -1) for rank in range(4)}
    assert verdicts(dumps_of(programs)) == {"p2p-missing": {short}}


def test_a_rank_to_which_all_others_sent_what_they_ever_do_waits_in_no_transfer() -> None:
    programs = {rank: program(rank) for rank in range(4)}
    at = 5 * 5 + 3  # behind its receives, before the broadcast of its sixth step
    assert verdicts(dumps_of(programs, rank3=at)) == {"rank-missing": {3}}


def test_of_two_that_may_wait_for_one_another_none_is_convicted() -> None:
    """The third stage stopped before a send: so the last one waits for it, as no dump shows."""
    programs = {rank: program(rank) for rank in range(4)}
    assert verdicts(dumps_of(programs, rank2=5 * 8 + 3)) == {"undecided": set()}


def test_a_last_round_that_is_shorter_for_all_is_nobodys_fault() -> None:
    """All sent two of three: the last one of them stands elsewhere."""
    programs = {rank: program(rank, short_in=5 if rank < 3 else -1) for rank in range(4)}
    programs[1] = [*program(1, 5), *program(1, 3, short_in=0)[1:]]
    found = verdicts(dumps_of({**programs, 0: program(0, short_in=5), 2: program(2, short_in=5)}))
    assert not set().union(*found.values())


def test_few_rounds_tell_of_no_habit() -> None:
    programs = {rank: program(rank, steps=3, short_in=2 if rank == 1 else -1) for rank in range(4)}
    assert not set().union(*verdicts(dumps_of(programs)).values())


def missing(*ranks: int) -> Fact:
    data = {"verdict": "rank-missing", "culprits": ranks, "description": "never issued it"}
    return Fact("collective", data, Place(rank=ranks[0] if len(ranks) == 1 else None, ranks=ranks), Span("fr/0"), "fr0")


def said(what: str, rank: int, *, own: bool | None = None, at_s: int | None = None) -> Fact:
    data = {"what": what} if own is None else {"what": what, "own": own}
    at = None if at_s is None else Instant(at_s * 10**9, Clock.UTC)
    return Fact("hang-report", data, Place(rank=rank, host="a"), Span(f"rank{rank}.log"), f"log{rank}", at)


@pytest.mark.parametrize(("what", "left"), [("watchdog", ()), ("collectives", ()), ("lost", (2,))])
def test_who_says_that_it_gave_up_waiting_was_not_absent(what: str, left: tuple[int, ...]) -> None:
    programs = {rank: program(rank, transfers=False) for rank in range(4)}
    found = list(without_those_who_gave_up([missing(2)], [*dumps_of(programs), said(what, 2), said("watchdog", 0)]))
    assert [fact.place.ranks for fact in found] == [left]
    assert found[0].data["verdict"] == ("rank-missing" if left else "undecided")


def test_of_several_only_those_are_excused() -> None:
    programs = {rank: program(rank, transfers=False) for rank in range(4)}
    found = list(without_those_who_gave_up([missing(1, 2)], [*dumps_of(programs), said("watchdog", 2)]))
    assert [(fact.place.ranks, fact.data["verdict"]) for fact in found] == [((1,), "rank-missing")]


def test_a_recorder_that_shows_transfers_is_believed() -> None:
    programs = {rank: program(rank) for rank in range(4)}
    dumps = facts_of(run(Mesh(4, 1), programs, Faults(), ahead=1, eager=True), Recorder(backend="nccl"))
    assert list(without_those_who_gave_up([missing(2)], [*dumps, said("watchdog", 2)])) == [missing(2)]


def left_of(*told: Fact) -> tuple[int, ...]:
    programs = {rank: program(rank, transfers=False) for rank in range(4)}
    [found] = without_those_who_gave_up([missing(2)], [*dumps_of(programs), *told])
    return found.place.ranks


def test_who_was_only_asked_for_its_dump_gave_up_no_wait() -> None:
    assert left_of(said("watchdog", 2, own=False), said("watchdog", 0)) == (2,)


@pytest.mark.parametrize(("at_s", "left"), [(64_000, (2,)), (99_900, ()), (100_000, ())])
def test_a_wait_given_up_long_before_all_others_excuses_nobody(at_s: int, left: tuple[int, ...]) -> None:
    others = [said("watchdog", rank, at_s=100_000 + rank) for rank in (0, 1, 3)]
    assert left_of(said("watchdog", 2, at_s=at_s), *others) == left


@pytest.mark.parametrize(("offset", "rank", "left"), [(9, 2, (2,)), (9, 1, ()), (0, 2, ())])
def test_who_went_on_after_it_gave_up_is_not_excused(offset: int, rank: int, left: tuple[int, ...]) -> None:
    step = Fact("progress", {"what": "step"}, Place(rank=rank), Span(f"rank{rank}.log", offset), f"log{rank}")
    assert left_of(said("watchdog", 2), step) == left
