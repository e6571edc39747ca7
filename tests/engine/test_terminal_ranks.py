"""What a terminal shows is of the one rank that was started in it."""

from __future__ import annotations

from builders import hit

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.terminal_ranks import in_the_rank_of_their_terminal


def started(rank: int, source: str = "s") -> Fact:
    return Fact("env", {"name": "RANK", "value": str(rank)}, Place(rank=rank, local_rank=1), Span(source), source)


def shown(rank: int, begin: int, until: int) -> Fact:
    said = {"name": "RANK", "value": str(rank), "until": until}
    return Fact("env", said, Place(rank=rank, local_rank=1), Span("s", begin), "s")


def ranks(*facts: Fact) -> list[int | None]:
    return [fact.place.rank for fact in in_the_rank_of_their_terminal(facts) if fact.kind == "hit"]


def test_what_stands_in_the_terminal_of_a_rank_is_of_that_rank() -> None:
    assert ranks(started(5), hit("x"), hit("x", source="t")) == [5, None]


def test_what_names_another_rank_stays_where_it_is() -> None:
    assert ranks(started(5), hit("x", rank=3), hit("x", ranks=(1, 2))) == [3, None]


def test_two_ranks_in_one_terminal_prove_nothing() -> None:
    assert ranks(started(5), started(6), hit("x")) == [None]


def test_what_stands_before_the_command_of_a_rank_or_behind_the_next_prompt_is_of_nobody() -> None:
    lines = [hit("x", offset=offset) for offset in (10, 150, 250, 350, 450)]
    assert ranks(shown(5, 100, 200), shown(5, 300, 400), *lines) == [None, 5, None, 5, None]
    assert ranks(shown(5, 200, -1), *lines) == [None, None, 5, 5, 5]
    assert ranks(shown(5, 100, 200), shown(6, 300, 400), *lines) == [None] * 5
