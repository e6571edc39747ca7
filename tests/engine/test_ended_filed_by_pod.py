"""The end of a Job of Kubernetes speaks for logs that somebody filed under the names of its pods."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Place, Span
from neuron_doctor.engine.grades import Role


def event(reason: str, about: str, offset: int = 0, host: str | None = None) -> Fact:
    data = {"type": "Normal", "reason": reason, "object": about, "message": "", "repeats": 1, "resolved": False}
    return Fact("k8s-event", data, Place(host=host), Span("k8s", offset, 10, 1, 1, "event", f"event{offset}"), "k8s")


def roles(folder: Path, logs: list[str], *events: Fact) -> set[Role]:
    book = pack(folder, rule("gone", 'record: k8s-event where reason == "NodeNotReady"', cause="bug"))
    sources = (source("k8s", kind="kubectl"), *(source(name) for name in logs))
    facts = (*events, event("NodeNotReady", "node/n1", 50, "n1"), *(hit("step", source=name) for name in logs))
    return {finding.role for finding in diagnose(book, Collection(sources, facts)).findings}


@pytest.mark.parametrize(
    ("logs", "role"),
    [
        (["run-311-0/container.log", "run-311-1/container.log"], Role.SURVIVED),
        (["pods/run-311-0.log", "pods/run-311-1.previous.log"], Role.SURVIVED),
        (["run-311-0/container.log", "eval-7-0/container.log"], Role.ROOT),
        (["run-311/container.log"], Role.ROOT),
    ],
)
def test_nodes_that_go_after_a_job_are_no_loss_of_it(tmp_path: Path, logs: list[str], role: Role) -> None:
    assert roles(tmp_path, logs, event("Completed", "job/run-311")) == {role}


def test_of_two_jobs_that_ended_neither_speaks_for_such_logs(tmp_path: Path) -> None:
    logs = ["run-311-0/container.log"]
    events = event("Completed", "job/run-311"), event("Completed", "job/eval-7", 20)
    assert roles(tmp_path, logs, *events) == {Role.ROOT}
