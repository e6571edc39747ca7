"""The odds of a coincidence."""

from __future__ import annotations

from math import comb, isclose

from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.coincidence import tail


@given(st.integers(1, 60), st.data())
def test_the_odds_are_those_of_counting(population: int, data: st.DataObject) -> None:
    members = data.draw(st.integers(0, population))
    drawn = data.draw(st.integers(0, population))
    inside = data.draw(st.integers(0, min(members, drawn)))
    ways = sum(
        comb(members, k) * comb(population - members, drawn - k)
        for k in range(inside, min(members, drawn) + 1)
        if drawn - k <= population - members
    )
    assert isclose(
        tail(population, members, drawn, inside), ways / comb(population, drawn), rel_tol=1e-9, abs_tol=1e-12
    )
