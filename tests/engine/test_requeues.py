"""A job that Slurm queued anew has attempts in one log: what an earlier one met is over where a later one got on."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import hit, progress
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.requeues import in_their_attempts
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

STEPS = "[rank0] 2026-04-02 {}:09:30 step 10500 loss 1.9166\n[rank0] 2026-04-02 {}:29:30 step 10600 loss 1.9066\n"
LOST = "2026-Apr-02 02:10:55.0700 5003:5103 [2] include/socket.h:541 CCOM WARN RX, connection closed by remote peer\n"
ANEW = "SLURM_RESTART_COUNT=1\n"
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
