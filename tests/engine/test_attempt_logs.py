"""Logs of attempts that were made good, by what they are called."""

from __future__ import annotations

from time import perf_counter

import pytest

from neuron_doctor.engine.attempt_logs import logs_of_attempts
from neuron_doctor.engine.facts import Fact, Place, Source, Span


def listed(unit: str, *streams: str, good: bool = True) -> list[Fact]:
    last = len(streams)
    return [
        Fact(
            "attempt",
            {
                "unit": unit,
                "number": n,
                "stream": stream,
                "failed": not (good and n == last),
                "made_good": good and n < last,
            },
            Place(),
            Span("jobs.json"),
            "j",
        )
        for n, stream in enumerate(streams, 1)
    ]


def earlier(attempts: list[Fact], *paths: str) -> set[str]:
    return logs_of_attempts(attempts, [Source(path, path, "log") for path in paths])


LOGS = tuple(f"out/lm_default_{turn}-{node}.log" for turn in ("x1", "x2") for node in ("main", "node1", "node2"))


def test_of_the_attempt_before_all_logs_are_those_called_as_the_one_that_is_listed() -> None:
    assert earlier(listed("j", "x1-main", "x2-main"), *LOGS) == set(LOGS[:3])


def test_a_node_without_a_log_of_the_next_attempt_may_not_have_come_again() -> None:
    assert earlier(listed("j", "x1-main", "x2-main"), *LOGS[:-1]) == set(LOGS[:2])
    assert earlier(listed("j", "x1-main", "x2-main"), *LOGS[:3]) == set()


@pytest.mark.parametrize(
    "attempts",
    [
        listed("j", "x1-main", "x2-main", good=False),
        listed("j", "x1-main"),
        listed("j", "0f3c2a", "77ab01"),  # one word each: found wherever it stands
        listed("j", "x1-main", "x1-main"),
    ],
)
def test_what_is_not_shown_to_be_made_good_is_not(attempts: list[Fact]) -> None:
    assert earlier(attempts, *LOGS) == set()


def test_logs_of_other_names_or_folders_are_of_something_else() -> None:
    more = ("out/eval_default_x1-node1.log", "out/eval_default_x2-node1.log", "x1-node9.log", "x2-node9.log")
    assert earlier(listed("j", "x1-main", "x2-main"), *LOGS, *more) == set(LOGS[:3])
    assert earlier(listed("j", "1-main", "2-main"), "1.log", "2.log", "node-1.log", "node-2.log") == set()


def test_packed_logs_are_called_as_the_open_ones() -> None:
    packed = [f"{log}.gz" for log in LOGS]
    assert earlier(listed("j", "x1-main", "x2-main"), *packed) == set(packed[:3])


def test_many_logs_of_many_attempts_cost_no_square() -> None:
    """A thousand jobs with a retry each took seconds when each log was compared with all others."""
    attempts = [one for unit in range(3000) for one in listed(f"u{unit}", f"u{unit}-x1-main", f"u{unit}-x2-main")]
    logs = [
        f"out/u{unit}-{turn}-{node}.log" for unit in range(3000) for turn in ("x1", "x2") for node in ("main", "n1")
    ]
    began = perf_counter()
    assert len(earlier(attempts, *logs)) == 6000
    assert perf_counter() - began < 10
