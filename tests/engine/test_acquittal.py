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
