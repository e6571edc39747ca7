"""What a scheduler's log says of jobs: that they began, and that they are done or are to end."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def events(folder: Path, line: str) -> list[tuple[object, object]]:
    (folder / "slurmctld.log").write_text(f"[2026-08-09T02:46:26.769] {line}\n")
    facts = collect(Request((str(folder),)), rulebook()).facts
    return [(f.data["what"], f.data["job_id"]) for f in facts if f.kind == "job-event"]


@pytest.mark.parametrize(
    "line",
    [
        "sched: Allocate JobId=7719 NodeList=trn-[021-024] #CPUs=512 Partition=trn",
        "sched/backfill: _start_job: Started JobId=7719 in trn on trn-016",
    ],
)
def test_a_job_begins(tmp_path: Path, line: str) -> None:
    assert events(tmp_path, line) == [("started", "7719")]


@pytest.mark.parametrize(
    "line",
    [
        "_job_complete: JobId=7719 WEXITSTATUS 0",
        "_job_complete: JobId=7719 done",
        "job_complete: JobId=7719 done",
        "Subject: Slurm Job_id=7719 Name=bert Ended, Run time 02:49:31, COMPLETED, ExitCode 0",
    ],
)
def test_a_job_is_done(tmp_path: Path, line: str) -> None:
    assert events(tmp_path, line) == [("done", "7719")]


@pytest.mark.parametrize(
    "line",
    [
        "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=7719 uid 1000",
        "Time limit exhausted for JobId=7719",
        "Killing JobId=7719 on failed node trn-016",
        "preempted JobId=7719 has been killed to reclaim resources for JobId=7720",
        "Requeuing JobId=7719",
        "requeue JobId=7719 due to failure of node trn-016",
        "requeue job JobId=7719 due to failure of node trn-016",
    ],
)
def test_a_job_is_to_end(tmp_path: Path, line: str) -> None:
    assert events(tmp_path, line) == [("ending", "7719")]


@pytest.mark.parametrize(
    "line", ["_slurm_rpc_submit_batch_job: JobId=7719 InitPrio=1", "Health Check run without error"]
)
def test_other_lines_say_neither(tmp_path: Path, line: str) -> None:
    assert events(tmp_path, line) == []


@pytest.mark.parametrize("state", ["CANCELLED", "TIMEOUT", "PREEMPTED"])
def test_the_exit_code_in_a_mail_of_one_that_was_ended_from_outside_says_nothing(tmp_path: Path, state: str) -> None:
    for word in ("Ended", "Failed"):
        assert events(tmp_path, f"Slurm Job_id=7719 Name=bert {word}, Run time 02:49:31, {state}, ExitCode 0") == []


def test_the_mail_of_a_task_of_an_array_names_it(tmp_path: Path) -> None:
    line = "Slurm Array Task Job_id=7719_4 (7725) Name=bert Failed, Run time 00:00:10, FAILED, ExitCode 1"
    assert events(tmp_path, line) == [("done", "7719_4")]


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("epilog: job 3021 exit 0", True),
        ("[epilog] job 3021 exit code: 0", True),
        ("epilog: job 3021 exit 1", False),
        ("epilog: job 3021 exit 0 of 3 checks", False),
        ("prolog: job 3021 exit 0", False),
    ],
)
def test_an_epilog_may_tell_that_the_job_exited_with_0(tmp_path: Path, line: str, ended: bool) -> None:
    (tmp_path / "slurm-3021.out").write_text(f"step 5 loss 2.31\n{line}\n")
    facts = collect(Request((str(tmp_path),)), rulebook()).facts
    assert [fact.data["exited"] for fact in facts if fact.kind == "completion"] == [True] * ended
