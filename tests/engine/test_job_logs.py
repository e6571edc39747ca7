"""The log of a job into which its script prints the kernel's messages is the job's, and no log of the system."""

from __future__ import annotations

import pytest
from builders import source
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.job_logs import system_logs

LOGS = (source("slurm-7001.out"), source("dmesg", kind="kernel"))


def said(kind: str, *, pid: int | None = None, **data: str) -> Fact:
    return Fact(kind, dict(data), Place(pid=pid), Span("slurm-7001.out"), "slurm-7001.out")


KERNEL = said("hw-err")
KINDS = ("progress", "launch", "launcher-failure", "stand", "world")
EXCEPTION = said("hit", pattern="p", exception="ValueError")


@pytest.mark.parametrize(
    "own",
    [*map(said, KINDS), EXCEPTION, replace(said("hit", pattern="p"), place=Place(rank=3))],
)
def test_what_a_job_alone_says_makes_a_log_the_jobs(own: Fact) -> None:
    assert system_logs(LOGS, [KERNEL, own]) == {"dmesg"}


def test_what_else_tells_of_the_kernel_is_the_systems() -> None:
    assert system_logs(LOGS, [KERNEL, said("hit", pattern="p"), said("env")]) == {"dmesg", "slurm-7001.out"}


def test_daemons_have_exceptions_too_and_the_system_writes_their_numbers_before_them() -> None:
    daemon = replace(EXCEPTION, place=Place(host="n1", pid=812))
    assert system_logs(LOGS, [KERNEL, daemon]) == {"dmesg", "slurm-7001.out"}
