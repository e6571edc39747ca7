"""A node that was lost is survived where Slurm started the same job again and the job went on below; else it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.grades import Role
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

DOWN = "[2026-04-02T02:15:57.402] error: Nodes q-st-trn-5 not responding, setting DOWN\n"
AGAIN = "[2026-04-02T02:28:00.130] sched: Allocate JobId={} NodeList=q-st-trn-[1-16] #CPUs=2048 Partition=q\n"
STEP = "[rank0] 2026-04-02 0{}:40:00 step 10600 loss 1.9145\n"
ENDED = "slurmstepd: error: *** STEP 7001.0 ON q-st-trn-1 CANCELLED AT 2026-04-02T02:15:58 DUE TO NODE FAILURE, SEE LOG ***\n"
FULL = "[rank9]: OSError: [Errno 28] No space left on device: '/local/x'\n"


def role_of_loss(folder: Path, controller: str, log: str) -> Role:
    (folder / "slurmctld.log").write_text(controller)
    (folder / "slurm-7001.out").write_text(log)
    found = diagnose_once(rulebook(), collect(Request((str(folder),)), rulebook())).findings
    return next(finding.role for finding in found if finding.rule == "node-lost")


WENT_ON = STEP.format(1) + ENDED + STEP.format(3) + FULL


def test_the_loss_of_a_node_is_survived_where_the_job_was_started_again_and_went_on(tmp_path: Path) -> None:
    assert role_of_loss(tmp_path, DOWN + AGAIN.format(7001), WENT_ON) is Role.SURVIVED


@pytest.mark.parametrize(
    ("controller", "log"),
    [
        (DOWN, WENT_ON),  # nothing says that it was started again
        (DOWN + AGAIN.format(7002), WENT_ON),  # another job was
        (DOWN + AGAIN.format(7001) + DOWN.replace("T02", "T04"), WENT_ON),  # and lost again
        (DOWN + AGAIN.format(7001), STEP.format(1) + ENDED + FULL),  # it never came to a step
        (DOWN + AGAIN.format(7001), WENT_ON + ENDED),
    ],
)
def test_else_it_is_what_ended_the_job(tmp_path: Path, controller: str, log: str) -> None:
    assert role_of_loss(tmp_path, controller, log) is Role.ROOT
