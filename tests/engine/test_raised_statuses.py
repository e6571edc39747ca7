"""A code that one process returned and one rank raised, in a log that lacks no line of others, tells the rank of the process."""

from __future__ import annotations

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.raised_statuses import with_ranks_that_raised


def said(code: int, offset: int, *, pid: int | None = None, rank: int | None = None, log: str = "a") -> Fact:
    return Fact("status", {"code": code}, Place(pid=pid, rank=rank), Span(log, offset=offset), log)


def ranks(*facts: Fact) -> list[int | None]:
    """The ranks of the records of processes, in order."""
    return [fact.place.rank for fact in with_ranks_that_raised(facts) if fact.place.pid is not None]


RETURNED, RAISED = said(5, 100, pid=421), said(5, 300, rank=341)


def test_the_one_that_returned_a_code_is_the_one_that_raised_it() -> None:
    other = Fact("hit", {}, Place(pid=421), Span("a", offset=50), "a")
    assert ranks(other, RETURNED, said(5, 200, pid=421), RAISED) == [341, 341, 341]
    victims = said(1200, 120, pid=422), said(1200, 140, pid=423), said(1200, 320, rank=342), said(1200, 340, rank=343)
    assert ranks(RETURNED, RAISED, *victims) == [341, None, None]


def test_nothing_is_told_of_whom_it_may_be_another_one() -> None:
    assert ranks(RETURNED, said(5, 300, rank=341, log="b")) == [None]
    assert ranks(RETURNED, said(5, 90, rank=341)) == [None]  # raised before it was returned
    assert ranks(RETURNED, said(1200, 300, rank=341)) == [None]
    assert ranks(RETURNED, RAISED, said(1200, 120, pid=422)) == [None, None]  # what that one raised is missing
    assert ranks(RETURNED, RAISED, said(5, 320, rank=342)) == [None]
    assert ranks(said(5, 90, pid=420, rank=341), RETURNED, RAISED) == [341, None]
    assert ranks(said(5, 90, pid=421, rank=7), RETURNED, RAISED) == [7, None]


def labelled(label: int, log: str, offset: int = 300) -> Fact:
    span = Span(log, offset=offset, text=f"[r{label}] RuntimeError: status=5 message=Timeout Exceeded")
    return Fact("status", {"code": 5}, Place(), span, log)


def test_a_short_label_is_that_of_a_rank_where_one_is_too_great_for_a_host() -> None:
    def of(*facts: Fact) -> list[int | None]:
        return [fact.place.rank for fact in with_ranks_that_raised(facts)]

    assert of(labelled(3, "a"), labelled(341, "b")) == [3, 341]
    assert of(labelled(3, "a"), labelled(35, "b")) == [None, None]  # may be local ranks
    assert of(labelled(341, "a"), labelled(341, "b")) == [None, None]
    assert of(RETURNED, labelled(341, "a")) == [341, 341]
