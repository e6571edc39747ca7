"""The last words of a run stand lowest in their log, whatever is told of machines below them."""

from __future__ import annotations

from itertools import permutations

import pytest
from builders import hit, progress

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.last_words import last_words


def said(kind: str, offset: int, name: str = "s", **data: object) -> Fact:
    return Fact(kind, data, Place(), Span(name, offset, 10, 1, 1, kind, kind), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["hang-report", "launcher-failure", "restart", "status", "completion"])
def test_the_lowest_of_a_log_that_tells_of_the_run_counts_in_whatever_order_they_are_told(kind: str) -> None:
    last = said(kind, 90)
    for told in permutations([progress(offset=10), last, said("completion", 50, exited=True)]):
        assert last_words(told) == {"s": last}


def test_each_log_has_its_own_and_what_tells_of_no_run_is_none() -> None:
    a, b = progress(offset=40, source="a"), said("completion", 5, "b", exited=False)
    assert last_words([a, b, hit("waiting", offset=90, source="a"), hit("waiting", source="c")]) == {"a": a, "b": b}


def test_of_two_at_one_place_that_counts_by_which_a_process_exited() -> None:
    done, exited = said("completion", 50, exited=False), said("completion", 50, exited=True)
    for told in permutations([done, exited, progress(offset=50)]):
        assert last_words(told) == {"s": exited}
