"""Logs that go on for hours with times alone."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.times_of_day import timed_by_the_lines_above
from neuron_doctor.engine.facts import NOWHERE, Clock, Collection, Fact, Instant, Source, span_of

DAY = 1_791_158_400 * 10**9  # midnight of 2026-10-05
HOUR = 3600 * 10**9


def record(offset: int, text: str, instant: Instant | None = None, path: str = "n7.log") -> Fact:
    return Fact("hit", {}, NOWHERE, span_of(path, text.encode(), offset, 1, 1), path, instant)


def times(facts: list[Fact], kind: str = "log") -> list[float | None]:
    """Hours since midnight, in the order of the log."""
    sources = tuple(Source(path, path, kind, 1, NOWHERE) for path in {fact.span.path for fact in facts})
    timed = timed_by_the_lines_above(Collection(sources, tuple(facts))).facts
    ordered = sorted(timed, key=lambda fact: (fact.span.path, fact.span.offset))
    return [(fact.instant.ns - DAY) / HOUR if fact.instant else None for fact in ordered]


DATED = record(0, "2026-10-05 13:00:00 compiled", Instant(DAY + 13 * HOUR, Clock.HOST_LOCAL))


def test_each_is_timed_by_the_one_before_over_midnight_too() -> None:
    hours = [f"n7 [{hour % 24:02}:30:00] step {hour}/200" for hour in range(13, 30)]
    facts = [DATED, *(record(1000 * hour, text) for hour, text in enumerate(hours, 1))]
    assert times(facts) == [13.0, *(hour + 0.5 for hour in range(13, 30))]


def test_what_is_no_time_or_above_all_dates_or_no_log_stays_without() -> None:
    step, bare = "n7 [13:30:00] step 3/200", "n7 step 4/200"
    assert times([record(5, step), replaced(DATED, 9), record(20, bare)]) == [None, 13.0, None]
    assert times([DATED, record(9, step)], kind="slurm") == [13.0, None]
    assert times([DATED, record(9, "n7 [04:30:00] step 3/200")]) == [13.0, None]
    in_utc = record(0, "2026-10-05T13:00:00Z compiled", Instant(DAY + 13 * HOUR, Clock.UTC))
    assert times([in_utc, record(9, step)]) == [13.0, None]
    assert times([DATED, record(9, step, path="n8.log")]) == [13.0, None]


def replaced(fact: Fact, offset: int) -> Fact:
    return record(offset, fact.span.text, fact.instant)


@given(st.integers(0, 10**6))
def test_the_order_of_the_facts_does_not_matter(seed: int) -> None:
    facts = [DATED, *(record(1000 * n, f"n7 [{13 + n // 4:02}:{n % 4}5:00] step {n}") for n in range(1, 20))]
    mixed = random.Random(seed).sample(facts, len(facts))
    assert times(mixed) == times(facts)
