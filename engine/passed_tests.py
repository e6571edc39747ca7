"""What was said within tests that passed: a suite that provokes faults shows each of them, and nothing failed.

Runners of tests say when a test begins and how it ends. All that stands between in the log is its output, if it is known how
the last run of that test in this log ended: one that failed, and passed when it was tried again, has passed. A test that does
not end, or that another one follows without its outcome, proves nothing. What a device or a host tells of itself for good is
believed whoever provoked it: no test breaks a memory.

Where ranks wait for each other above a test that passed, they have met, wherever its output begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.match import Match

#: Who is at fault in what a test can provoke, even where progress does not undo it.
_PROVOKED = frozenset({"model", "user", "config", "peer"})
_ORDER = {"begins": 0, "passed": 1, "failed": 2}
#: How those complain who wait for others to come, and try again.
_WAITS, _RETRIES = "hang-report", "retry"


class _Run(NamedTuple):
    """From where to where a test wrote."""

    begin: int
    end: int


class PassedTests(Struct, frozen=True):
    """For each log, the runs of tests that have passed in the end, in their order, and where the last word of a good end is."""

    runs: Mapping[str, Sequence[_Run]] = field(default_factory=dict)
    last: Mapping[str, int] = field(default_factory=dict)

    def covers(self, match: Match) -> bool:
        """Whether all that the match rests on was said within them."""
        if match.facts and all(fact.kind == _WAITS and fact.data.get("what") == _RETRIES for fact in match.facts):
            return all(fact.span.offset < self.last.get(fact.source, -1) for fact in match.facts)
        provoked = match.rule.survivable or match.rule.cause.by in _PROVOKED
        return bool(self.runs and match.facts) and bool(provoked) and all(map(self._has, match.facts))

    def _has(self, fact: Fact) -> bool:
        runs = self.runs.get(fact.source, ())
        at = bisect_right(runs, fact.span.offset, key=lambda run: run.begin) - 1
        return at >= 0 and fact.span.offset <= runs[at].end


def passed_tests(facts: Iterable[Fact]) -> PassedTests:
    """What these facts tell of tests."""
    told: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "test":
            told[fact.source].append(fact)
    passed = ((source, [f.span.offset for f in some if f.data["phase"] == "passed"]) for source, some in told.items())
    return PassedTests(
        {source: runs for source, some in told.items() if (runs := _runs(some))},
        {source: max(offsets) for source, offsets in passed if offsets},
    )


def _runs(told: Iterable[Fact]) -> list[_Run]:
    """The runs of the tests of one log of which the last one has passed."""
    runs: list[tuple[str, _Run]] = []
    last: dict[str, str] = {}
    name, begin, is_open = "", 0, False
    for fact in sorted(told, key=lambda fact: (fact.span.offset, _ORDER.get(str(fact.data["phase"]), 0))):
        phase, said = str(fact.data["phase"]), str(fact.data.get("name") or "").strip()
        if phase == "begins":
            if is_open:
                last[name] = "open"
            name, begin, is_open = said, fact.span.offset, True
        elif name and said in ("", name):
            # what failed after its last good word has failed
            last[name] = phase
            if is_open:
                runs.append((name, _Run(begin, fact.span.offset)))
            is_open = False
        elif said:
            last[said] = phase  # the outcome of a test whose parts had theirs
    if is_open:
        last[name] = "open"
    return [run for of, run in runs if last[of] == "passed"]
