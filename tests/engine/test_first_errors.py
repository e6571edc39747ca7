"""The rank that an execution trace shows to have produced the first NaN, by the numbers of executions alone."""

from __future__ import annotations

from collections.abc import Mapping

from neuron_doctor.engine.facts import Fact, Place, Span, Value
from neuron_doctor.engine.first_errors import first_errors

LAST = 8812


def event(rank: int | None, number: int, *, name: str = "numerical_error", source: str = "nan.json") -> Fact:
    data: dict[str, Value] = {"event": name, "complete": True, "exec_id": number}
    return Fact("ndet-event", data, Place(rank=rank, device=1), Span(source, number), source)


def trace(errors: Mapping[int, list[int]], last: Mapping[int, int] | None = None, ranks: int = 6) -> list[Fact]:
    """A trace of so many ranks: the executions with an error, and the last execution of each rank."""
    ended = dict.fromkeys(range(ranks), LAST) | dict(last or {})
    told = [event(rank, number) for rank, numbers in errors.items() for number in numbers]
    return told + [event(rank, number, name="nc_exec") for rank, number in ended.items()]


def named(facts: list[Fact]) -> list[tuple[int | None, Value, Value]]:
    return [(fact.place.rank, fact.data["exec_id"], fact.data["later"]) for fact in first_errors(facts)]


ALL = {rank: [LAST] for rank in range(6)}


def test_the_one_rank_with_an_error_before_all_others_was_first() -> None:
    (found,) = first_errors(trace(ALL | {4: [LAST - 1, LAST]}))
    assert (found.kind, found.place.rank, found.place.device) == ("first-error", 4, 1)
    assert found.data == {"event": "numerical_error", "exec_id": LAST - 1, "later": 5}


def test_order_is_no_matter_and_neither_are_ranks_that_stayed_well() -> None:
    facts = trace({4: [LAST - 2], 1: [LAST], 2: [LAST - 1], 3: [LAST]})
    assert named(facts[::-1]) == named(facts) == [(4, LAST - 2, 3)]


def test_two_at_once_are_both_possible() -> None:
    assert named(trace(ALL | {4: [LAST - 1], 5: [LAST - 1]})) == []


def test_all_at_once_names_nobody() -> None:
    assert named(trace(ALL)) == []


def test_one_rank_alone_or_against_one_other_is_no_order() -> None:
    assert named(trace({4: [LAST]})) == []
    assert named(trace({4: [LAST - 1], 5: [LAST]})) == []


def test_a_rank_that_counts_otherwise_is_not_earlier() -> None:
    """It ended with another number than the others: its executions are not theirs."""
    assert named(trace(ALL | {4: [LAST - 1]}, last={4: LAST - 1})) == []
    assert named(trace(ALL | {4: [LAST - 1, LAST]}, last={2: LAST + 5})) == []


def test_an_error_of_whom_is_not_known_may_have_been_earlier() -> None:
    """The output of neuron-det has no ranks: only what is not earlier than the first one leaves it the first one."""
    facts = trace(ALL | {4: [LAST - 1, LAST]})
    assert named([*facts, event(None, LAST), event(None, LAST - 1)]) == [(4, LAST - 1, 5)]
    assert named([*facts, event(None, LAST - 2)]) == []


def test_numbers_of_two_traces_are_not_compared() -> None:
    other = [event(4, LAST - 1, source="b.json"), event(4, LAST, name="nc_exec", source="b.json")]
    assert named([*trace({rank: [LAST] for rank in range(4)}), *other]) == []
