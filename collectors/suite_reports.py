"""Reports of test suites in which nothing failed: what their tests wrote is quoted in them, provoked failures among it.

Format: JUnit XML (pytest `--junitxml`, CTest, gtest, `go-junit-report`): `testsuite` with counts of `failures` and `errors`,
`system-out` and `system-err` of each test. One that tells of a failure, or is longer than what can be looked at, is read as text.
"""

from __future__ import annotations

from collections.abc import Iterable

from neuron_doctor.collectors.base import HEAD, Collector, Input
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

_BEGINS = regex(
    rb"\A(?:\xef\xbb\xbf)?\s{0,40}(?:<\?xml[^>]{0,200}>)?\s{0,40}(?:<!--[^>]{0,400}-->\s{0,40})?<testsuites?[\s>]"
)
_ENDS = regex(rb"</testsuites?>\s{0,400}\Z")
_FAILED = regex(rb"<(?:failure|error|rerunFailure|rerunError)\b|\b(?:failures|errors)=[\"'][1-9]")


def is_good_report(head: bytes, _name: str) -> bool:
    """Whether it is the whole report of tests none of which failed."""
    whole = len(head) < HEAD and _BEGINS.match(head) is not None and _ENDS.search(head) is not None
    return whole and _FAILED.search(head) is None


def _collect(_inp: Input) -> Iterable[Fact]:
    return ()


COLLECTOR = Collector(
    "test-report", "reports of tests that all passed, which quote what these wrote", is_good_report, _collect
)
