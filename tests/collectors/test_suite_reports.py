"""A report of tests that all passed quotes what they wrote; one that tells of a failure is read."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.suite_reports import is_good_report

GOOD = b"""<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite errors="0" failures="0" tests="2">
<testcase name="test_oom"><system-out>Failed to allocate 40.000GB (alignment: none, usage: tensors) on ND 0:NC 0</system-out>
</testcase><testcase name="test_b"/></testsuite></testsuites>
"""


def test_a_report_without_a_failure_is_told() -> None:
    assert is_good_report(GOOD, "junit.xml")
    assert is_good_report(GOOD.partition(b"?>")[2], "TEST-a.xml")


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace(b'failures="0"', b'failures="1"'),
        GOOD.replace(b'errors="0"', b"errors='2'"),
        GOOD.replace(b"</testcase>", b'<failure message="x"/></testcase>'),
        GOOD[:-20],
        GOOD + b" " * 70_000,
        b"2026-05-01 12:00:00 <testsuites> x </testsuites>",
        b"",
    ],
)
def test_one_that_tells_of_a_failure_or_is_cut_off_is_none(text: bytes) -> None:
    assert not is_good_report(text, "junit.xml")
