"""Dates and nanoseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.wallclock import date_of, ns_of


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_date_comes_back_from_its_nanoseconds(date: datetime) -> None:
    assert date_of(ns_of(date)) == date


@given(st.integers(min_value=-(2**62), max_value=2**62))
def test_nanoseconds_come_back_to_the_microsecond_below(ns: int) -> None:
    assert ns_of(date_of(ns)) == ns - ns % 1000


def test_a_zone_moves_the_instant() -> None:
    east = datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert ns_of(east) == 0


def test_a_year_that_no_calendar_has_is_an_overflow() -> None:
    with pytest.raises(OverflowError):
        date_of(10**30)
