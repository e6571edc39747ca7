"""Whom the kernel killed for memory was no worker of a job, or of a host, that ended well; of others it may have been one."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import CAUSES, hit, pack, rule, source

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


DONE = [said("completion", f"{host}.log", host, exited=False) for host in ("n1", "n2")]


@pytest.mark.parametrize(
    ("words", "log", "cause", "role"),
    [
        (DONE, "dmesg", "process-crash", Role.SURVIVED),
        (DONE, "dmesg", "bug", Role.ROOT),
        (DONE, "n1.log", "process-crash", Role.ROOT),
        (DONE[:1], "dmesg", "process-crash", Role.ROOT),
        ([*DONE[:1], said("progress", "n2.log", "n2", what="step", value=3.0)], "dmesg", "process-crash", Role.ROOT),
    ],
)
def test_who_crashed_by_the_kernels_word_was_no_worker_where_all_hosts_say_last_that_they_are_done(
    tmp_path: Path, words: list[Fact], log: str, cause: str, role: Role
) -> None:
    crashed = hit("crashed", source=log, offset=95, host="n1")
    causes = f'{CAUSES}  process-crash: {{by: user, is: "a process crashed"}}\n'
    rules = pack(tmp_path, rule("crashed", "record: crashed", cause=cause, patterns=("crashed",)), causes=causes)
    [found] = diagnose(rules, Collection(SOURCES, (crashed, *words))).findings
    assert found.role is role
