"""A node that was away before Slurm started the job is no cause of its failure, and one that went since may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor import diagnose

DOWN = "[2026-10-05T17:38:11.004] error: Nodes trn-a15 not responding, setting DOWN\n"
BACK = "[2026-10-05T17:41:09.551] Node trn-a15 now responding\n"
START = "[2026-10-06T08:12:31.870] sched: Allocate JobId=481220 NodeList=trn-a[11-18] #CPUs=1536 Partition=trn2\n"
DONE = "[2026-10-06T08:13:22.400] _job_complete: JobId=481220 WEXITSTATUS 1\n"
ANEW = "[2026-10-05T17:38:11.104] requeue job JobId=481220 due to failure of node trn-a15\n"
OTHERS = "[2026-10-05T17:38:11.104] requeue job JobId=481218 due to failure of node trn-a15\n"
LOG = (
    "2026-10-06 08:13:11 [rank64] Traceback (most recent call last):\n"
    '2026-10-06 08:13:11 [rank64]   File "train.py", line 61, in main\n'
    "2026-10-06 08:13:11 [rank64] KeyError: 'rope_scaling'\n"
)


def causes(folder: Path, controller: str, job: str = "slurm-481220.out") -> set[str]:
    (folder / "slurmctld.log").write_text(controller)
    (folder / job).write_text(LOG)
    found = diagnose([str(folder)])
    return {finding.cause for finding in found.findings if finding.id in found.root_causes}


@pytest.mark.parametrize("before", [DOWN + BACK, DOWN, DOWN + OTHERS + BACK])
def test_a_node_that_was_away_before_the_job_was_started_is_none_of_its_causes(tmp_path: Path, before: str) -> None:
    assert causes(tmp_path, before + START + DONE) == {"application-exception"}


@pytest.mark.parametrize(
    ("controller", "job"),
    [
        (START + DOWN + DONE, "slurm-481220.out"),
        (DOWN + ANEW + START + DONE, "slurm-481220.out"),  # the job had run on it
        (DOWN + DONE, "slurm-481220.out"),
        (DOWN + START + DONE, "train.log"),  # of whatever job
        (DOWN + START.replace("481220", "481221"), "slurm-481220.out"),
    ],
)
def test_one_that_went_since_or_may_have_is(tmp_path: Path, controller: str, job: str) -> None:
    assert "node-lost" in causes(tmp_path, controller, job)
