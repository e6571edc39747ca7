"""When instants compare, and the years of clocks that do not say theirs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from builders import hit
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Instant
from neuron_doctor.engine.moments import Moment, difference_ns, with_years


def wall(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**9


def test_one_clock_on_one_host_compares() -> None:
    a, b = (Moment(Instant(ns, Clock.BOOT), "a") for ns in (5, 9))
    assert difference_ns(a, b) == 4


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Moment(Instant(1, Clock.BOOT), "a"), Moment(Instant(2, Clock.HOST_LOCAL), "a")),
        (Moment(Instant(1, Clock.UTC), "a"), Moment(Instant(2, Clock.UTC), "b")),
    ],
)
def test_two_clocks_or_two_hosts_do_not(a: Moment, b: Moment) -> None:
    assert difference_ns(a, b) is None


@pytest.mark.parametrize(
    ("stamp", "dated", "expected"),
    [
        ("1972-10-16T01:07:00", "2025-10-16T01:08:00", "2025-10-16T01:07:00"),
        ("1972-12-31T23:59:00", "2026-01-01T00:03:00", "2025-12-31T23:59:00"),
        ("1972-01-01T00:03:00", "2025-12-31T23:59:00", "2026-01-01T00:03:00"),
        ("1972-02-29T12:00:00", "2024-02-29T13:00:00", "2024-02-29T12:00:00"),
    ],
)
def test_a_stamp_without_a_year_falls_beside_the_dated_ones(stamp: str, dated: str, expected: str) -> None:
    yearless = replace(hit("x"), instant=Instant(wall(stamp), Clock.YEARLESS))
    other = replace(hit("y"), instant=Instant(wall(dated), Clock.HOST_LOCAL))
    found = with_years([yearless, other])[0].instant
    assert found == Instant(wall(expected), Clock.HOST_LOCAL)


def test_without_any_date_the_year_stays_unknown() -> None:
    fact = replace(hit("x"), instant=Instant(wall("1972-05-01T00:00:00"), Clock.YEARLESS))
    assert with_years([fact]) == (fact,)


@given(st.integers(0, 366 * 86400 - 1), st.integers(0, 80 * 365 * 86400))
def test_the_chosen_year_is_never_more_than_half_a_year_and_a_day_away(second: int, dated: int) -> None:
    yearless = replace(hit("x"), instant=Instant(wall("1972-01-01T00:00:00") + second * 10**9, Clock.YEARLESS))
    other = replace(hit("y"), instant=Instant(dated * 10**9, Clock.HOST_LOCAL))
    found = with_years([yearless, other])[0].instant
    assert found is not None
    assert abs(found.ns - dated * 10**9) <= 184 * 86400 * 10**9
