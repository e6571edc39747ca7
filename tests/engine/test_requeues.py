"""A job that Slurm queued anew has attempts in one log: what an earlier one met is over where a later one got on."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, progress
from builtin_rules import rulebook
from msgspec.structs import replace

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.requeues import in_their_attempts
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

STEPS = "[rank0] 2026-04-02 {}:09:30 step 10500 loss 1.9166\n[rank0] 2026-04-02 {}:29:30 step 10600 loss 1.9066\n"
LOST = "2026-Apr-02 02:10:55.0700 5003:5103 [2] include/socket.h:541 CCOM WARN RX, connection closed by remote peer\n"
ANEW = "SLURM_RESTART_COUNT=1\n"
#: What else scripts print of the variable.
WORDED = (
    "=== job 4410 restart 1 on inf-p8,inf-p9 Tue May  5 12:02:21 UTC 2026\n",
    "== RUN on inf-p8 jobid=4410 restart=2\n",
    "[launch.sh] job 4410 (sft): requeue #1\n",
    "Job is being restarted (Restart count: 1). Finding latest checkpoint...\n",
    "This job has been requeued 1 times\n",
)
#: What is no such mark.
OTHERS = (
    "=== job 4410 restart 0 on inf-p3,inf-p4 Tue May  5 11:09:58 UTC 2026\n",
    "    Restart Count:  1\n",
    "JobId=4410 JobName=sft UserId=ml(1101) Requeue=1 Restarts=0 BatchFlag=1\n",
    "job 4410 restart 1 exit 143\n",
    "restart_count=1\n",
)
RAISED = "[rank7]: Traceback (most recent call last):\n[rank7]:   f()\n[rank7]: KeyError: 'x'\n"
GONE = (
    "[2026-04-02T02:15:57.402] error: Nodes trn-5 not responding, setting DOWN\n"
    "[2026-04-02T02:15:57.410] requeue job JobId=7001 due to failure of node trn-5\n"
)
STARTED = "[2026-04-02T02:28:00.130] sched: Allocate JobId={} NodeList=trn-[1-16] #CPUs=2048 Partition=q\n"


def roots(folder: Path, log: str, controller: str) -> set[str]:
    (folder / "slurm-7001.out").write_text(log)
    (folder / "slurmctld.log").write_text(controller)
    found = diagnose(rulebook(), collect(Request((str(folder),)), rulebook()))
    return {finding.cause for finding in found.findings if finding.id in found.root_causes}


def test_a_node_that_was_lost_before_the_job_got_on_is_survived(tmp_path: Path) -> None:
    log = STEPS.format("01", "01") + LOST + ANEW + STEPS.format("03", "03") + RAISED
    assert roots(tmp_path, log, GONE + STARTED.format(7001)) == {"application-exception"}


@pytest.mark.parametrize(
    ("log", "controller"),
    [
        # it was not started anew, or another job was
        (STEPS.format("01", "01") + LOST, GONE),
        (STEPS.format("01", "01") + LOST, GONE + STARTED.format(7002)),
        # the second attempt made no step
        (STEPS.format("01", "01") + LOST + ANEW, GONE + STARTED.format(7001)),
        # the node was lost in the second attempt
        (STEPS.format("00", "00") + LOST + ANEW + STEPS.format("01", "01") + LOST, STARTED.format(7001) + GONE),
    ],
)
def test_a_node_that_was_lost_in_the_last_attempt_that_got_on_is_the_cause(
    tmp_path: Path, log: str, controller: str
) -> None:
    assert roots(tmp_path, log, controller) == {"node-lost"}


def attempts(*facts: Fact) -> list[int | None]:
    return [fact.place.attempt for fact in in_their_attempts(facts)]


def test_attempts_are_counted_by_the_marks_of_the_script() -> None:
    marks = [hit("slurm-restarted", offset=at, job="7") for at in (20, 40)]
    steps = [progress(offset=at) for at in (10, 30, 50)]
    assert attempts(*marks, *steps, hit("x", source="other")) == [1, 2, 0, 1, 2, None]


def test_what_a_script_says_before_its_mark_is_of_the_same_attempt() -> None:
    assert attempts(hit("x", offset=1), hit("slurm-restarted", offset=20), progress(offset=30)) == [None, None, None]


def test_a_place_that_names_its_attempt_keeps_it() -> None:
    told = (progress(offset=1), hit("slurm-restarted", offset=20), hit("x", offset=30, attempt=5))
    assert attempts(*told) == [0, 1, 5]


PREEMPTED = "slurmstepd: error: *** JOB 4410 ON inf-p3 CANCELLED AT 2026-05-05T11:24:09 DUE TO PREEMPTION ***\n"
#: `sacct -D`
ROWS = (
    "JobID|JobName|State|ExitCode|Start|End|NodeList\n"
    "4410|sft|PREEMPTED|0:0|2026-05-05T11:09:57|2026-05-05T11:24:09|inf-p[3-4]\n"
    "4410.0|python|CANCELLED|0:15|2026-05-05T11:09:58|2026-05-05T11:24:24|inf-p[3-4]\n"
    "4410|sft|{state}|2026-05-05T12:02:19|2026-05-05T12:10:23|inf-p[8-9]\n"
    "4410.0|python|{state}|2026-05-05T12:02:21|2026-05-05T12:10:23|inf-p[8-9]\n"
)


def of_rows(folder: Path, rows: str, log: str) -> set[str]:
    (folder / "slurm-4410.out").write_text(log)
    (folder / "sacct.txt").write_text(rows)
    found = diagnose(rulebook(), collect(Request((str(folder),)), rulebook()))
    return {finding.cause for finding in found.findings if finding.id in found.root_causes}


def test_a_job_that_was_preempted_and_completed_at_its_second_allocation_has_not_failed(tmp_path: Path) -> None:
    log = STEPS.format("11", "11") + PREEMPTED + ANEW + STEPS.format("12", "12")
    assert of_rows(tmp_path, ROWS.format(state="COMPLETED|0:0"), log) == set()


TERMINATED = "srun: error: inf-p4: task 1: Terminated\nsrun: error: inf-p3: task 0: Terminated\n"


@pytest.mark.parametrize("mark", WORDED)
def test_scripts_say_in_many_words_that_their_job_was_queued_anew(tmp_path: Path, mark: str) -> None:
    log = STEPS.format("11", "11") + PREEMPTED + TERMINATED + mark + STEPS.format("12", "12")
    (tmp_path / "slurm-4410.out").write_text(log)
    found = collect(Request((str(tmp_path),)), rulebook()).facts
    assert [fact.name for fact in found].count("slurm-restarted") == 1
    assert of_rows(tmp_path, ROWS.format(state="COMPLETED|0:0"), log) == set()


@pytest.mark.parametrize("other", OTHERS)
def test_what_only_looks_like_such_words_is_no_mark(tmp_path: Path, other: str) -> None:
    log = STEPS.format("11", "11") + PREEMPTED + TERMINATED + other + STEPS.format("12", "12")
    (tmp_path / "slurm-4410.out").write_text(log)
    assert "slurm-restarted" not in {fact.name for fact in collect(Request((str(tmp_path),)), rulebook()).facts}


def test_where_the_script_says_nothing_the_next_attempt_begins_at_the_first_step_below_what_ended_one(
    tmp_path: Path,
) -> None:
    log = STEPS.format("11", "11") + PREEMPTED + TERMINATED + STEPS.format("12", "12")
    assert of_rows(tmp_path, ROWS.format(state="COMPLETED|0:0"), log) == set()
    # nothing tells that the job was queued anew: the steps below may be what a rank had not yet written
    once = "".join(ROWS.format(state="COMPLETED|0:0").splitlines(keepends=True)[:3])
    assert of_rows(tmp_path, once, log) == {"scheduler-cancelled"}
    # what ends the last attempt too
    assert "scheduler-cancelled" in of_rows(tmp_path, ROWS.format(state="PREEMPTED|0:0"), log + PREEMPTED)


def test_so_it_is_after_a_request_to_queue_the_job_anew(tmp_path: Path) -> None:
    log = (
        STEPS.format("11", "11")
        + PREEMPTED.replace("PREEMPTION", "JOB REQUEUE")
        + TERMINATED
        + STEPS.format("12", "12")
    )
    rows = ROWS.replace("PREEMPTED", "REQUEUED")
    assert of_rows(tmp_path, rows.format(state="COMPLETED|0:0"), log) == set()


@pytest.mark.parametrize(("restarts", "causes"), [(1, set()), (0, {"scheduler-cancelled"})])
def test_the_controller_may_say_how_often_the_job_was_started_anew(
    tmp_path: Path, restarts: int, causes: set[str]
) -> None:
    log = STEPS.format("11", "11") + PREEMPTED + TERMINATED + STEPS.format("12", "12")
    shown = (
        f"JobId=4410 JobName=sft\n   JobState=COMPLETED Reason=None\n   Requeue=1 Restarts={restarts} ExitCode=0:0\n"
    )
    assert of_rows(tmp_path, shown, log) == causes


def test_the_end_of_an_attempt_is_the_last_of_its_tasks_that_was_killed() -> None:
    """A step may be written late, between what Slurm says and the ends of the tasks that it killed."""

    def end(at: int) -> Fact:
        data = {"launcher": "srun", "exitcode": 0, "signal": 15, "first": False, "message": ""}
        return replace(hit("", offset=at, job="7"), kind="launcher-failure", data=data)

    def row(at: int) -> Fact:
        return replace(hit("", offset=at, source="acct"), kind="slurm-job", data={"job_id": "7", "step": ""})

    over = hit("orchestration-slurm-due-to", offset=20, data={"reason": "PREEMPTION"}, job="7")
    steps = [progress(offset=at, job="7") for at in (10, 22, 50)]
    assert attempts(row(1), row(2), over, *steps, end(24), hit("x", offset=60)) == [0, 1, 0, 0, 0, 1, 0, 1]
    assert attempts(row(1), row(2), over, *steps[:2], end(24)) == [0, 1, None, None, None, None]
    limit = hit("orchestration-slurm-due-to", offset=20, data={"reason": "TIME LIMIT"}, job="7")
    assert attempts(row(1), row(2), limit, *steps) == [0, 1, None, None, None, None]


@pytest.mark.parametrize("state", ["FAILED|1:0", "RUNNING|0:0", "NODE_FAIL|0:0"])
def test_a_job_that_was_preempted_and_has_not_completed_since_has_failed(tmp_path: Path, state: str) -> None:
    assert of_rows(tmp_path, ROWS.format(state=state), PREEMPTED) != set()


def test_what_broke_at_the_first_allocation_is_told_though_the_second_one_completed(tmp_path: Path) -> None:
    broke = (
        "2026-May-05 11:20:01.000000 8:9 ERROR TDRV:exec_request_process_errors (FATAL-RT-UNDEFINED-STATE) [ND 3] Uncorrectable "
        "HBM memory error is detected. Execution results may be invalid. Please terminate or start another EC2 instance to "
        "relaunch the job\n"
    )
    log = STEPS.format("11", "11") + broke + ANEW + STEPS.format("12", "12")
    found = of_rows(tmp_path, ROWS.format(state="COMPLETED|0:0"), log)
    assert {cause[:3] for cause in found} == {"hw-"}


def test_the_allocations_of_a_job_are_its_attempts_and_two_jobs_are_not() -> None:
    def row(at: int, job: str, step: str = "") -> Fact:
        return replace(hit("", offset=at, source="acct"), kind="slurm-job", data={"job_id": job, "step": step})

    assert attempts(row(1, "7"), row(2, "7", "0"), row(3, "7"), row(4, "7", "0")) == [0, 0, 1, 1]
    assert attempts(row(1, "7"), row(2, "8"), row(3, "7")) == [None, None, None]
    assert attempts(row(1, "7"), row(2, "7", "0")) == [None, None]


def of_two_logs(
    folder: Path, first: str, again: str, *, mark: str = "2026-05-05 12:05:00 SLURM_RESTART_COUNT=1\n"
) -> set[str]:
    folder.mkdir()
    (folder / first).write_text(STEPS.format("11", "11") + PREEMPTED)
    (folder / again).write_text(mark + STEPS.format("12", "12") + "all ranks exited with status 0\n")
    (folder / "sacct.txt").write_text(ROWS.format(state="COMPLETED|0:0"))
    found = diagnose(rulebook(), collect(Request((str(folder),)), rulebook()))
    return {finding.cause for finding in found.findings if finding.id in found.root_causes}


def test_each_attempt_may_have_a_log_of_its_own(tmp_path: Path) -> None:
    assert of_two_logs(tmp_path / "a", "train.r0.log", "train.r1.log") == set()
    assert of_two_logs(tmp_path / "b", "first.log", "second.log") == {"scheduler-cancelled"}, "of two jobs"
    assert of_two_logs(tmp_path / "c", "t.r0.log", "t.r1.log", mark=ANEW) == {"scheduler-cancelled"}, "at no time"
    before = "2026-04-01 12:05:00 SLURM_RESTART_COUNT=1\n"
    assert of_two_logs(tmp_path / "d", "t.r0.log", "t.r1.log", mark=before) == {"scheduler-cancelled"}


def test_such_logs_are_numbered_as_the_attempts_began() -> None:
    def said(number: int, pattern: str, at: float | None, **data: str) -> Fact:
        fact = hit(pattern, at=at, source=f"id{number * 7 % 10}")  # the sources are called after their content
        return replace(fact, data={**fact.data, **data}, span=replace(fact.span, path=f"r{number}.log"))

    ended = said(9, "orchestration-slurm-due-to", 100.0, reason="PREEMPTION")
    again = said(8, "orchestration-slurm-due-to", 900.0, reason="PREEMPTION")
    marks = [said(n, "slurm-restarted", at) for n, at in ((7, 1000.0), (8, 200.0))]
    found = in_their_attempts([ended, *marks, again])
    assert [fact.place.attempt for fact in found] == [0, 2, 1, 1]
    for at in (200.0, None, 50.0):  # two began at once, or at no time, or before the first had ended
        assert {f.place.attempt for f in in_their_attempts([ended, said(7, "slurm-restarted", at), marks[1]])} == {None}
