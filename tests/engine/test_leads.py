"""What is written for Vectorscan with an alternative for each way to begin says the same as before."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.engine.leads import spelled
from neuron_doctor.engine.loosening import sought
from neuron_doctor.engine.rule_loader import load_rulebook

PATTERNS = load_rulebook([Path(__file__).parents[2] / "rules"]).patterns.patterns
CHANGED = [one for one in map(sought, PATTERNS) if spelled(one) != one]
ASCII = st.characters(codec="ascii")


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        (r"(?i)rank[ :=]{1,3}\d", r"(?i)rank [ :=]{0,2}\d|rank:[ :=]{0,2}\d|rank=[ :=]{0,2}\d"),
        (r"\btry[=#]\d|\bx?yz9", r"\btry=\d|\btry\#\d|\bxyz9|\byz9"),
        (r"#{2} (?:of|at) \w", r"## (?:of|at) \w"),
        (r"(?P<n>\d) rank", r"(?:\d) rank"),
    ],
)
def test_each_way_to_begin_is_an_alternative(expression: str, written: str) -> None:
    assert spelled(expression) == written


@pytest.mark.parametrize(
    "expression",
    [
        r"rank is long enough[ =]\d",  # begins with a rare word
        r"at[ =]\d{1,3} is told rarely",  # has one
        r"rank[a-f=]\d",  # any letter is no mark
        r"a[ =:#,;]\d",  # too many ways
        r"rank[ =]+\d",  # any number of them
        r"(\w)[ =]\1",
    ],
)
def test_what_is_rare_or_would_be_too_much_stays(expression: str) -> None:
    assert spelled(expression) == expression


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_both_find_the_same(data: st.DataObject) -> None:
    expression = data.draw(st.sampled_from(CHANGED))
    one, other = (re.compile(text, re.ASCII) for text in (expression, spelled(expression)))
    made = data.draw(st.sampled_from([one, other]))
    text = data.draw(st.from_regex(made, alphabet=ASCII))
    assert one.search(text)
    assert other.search(text)


def test_an_alternative_that_needs_nothing_is_left_as_it_is() -> None:
    assert spelled("|x") == "|x"
