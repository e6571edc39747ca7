"""A provisional verdict claims only what no further fact could take back."""

from __future__ import annotations

import pytest

from neuron_doctor.engine import conditions as cond
from neuron_doctor.engine.expressions import RecordQuery
from neuron_doctor.engine.provisional import monotone

QUERY = RecordQuery("hit", None, "hit")
RECORD = cond.Record(QUERY)
NONE = cond.Combination("none", (RECORD,))
ABSENT = cond.Absent(QUERY, QUERY, 1)


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        (RECORD, RECORD),
        (NONE, None),
        (ABSENT, None),
        (cond.Over("rank", "any", QUERY), cond.Over("rank", "any", QUERY)),
        (cond.Over("rank", "all", QUERY), None),
        (cond.Over("rank", "odd-one-out", QUERY), None),
        (cond.Combination("all", (RECORD, NONE)), None),
        (cond.Combination("all", (RECORD, RECORD)), cond.Combination("all", (RECORD, RECORD))),
        (cond.Combination("any", (ABSENT, RECORD)), cond.Combination("any", (RECORD,))),
        (cond.Combination("any", (ABSENT, NONE)), None),
        (cond.Combination("at-least", (RECORD, NONE), 2), cond.Combination("at-least", (RECORD,), 2)),
    ],
)
def test_what_more_facts_could_unmake_is_left_out(condition: cond.Condition, kept: cond.Condition | None) -> None:
    assert monotone(condition) == kept
