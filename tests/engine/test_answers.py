"""An index never changes what answers a query."""

from __future__ import annotations

import pytest
from builders import hit
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.answers import Answers
from neuron_doctor.engine.expressions import RecordQuery, holds
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.query_parser import parse_query

QUERIES = [
    parse_query(text)
    for text in (
        "a",
        "a where color == 1",
        "a where color != 1",
        "a where color in [1, 2, 2, 3]",
        "a where rank == 0 and color == 1",
        "a where color > 0 and (rank == 1 and color == 2)",
        "a where color == 1 or rank == 1",
        "a where not color == 1",
        "a where color is known",
        'a where host == "x" and rank in [0, 1]',
        "b where color == 1",
    )
]
FACTS = st.lists(
    st.builds(
        lambda name, at, color, rank, host: hit(
            name, offset=at, data={} if color is None else {"color": color}, rank=rank, host=host
        ),
        st.sampled_from("ab"),
        st.integers(0, 99),
        st.sampled_from([None, 0, 1, 2, 3]),
        st.sampled_from([None, 0, 1, 2]),
        st.sampled_from([None, "x", "y"]),
    ),
    max_size=20,
)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.text)
@given(FACTS)
def test_the_answers_are_those_of_every_fact_looked_at(query: RecordQuery, facts: list[Fact]) -> None:
    told = [fact for fact in facts if fact.name == query.name and holds(query.where, fact)]
    answers = Answers(facts)
    assert answers.of(query) == told
    assert answers.of(query) == told
