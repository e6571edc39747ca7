"""Whom the kernel killed for memory was no worker of a job, or of a host, that ended well; of others it may have been one."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import pack, rule, source

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Collection, Fact, Place, Span, Value
from neuron_doctor.engine.grades import Role

SOURCES = (source("n1.log"), source("n2.log"), source("acct", kind="slurm"), source("dmesg", kind="kernel"))


def said(kind: str, name: str, host: str | None = None, **data: Value) -> Fact:
    return Fact(kind, data, Place(host=host), Span(name, 90, 10, 1, 1, kind, kind), name)


ENDS = [said("completion", f"{host}.log", host, exited=True) for host in ("n1", "n2")]
ROW: dict[str, Value] = {"job_id": "7", "step": "", "state": "COMPLETED", "exitcode": 0, "signal": 0}


@pytest.mark.parametrize(
    ("host", "words", "role"),
    [
        ("n3", [said("slurm-job", "acct", derived_exitcode=0, **ROW)], Role.SURVIVED),
        ("n1", ENDS, Role.SURVIVED),
        ("n3", ENDS, Role.ROOT),
        (None, ENDS, Role.ROOT),
    ],
)
def test_it_is_told_by_the_host_unless_a_scheduler_speaks_for_the_job(
    tmp_path: Path, host: str | None, words: list[Fact], role: Role
) -> None:
    killed = said("oom-kill", "dmesg", host, victim="python3", victim_pid=7, scope="global")
    rules = pack(tmp_path, rule("killed", "record: oom-kill", cause="bug"))
    [found] = diagnose(rules, Collection(SOURCES, (killed, *words))).findings
    assert found.role is role
