"""Dates and nanoseconds since 1970, each made of the other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def date_of(ns: int) -> datetime:
    """The date in UTC, to the microsecond below. Raises OverflowError outside the years 1 to 9999."""
    return _EPOCH + ns // 1000 * _MICROSECOND


def ns_of(date: datetime) -> int:
    """Nanoseconds since 1970-01-01 00:00 UTC of a date with a zone."""
    return (date - _EPOCH) // _MICROSECOND * 1000
