"""Lists of groups as frameworks print them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.group_lists import groups_text
from neuron_doctor.engine.recorder import ranks_of


@given(st.lists(st.lists(st.integers(0, 9999), min_size=1, max_size=8, unique=True), min_size=1, max_size=8))
def test_what_python_prints_is_read_back(groups: list[list[int]]) -> None:
    assert [list(ranks_of(text)) for text in groups_text(str(groups)).split()] == groups


@given(st.integers(2, 40))
def test_a_group_that_is_cut_off_is_left_out(cut: int) -> None:
    whole = groups_text("[[0, 1], [2, 3], [4, 5]]").split()
    read = groups_text("[[0, 1], [2, 3], [4, 5]]"[:cut]).split()
    assert read == whole[: len(read)]


def test_what_is_no_list_of_groups_has_none() -> None:
    assert groups_text("") == groups_text("[[]]") == groups_text("[[ , ]]") == ""
