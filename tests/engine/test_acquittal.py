"""A rank that lost a peer itself is not convicted while another one left no dump."""

from __future__ import annotations

from neuron_doctor.engine.acquittal import acquitted
from neuron_doctor.engine.facts import Fact, Place, Span


def fact(kind: str, rank: int, **data: str) -> Fact:
    return Fact(kind, dict(data), Place(rank=rank, ranks=(rank,)), Span(f"{kind}{rank}"), f"{kind}{rank}")


DUMPS = [fact("fr-rank", rank) for rank in (0, 1, 2)]
CONVICTED = fact("collective", 2, verdict="rank-missing", description="rank 2 never issued it")
LOST = fact("hang-report", 2, what="lost")


def verdicts(*facts: Fact, ranks: tuple[int, ...] = (0, 1, 2, 3), convicted: Fact = CONVICTED) -> list[object]:
    return [(found.data["verdict"], found.place.ranks) for found in acquitted([convicted], facts, ranks)]


def test_it_is_acquitted_where_another_rank_left_no_dump() -> None:
    assert verdicts(*DUMPS, LOST) == [("undecided", ())]


def test_it_stays_convicted_where_all_left_a_dump() -> None:
    assert verdicts(*DUMPS, LOST, ranks=(0, 1, 2)) == [("rank-missing", (2,))]


def test_it_stays_convicted_where_it_says_nothing_of_a_peer() -> None:
    assert verdicts(*DUMPS, fact("hang-report", 1, what="lost")) == [("rank-missing", (2,))]


def test_what_its_arguments_prove_stands() -> None:
    mismatch = fact("collective", 2, verdict="size-mismatch", description="other sizes")
    assert verdicts(*DUMPS, LOST, convicted=mismatch) == [("size-mismatch", (2,))]


def test_one_that_gave_up_in_an_operation_that_it_names_waited_too() -> None:
    convicted = fact("collective", 2, verdict="rank-missing", description="d", witness="recorder")
    waited = fact("hang-report", 2, what="watchdog", operation="recv")
    assert verdicts(*DUMPS, waited, ranks=(0, 1, 2), convicted=convicted) == [("undecided", ())]
    for other in (fact("hang-report", 1, what="watchdog", operation="recv"), fact("hang-report", 2, what="watchdog")):
        assert verdicts(*DUMPS, other, ranks=(0, 1, 2), convicted=convicted) == [("rank-missing", (2,))]


def ended(rank: int, *, told: bool, host: str = "a") -> Fact:
    data = {"launcher": "torchrun", "exitcode": -15 if told else 1, "signal": 15 if told else 0}
    return Fact("launcher-failure", data, Place(host=host, rank=rank), Span("launcher"), "launcher")


def left_of(*facts: Fact, heard: frozenset[int] | None = None) -> tuple[object, tuple[int, ...]]:
    data = {"verdict": "rank-missing", "description": "d", "witness": "recorder", "culprits": (1, 2, 3)}
    convicted = Fact("collective", data, Place(host="a", ranks=(1, 2, 3)), Span("dump"), "dump")
    [found] = acquitted([convicted], facts, range(8), heard)
    return found.data["verdict"], found.place.ranks


TOLD = [ended(rank, told=True) for rank in (1, 3)]


def test_ranks_that_had_to_end_when_another_one_of_their_host_ended_are_not_whom_the_others_wait_for() -> None:
    assert left_of(*TOLD, ended(2, told=False)) == ("rank-died", (2,))
    assert left_of(*TOLD, ended(4, told=False)) == ("rank-missing", (2,))
    assert left_of(*TOLD, ended(2, told=True), ended(4, told=False)) == ("undecided", ())


def test_they_stay_convicted_where_the_other_one_may_have_ended_because_it_waited() -> None:
    unmoved = ("rank-missing", (1, 2, 3))
    assert left_of(*TOLD) == unmoved
    assert left_of(*TOLD, ended(4, told=False), fact("hang-report", 4, what="collectives")) == unmoved
    assert left_of(*TOLD, ended(4, told=False), heard=frozenset({0, 1, 2, 3})) == unmoved
    assert left_of(*TOLD, ended(4, told=False), ended(5, told=False)) == unmoved
    assert left_of(*TOLD, ended(4, told=False, host="b")) == unmoved
