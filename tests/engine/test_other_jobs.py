"""What the accounting says of other people's jobs is told apart from what it says of the one whose logs were collected."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Source
from neuron_doctor.engine.grades import Role

LOG, ACCOUNTING = source("log", job="9001", host="a"), source("sacct", kind="slurm")
RAISED = hit("raising", source="log", host="a", job="9001")


def role_of_row(
    tmp_path: Path, job: str, *others: Fact, host: str | None = "a", cause: str = "bug", sources: tuple[Source, ...]
) -> Role | None:
    rules = (
        rule("ended", "record: ended", cause=cause, patterns=("ended",)),
        rule("raised", "record: raising", at="rank", patterns=("raising",)),
    )
    facts = (hit("ended", source="sacct", job=job, host=host), *others)
    found = diagnose(pack(tmp_path, *rules), Collection(sources, facts))
    return next((finding.role for finding in found.findings if finding.rule == "ended"), None)


def own_row(job: str = "9001") -> Fact:
    return hit("x", source="sacct", offset=90, job=job)


@pytest.mark.parametrize(
    ("job", "role"), [("8990", Role.CONTEXT), ("9001", Role.ROOT), ("9001_3", Role.ROOT), ("9001+1", Role.ROOT)]
)
def test_a_job_that_nothing_else_tells_of_is_another(tmp_path: Path, job: str, role: Role) -> None:
    assert role_of_row(tmp_path, job, own_row(), sources=(LOG, ACCOUNTING)) is role


def test_nothing_is_known_of_others_where_the_accounting_lacks_the_job_of_the_logs(tmp_path: Path) -> None:
    assert role_of_row(tmp_path, "8990", RAISED, sources=(LOG, ACCOUNTING)) is Role.ROOT


def test_the_accounting_alone_is_all_there_is(tmp_path: Path) -> None:
    assert role_of_row(tmp_path, "8990", own_row(), sources=(ACCOUNTING,)) is Role.ROOT


@pytest.mark.parametrize(("host", "role"), [("a", Role.ROOT), ("b", Role.CONTEXT), (None, Role.CONTEXT)])
def test_what_broke_a_shared_host_counts_whoever_ran_there(tmp_path: Path, host: str | None, role: Role) -> None:
    sources = (LOG, ACCOUNTING)
    assert role_of_row(tmp_path, "8990", own_row(), host=host, cause="broken-device", sources=sources) is role
