"""Time stamps become instants with the right clock and uncertainty, or nothing."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors import timestamps as ts
from neuron_doctor.engine.facts import Clock, Instant

SECOND = 10**9


def ns(*date: int) -> int:
    return int(datetime(*date, tzinfo=UTC).timestamp()) * SECOND  # type: ignore[misc]


def read(pattern: str, reader: ts.StampReader, text: str) -> Instant | None:
    match = re.fullmatch(pattern, text, re.ASCII)
    assert match, text
    return reader(match.groupdict())


moments = st.datetimes(datetime(1970, 1, 2), datetime(2261, 1, 1)).map(lambda when: when.replace(tzinfo=UTC))


def test_six_digits_of_the_runtime_are_microseconds() -> None:
    assert read(ts.RUNTIME, ts.runtime, "2024-Jun-26 00:32:47.943821") == Instant(
        ns(2024, 6, 26, 0, 32, 47) + 943_821_000, Clock.HOST_LOCAL, 1000
    )


def test_four_digits_of_the_runtime_are_padded_milliseconds() -> None:
    assert read(ts.RUNTIME, ts.runtime, "2021-Aug-11 18:38:27.0917") == Instant(
        ns(2021, 8, 11, 18, 38, 27) + 917_000_000, Clock.HOST_LOCAL, 1_000_000
    )


def test_four_digits_that_cannot_be_milliseconds_are_a_fraction() -> None:
    assert read(ts.RUNTIME, ts.runtime, "2021-Aug-11 18:38:27.5001") == Instant(
        ns(2021, 8, 11, 18, 38, 27) + 500_100_000, Clock.HOST_LOCAL, 100_000
    )


def test_old_runtime_stamps_keep_their_order_within_a_second() -> None:
    instants = [read(ts.RUNTIME, ts.runtime, f"2021-Aug-11 18:38:27.{i:04}") for i in range(1000)]
    assert instants == sorted(instants)  # type: ignore[type-var]
    assert instants[-1].ns - instants[0].ns == 999_000_000  # type: ignore[union-attr]


def test_a_glued_stamp_does_not_lend_its_year_to_the_fraction() -> None:
    match = re.match(ts.RUNTIME, "2022-Mar-10 18:51:19.07392022-Mar-10 18:51:19.0739", re.ASCII)
    assert match
    assert match["fraction"] == "0739"


def test_six_digits_of_the_compiler_wrapper_are_padded_milliseconds() -> None:
    assert read(ts.ISO, ts.compiler, "2024-01-11 05:53:27.000203") == Instant(
        ns(2024, 1, 11, 5, 53, 27) + 203_000_000, Clock.HOST_LOCAL, 1_000_000
    )


@pytest.mark.parametrize(
    ("text", "clock", "nanoseconds", "resolution"),
    [
        ("2024-08-12 18:34:56,116", Clock.HOST_LOCAL, ns(2024, 8, 12, 18, 34, 56) + 116_000_000, 10**6),
        ("2024-08-12T18:34:56", Clock.HOST_LOCAL, ns(2024, 8, 12, 18, 34, 56), SECOND),
        ("2024-08-12T18:34:56Z", Clock.UTC, ns(2024, 8, 12, 18, 34, 56), SECOND),
        ("2024-08-12T18:34:56.123456789Z", Clock.UTC, ns(2024, 8, 12, 18, 34, 56) + 123456789, 1),
        ("2024-08-21T11:35:35.532-07:00", Clock.UTC, ns(2024, 8, 21, 18, 35, 35) + 532_000_000, 10**6),
        ("2024-08-21 11:35:35 +0530", Clock.UTC, ns(2024, 8, 21, 6, 5, 35), SECOND),
        ("2024-08-21 11:35:35 UTC", Clock.UTC, ns(2024, 8, 21, 11, 35, 35), SECOND),
        ("2016-12-31T23:59:60Z", Clock.UTC, ns(2017, 1, 1), SECOND),
    ],
)
def test_a_zone_makes_it_utc(text: str, clock: Clock, nanoseconds: int, resolution: int) -> None:
    assert ts.read_iso(text) == Instant(nanoseconds, clock, resolution)


@pytest.mark.parametrize(
    "text",
    [
        "2024-13-01 00:00:00",
        "2024-02-30 00:00:00",
        "2024-02-01 24:00:00",
        "2024-02-01 00:60:00",
        "2024-02-01 00:00:61",
        "0000-01-01 00:00:00",
        "9999-01-01 00:00:00",
        "2024-01-01 00:00:00+99:00",
        "yesterday",
        "",
    ],
)
def test_an_impossible_time_is_none(text: str) -> None:
    assert ts.read_iso(text) is None


def test_a_syslog_date_is_yearless_and_knows_the_29th_of_february() -> None:
    assert read(ts.SYSLOG, ts.yearless, "Feb 29 01:07:00") == Instant(ns(1972, 2, 29, 1, 7), Clock.YEARLESS, SECOND)
    assert read(ts.SYSLOG, ts.yearless, "Oct  1 01:07:00.000001") == Instant(
        ns(1972, 10, 1, 1, 7) + 1000, Clock.YEARLESS, 1000
    )


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("Sun Jan 11 09:52:01 2026", 1),
        ("二 9月 11 09:52:01 2026", 9),
        ("화 12월 11 09:52:01 2026", 12),
        ("Di Mär 11 09:52:01 2026", 3),
        ("mar. juin 11 09:52:01 2026", 6),
        ("mar. juil. 11 09:52:01 2026", 7),
        ("sam. août 11 09:52:01 2026", 8),
        ("Вт окт 11 09:52:01 2026", 10),
        ("mié dic 11 09:52:01 2026", 12),
    ],
)
def test_dmesg_dates_are_read_in_other_languages(text: str, month: int) -> None:
    assert read(ts.CTIME, ts.calendar, text) == Instant(ns(2026, month, 11, 9, 52, 1), Clock.HOST_LOCAL, SECOND)


def test_an_unknown_month_gives_no_time() -> None:
    assert read(ts.CTIME, ts.calendar, "Xyz Qqq 11 09:52:01 2026") is None


def test_boot_and_unix_seconds_are_counted_on_their_own_clocks() -> None:
    assert ts.boot({"seconds": "298850", "fraction": "502143"}) == Instant(298850_502143_000, Clock.BOOT, 1000)
    assert ts.unix({"seconds": "1658904526"}) == Instant(1658904526 * SECOND, Clock.UTC, SECOND)
    assert ts.boot({}) is None
    assert ts.read_microseconds("1719828000123456") == Instant(1719828000_123456_000, Clock.UTC, 1000)
    assert ts.read_microseconds("12x") is None


@pytest.mark.parametrize(
    ("clock", "half", "hour"), [("12:00:01", "AM", 0), ("12:00:01", "PM", 12), ("03:00:01", "PM", 15)]
)
def test_twelve_hours_are_read_with_their_half(clock: str, half: str, hour: int) -> None:
    groups = {"year": "2021", "month": "09", "day": "22", "clock": clock, "half": half}
    assert ts.american(groups) == Instant(ns(2021, 9, 22, hour, 0, 1), Clock.HOST_LOCAL, SECOND)


@given(moments, st.integers(-14 * 60, 14 * 60))
def test_any_moment_in_any_zone_is_the_same_instant(when: datetime, minutes: int) -> None:
    text = when.astimezone(timezone(timedelta(minutes=minutes))).isoformat(timespec="microseconds")
    expected = int((when - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1)) * 1000
    got = ts.read_iso(text)
    assert got
    assert (abs(got.ns - expected) <= 1000, got.clock, got.uncertainty_ns) == (True, Clock.UTC, 1000)


@given(moments)
def test_any_moment_of_the_runtime_is_read_back(when: datetime) -> None:
    got = read(ts.RUNTIME, ts.runtime, when.strftime("%Y-%b-%d %H:%M:%S.") + f"{when.microsecond:06}")
    assert got
    assert got.ns % SECOND == when.microsecond * 1000
    assert got.ns // SECOND == int(when.replace(microsecond=0).timestamp())


@given(
    st.dictionaries(st.sampled_from(["year", "month", "day", "fraction"]), st.from_regex(r"[0-9]{1,9}", fullmatch=True))
)
def test_any_groups_give_an_instant_within_64_bits_or_none(groups: dict[str, str]) -> None:
    got = ts.calendar({"clock": "00:00:00", **groups})
    assert got is None or abs(got.ns) < 2**63


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("10:46:03 trainer | step 1007", "2026-04-30T10:46:03"),
        ("cedar01 10:46:03.250 trainer | step 1007", "2026-04-30T10:46:03"),
        ("[rank3] (11:02:59) step 1007", "2026-04-30T11:02:59"),
    ],
)
def test_a_time_without_a_date_is_of_the_hours_after_the_line_above(text: str, since: str) -> None:
    above = ts.read_iso("2026-04-30T10:41:41.500")
    assert above is not None
    assert ts.time_of_day(text, above) == ts.read_iso(since)


def test_a_time_without_a_date_may_be_of_the_next_day() -> None:
    above = ts.read_iso("2026-04-30T23:59:58")
    assert above is not None
    assert ts.time_of_day("00:00:04 step 7", above) == ts.read_iso("2026-05-01T00:00:04")


@pytest.mark.parametrize(
    ("text", "above"),
    [
        ("step 1007 took 00:00:13", "2026-04-30T10:41:41"),  # long ago: it is no time of the day
        ("peer 0a:10:46:03:77 is gone", "2026-04-30T10:41:41"),
        ("10%|# | 10/90 [11:10:46<99:59:01, 4.8s/it]", "2026-04-30T10:41:41"),
        ("99:99:99 step 7", "2026-04-30T10:41:41"),
        ("11:46:03 step 7", "2026-04-30T10:41:41Z"),  # in which zone, the line does not say
        ("a message that says at its end, after sixty characters, 10:46:03", "2026-04-30T10:41:41"),
    ],
)
def test_what_is_no_time_of_the_next_hours_dates_nothing(text: str, above: str) -> None:
    instant = ts.read_iso(above)
    assert instant is not None
    assert ts.time_of_day(text, instant) is None
