"""What lasts until a device is reset is over when the job was started anew and got on, and not when its process goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

ABORT = (
    "[rank70] 2026-Apr-14 {}:20:05.200703  5511:5600  ERROR  TDRV:exec_wait_round_robin                   "
    "[MLA 3][NC 6] DMA RX engine 2 is in an abort state\n"
)
UE = (
    "[rank70] 2026-Apr-14 21:20:05.200703  5511:5600  ERROR  TDRV:exec_request_process_errors             "
    "(FATAL-RT-UNDEFINED-STATE) [ND 3][NC 6] "
    "Uncorrectable memory error is detected, metadata: 0x2. Please terminate or stop/start this instance\n"
)
KERNEL = (
    "Apr 14 {}:20:05 ip-10-2-3-97 kernel: NEURON_HW_ERR=DMA_ERROR instance-id=i-0f1e2d3c4b5a69788 hostname=ip-10-2-3-97 nd-id=3 "
    "nc-id=6 serial-num=88a1b0f3e2d47c11\n"
)
ANEW, STEP = "SLURM_RESTART_COUNT=1\n", "[rank0] 2026-04-14 {}:30:00 step 360 loss 3.280\n"
RESUMED = (
    "[Auto Resume] Info: JobID: 880 StepID: 0 Response from cluster agent: JobId=880, ResumeAction=RETRYSTEP\n"
    "[Auto Resume] Info: JobID: 880 StepID: 0 Sucessfully expanded job with additional nodes\n"
)
SACCT = "JobID|JobName|State|ExitCode|NodeList\n880|pre|{}|{}:0|n[1-4]\n880.0|pre|{}|{}:0|n[1-4]\n"


def roots(folder: Path, log: str, **files: str) -> set[str]:
    for name, text in {"slurm-880.out": log, **{f"{name}.txt": text for name, text in files.items()}}.items():
        (folder / name).write_text(text)
    found = diagnose(rulebook(), collect(Request((str(folder),)), rulebook()))
    return {finding.cause for finding in found.findings if finding.id in found.root_causes}


FIRST = STEP.format(20) + ABORT.format(21)


def test_an_engine_that_stopped_before_the_job_was_queued_anew_and_got_on_is_over(tmp_path: Path) -> None:
    assert roots(tmp_path, FIRST + ANEW + STEP.format(22)) == set()


def test_so_is_what_the_kernel_log_said_of_it_at_that_time(tmp_path: Path) -> None:
    assert roots(tmp_path, FIRST + ANEW + STEP.format(22), kern=KERNEL.format(21)) == set()


@pytest.mark.parametrize(
    ("log", "kern"),
    [
        (FIRST + STEP.format(22), ""),  # another rank's line, late
        (FIRST + ANEW, ""),  # nothing got on
        (FIRST + ANEW + STEP.format(22) + ABORT.format(23), ""),  # it stopped again
        (FIRST + ANEW + STEP.format(22), KERNEL.format(21) + KERNEL.format(23)),
        (STEP.format(20) + ANEW + STEP.format(22), KERNEL.format(21)),  # no attempt says that it was before
    ],
)
def test_an_engine_that_may_stand_still_is_told(tmp_path: Path, log: str, kern: str) -> None:
    assert roots(tmp_path, log, **({"kern": kern} if kern else {})) == {"hw-dma-abort"}


def test_memory_that_broke_is_told_though_the_job_got_on(tmp_path: Path) -> None:
    assert roots(tmp_path, STEP.format(20) + UE + ANEW + STEP.format(22)) == {"hw-sram-ue"}


@pytest.mark.parametrize(("state", "code", "found"), [("COMPLETED", 0, set()), ("FAILED", 1, {"hw-dma-abort"})])
def test_a_step_that_hyperpod_started_anew_counts_by_its_end(
    tmp_path: Path, state: str, code: int, found: set[str]
) -> None:
    sacct = SACCT.format(state, code, state, code)
    assert roots(tmp_path, FIRST + RESUMED + STEP.format(22), sacct=sacct) == found


def test_an_error_of_the_kernel_is_no_exception_of_a_program(tmp_path: Path) -> None:
    said = "LustreError: 4105:0:(events.c:205:client_bulk_callback()) event type 1, status -5, desc 0000000054"
    assert roots(tmp_path, STEP.format(20), kern=f"Apr 14 22:21:57 ip-10-2-3-97 kernel: {said}\n") == set()
