"""The words of AWS Batch and LSF that a job succeeded are those of a scheduler."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, progress, rule, source
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Place, Span, Value
from neuron_doctor.engine.grades import Role


def said(kind: str, data: dict[str, Value], *, offset: int, name: str = "s") -> Fact:
    return Fact(kind, data, Place(), Span(name, offset, 1, 1, 1, kind, f"{kind}{offset}"), name)


def attempt(number: int, *, failed: bool = False, unit: str = "7f3c") -> Fact:
    data: dict[str, Value] = {"unit": unit, "number": number, "stream": f"{unit}{number}", "failed": failed}
    return said("attempt", data | {"made_good": False}, offset=number, name="jobs")


def report(job: str) -> Fact:
    """What LSF writes above the output of a job."""
    told = said("completion", {"exited": True, "scheduled": True}, offset=int(job), name="jobs")
    return replace(told, place=Place(job=job))


FAILED = said("launcher-failure", {"launcher": "batch", "exitcode": 1}, offset=50, name="jobs")


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ((attempt(1, failed=True), attempt(2)), Role.SURVIVED),
        ((attempt(2), attempt(1, failed=True)), Role.SURVIVED),
        ((attempt(1, failed=True),), Role.ROOT),
        ((attempt(1), attempt(1, unit="9d20")), Role.ROOT),  # two jobs
        ((report("31"),), Role.SURVIVED),
        ((report("31"), report("31")), Role.SURVIVED),  # told twice
        ((report("31"), report("32")), Role.ROOT),  # two jobs
        ((report("31"), FAILED), Role.ROOT),
        ((), Role.ROOT),
    ],
)
def test_what_came_before_the_last_word_of_a_job_that_succeeded_is_survived(
    tmp_path: Path, attempts: tuple[Fact, ...], expected: Role
) -> None:
    book = pack(tmp_path, rule("raised", "record: raising", cause="bug", patterns=("raising",)))
    work = (hit("raising", offset=5), progress(offset=20), said("completion", {"exited": False}, offset=90))
    sources = (source("s"), source("jobs"))
    [finding] = diagnose(book, Collection(sources, (*work, *attempts))).findings
    assert finding.role is expected


def test_so_is_an_exception_below_the_word_of_a_retry_wherever_its_log_ends(tmp_path: Path) -> None:
    book = pack(tmp_path, rule("raised", "record: python-exception", cause="bug", patterns=("python-exception",)))
    plain = hit("python-exception", offset=5)
    again = replace(plain, data=plain.data | {"again": "failed, retry"})
    sources = (source("s"), source("jobs"))
    for fact, attempts, expected in (
        (again, (attempt(1),), Role.SURVIVED),
        (again, (attempt(1, failed=True),), Role.ROOT),
        (plain, (attempt(1),), Role.ROOT),
    ):
        [finding] = diagnose(book, Collection(sources, (fact, *attempts))).findings
        assert finding.role is expected
