"""An exception that a process met and tried again after is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, progress
from builtin_rules import rulebook
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.retried_exceptions import without_retried
from neuron_doctor.pipeline import collect, diagnose_paths
from neuron_doctor.request import Request


def again(exception: Fact, **place: object) -> Fact:
    below = replace(exception.span, offset=exception.span.offset + exception.span.length + 1)
    return replace(exception, kind="tries-again", data={}, span=below, place=replace(exception.place, **place))  # type: ignore[arg-type]


def test_only_the_exception_right_above_is_left_out() -> None:
    first, second = (hit("python-exception", offset=at, rank=1) for at in (10, 90))
    elsewhere, other = hit("python-exception", offset=10, rank=1, source="t"), hit("x", offset=10, rank=1)
    facts = [first, second, elsewhere, other]
    assert without_retried([*facts, again(first)]) == [second, elsewhere, other, again(first)]
    assert without_retried(facts) is facts


def test_what_another_process_tries_again_is_not_this() -> None:
    fact = hit("python-exception", offset=10, rank=1)
    assert fact in without_retried([fact, again(fact, rank=2)])


def test_who_names_no_process_may_be_who_starts_the_program_anew() -> None:
    fact = hit("python-exception", offset=10)
    assert fact in without_retried([fact, again(fact)])
    assert fact in without_retried([fact, again(fact), progress(offset=5)])
    assert fact not in without_retried([fact, again(fact), progress(offset=99)])


def test_what_is_logged_above_counts_where_the_same_process_got_on() -> None:
    logged = replace(hit("python-exception", offset=10, rank=1), data={"pattern": "python-exception", "again": "retry"})
    failed = replace(hit("x", offset=50), kind="launcher-failure")
    assert logged in without_retried([logged])
    assert logged not in without_retried([logged, progress(offset=99, rank=1)])
    assert logged not in without_retried([logged, progress(offset=99)])
    assert logged in without_retried([logged, progress(offset=5, rank=1), progress(offset=99, rank=2)])
    assert logged in without_retried([logged, failed, progress(offset=99, rank=1)])


TRACEBACK = '{0}Traceback (most recent call last):\n{0}  File "t.py", line 3, in <module>\n{0}ValueError: bad labels\n'


@pytest.mark.parametrize(
    ("label", "below"),
    [
        ("[rank0]: ", "[rank3]: dataloader: fetch of shard 7 failed, retrying in 2 s"),
        ("", "run.sh: training ended with 1, retrying in 60 s"),
        ("", "shell-operator: job will retry (backoff 1/3)"),
        ("[rank0]: ", "[rank0]: fetch: giving up after retry 3/3"),
    ],
)
def test_what_others_try_again_excuses_no_exception(tmp_path: Path, label: str, below: str) -> None:
    (tmp_path / "run.log").write_text(TRACEBACK.format(label) + below + "\n")
    found = diagnose_paths(Request((str(tmp_path),)), rulebook())
    assert [finding.cause for finding in found.findings if finding.role.value == "root"] == ["application-exception"]


@pytest.mark.parametrize(
    ("above", "caught"),
    [
        ("WARNING:ckpt: upload attempt 1/6 failed, retry in 4s", True),
        ("upload failed; will retry", True),
        ("Retrying (1/5)", True),
        ("Retrying ckpt.put in 4.0 seconds as it raised ConnectTimeout: timed out.", True),  # tenacity
        ("Backing off put(...) for 1.2s (ValueError: bad labels)", True),  # backoff
        ("giving up after 3 retries", False),
        ("no retry: upload attempt 6/6 failed", False),
    ],
)
def test_a_traceback_below_the_word_of_a_retry_is_survived_by_who_goes_on(
    tmp_path: Path, above: str, caught: bool
) -> None:
    for end, excused in (("rank 0 finished, exiting 0", caught), ("", False)):
        (tmp_path / "run.log").write_text(f"{above}\n{TRACEBACK.format('')}{end}\n")
        facts = without_retried(collect(Request((str(tmp_path),)), rulebook()).facts)
        assert ("python-exception" in {fact.name for fact in facts}) is not excused


def test_the_line_is_read_with_its_speaker(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(TRACEBACK.format("[rank0]: ") + "[rank0]: attempt 1 failed, retrying in 2 s\n")
    facts = collect(Request((str(tmp_path),)), rulebook()).facts
    assert [fact.place.rank for fact in facts if fact.kind == "tries-again"] == [0]
    assert "python-exception" not in {fact.name for fact in without_retried(facts)}
