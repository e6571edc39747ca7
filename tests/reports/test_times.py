"""Times are shown only as precisely, and only in the zone, that their source has proven."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.facts import Clock, Instant
from neuron_doctor.reports.times import stamp, time_object, when

NS = 1_795_144_364_123_456_789  # 2026-11-20 03:12:44.123456789
IN_1972 = 86_400_000_000_000 * (2 * 365 + 324) + 44_000_000_000  # 1972-11-20 00:00:44
DAY = 86_400_000_000_000


@pytest.mark.parametrize(
    ("uncertainty", "fraction"),
    [(0, ".123456789"), (1, ".123456789"), (1_000, ".123456"), (999_999, ".123456"), (10**6, ".123"), (10**9, "")],
)
def test_a_stamp_has_the_digits_that_its_uncertainty_leaves(uncertainty: int, fraction: str) -> None:
    assert stamp(Instant(NS, Clock.UTC, uncertainty)) == f"2026-11-20T03:12:44{fraction}Z"


def test_only_utc_has_a_zone() -> None:
    assert stamp(Instant(NS // 10**9 * 10**9, Clock.HOST_LOCAL)) == "2026-11-20T03:12:44"


def test_a_time_without_year_says_so() -> None:
    assert stamp(Instant(IN_1972, Clock.YEARLESS)) == "--11-20T00:00:44"


def test_counters_are_seconds_as_text() -> None:
    assert stamp(Instant(81_234_501_000_000, Clock.BOOT)) == "81234.501"
    assert stamp(Instant(0, Clock.MONOTONIC)) == "0"
    assert stamp(Instant(-1_500_000_000, Clock.MONOTONIC)) == "-1.500"


def test_the_time_object_separates_proven_zones_from_clocks() -> None:
    utc, local = Instant(NS, Clock.UTC, 10**9), Instant(NS, Clock.HOST_LOCAL, 10**9)
    assert time_object(utc, None) == {"first": "2026-11-20T03:12:44Z"}
    assert time_object(local, local) == {
        "first_local": "2026-11-20T03:12:44",
        "last_local": "2026-11-20T03:12:44",
        "clock": "host-local",
    }
    assert time_object(None, Instant(IN_1972, Clock.YEARLESS)) == {
        "last_local": "--11-20T00:00:44",
        "clock": "host-local",
    }
    assert time_object(Instant(5 * 10**9, Clock.BOOT), None) == {"first_local": "5", "clock": "boot"}
    assert time_object(None, None) == {}


def test_ends_of_different_clocks_are_not_made_one_interval() -> None:
    assert time_object(Instant(NS, Clock.UTC, 10**9), Instant(5, Clock.BOOT)) == {"first": "2026-11-20T03:12:44Z"}
    assert when(Instant(NS, Clock.UTC, 10**9), Instant(5, Clock.BOOT)) == "2026-11-20 03:12:44 UTC"


def test_a_date_that_no_calendar_has_is_left_out() -> None:
    far = Instant(10**30, Clock.UTC)
    assert time_object(far, far) == {}
    assert when(far, far) == ""


def test_an_interval_reads_as_a_sentence() -> None:
    utc = Instant(NS // 10**9 * 10**9, Clock.UTC)
    later = Instant(utc.ns + 83 * 10**9, Clock.UTC)
    tomorrow = Instant(utc.ns + DAY, Clock.UTC)
    assert when(utc, later) == "2026-11-20 03:12:44 UTC, last 03:14:07 (1 min 23 s later)"
    assert when(utc, tomorrow) == "2026-11-20 03:12:44 UTC, last 2026-11-21 03:12:44 (24 h later)"
    assert when(Instant(10**9, Clock.BOOT), Instant(1_250_000_000, Clock.BOOT)) == (
        "1 s after boot, last 1.250 (250 ms later)"
    )
    assert when(None, None) == ""


def test_a_time_without_year_reads_like_syslog_and_says_what_is_not_known() -> None:
    first, last = Instant(IN_1972, Clock.YEARLESS), Instant(IN_1972 + DAY, Clock.YEARLESS)
    text = when(first, last)
    assert text == "Nov 20 00:00:44 (clock of the host, year and zone not known), last Nov 21 00:00:44 (24 h later)"


@given(st.integers(0, 4 * 10**18), st.integers(0, 10**10), st.sampled_from(Clock))
def test_every_stamp_has_one_of_the_documented_shapes(ns: int, uncertainty: int, clock: Clock) -> None:
    text = stamp(Instant(ns, clock, uncertainty))
    fraction = r"(\.\d{3}(\d{3}){0,2})?"
    assert re.fullmatch(rf"((\d{{4}}-|--)\d\d-\d\dT\d\d:\d\d:\d\d{fraction}Z?|\d+{fraction})", text)
    assert text.endswith("Z") == (clock is Clock.UTC)


@given(st.integers(0, 4 * 10**9))
def test_a_utc_stamp_can_be_read_back(seconds: int) -> None:
    assert datetime.fromisoformat(stamp(Instant(seconds * 10**9, Clock.UTC))).timestamp() == seconds
