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


ROWS = "JobID|JobName|State|ExitCode|NodeList\n880|pre|REQUEUED|0:0|ip-10-2-3-[96-97]\n880|pre|COMPLETED|0:0|{}\n"


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ("ip-10-2-3-[96-97]", set()),
        ("ip-10-2-3-[97-98]", set()),
        ("ip-10-2-3-[96,98]", {"hw-dma-abort"}),  # one of them was left out
        ("ip-10-2-4-[1-2]", {"hw-dma-abort"}),
    ],
)
def test_the_engine_of_a_node_that_the_job_has_left_is_told(tmp_path: Path, nodes: str, found: set[str]) -> None:
    log = FIRST + ANEW + STEP.format(22)
    assert roots(tmp_path, log, kern=KERNEL.format(21), sacct=ROWS.format(nodes)) == found


def test_so_is_that_of_a_worker_whose_node_nobody_tells_if_the_job_has_left_all(tmp_path: Path) -> None:
    log = FIRST + ANEW + STEP.format(22)
    assert roots(tmp_path, log, sacct=ROWS.format("ip-10-2-4-[1-2]")) == {"hw-dma-abort"}
    assert roots(tmp_path, log, sacct=ROWS.format("ip-10-2-3-[97-98]")) == set()


@pytest.mark.parametrize(("host", "found"), [("ip-10-2-3-97", set()), ("ip-10-2-3-98", {"hw-dma-abort"})])
def test_by_the_directories_of_attempts_too(tmp_path: Path, host: str, found: set[str]) -> None:
    for folder, text in (("attempt_0/ip-10-2-3-97", FIRST), (f"attempt_1/{host}", STEP.format(22))):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "rank_70.log").write_text(text.replace("[rank70] ", "").replace("[rank0] ", ""))
    assert roots(tmp_path, STEP.format(20)) == found


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


REPAIRABLE = (
    "1: [default22]:2026-Sep-02 21:00:31.301337 20133:20811 ERROR  TDRV:exec_request_process_errors             "
    "(FATAL-RT-UNDEFINED-STATE) [ND 5] Uncorrectable HBM memory error is detected. Execution results may be invalid. "
    "Please reload the neuron driver or reboot your EC2 instance to prevent future impact from the hardware error.\n"
    "srun: error: ip-10-2-88-240: task 1: Exited with exit code 1\n"
)
ON = '0: [default0]:{"loss": 2.0191, "learning_rate": 0.00027, "epoch": 0.134, "step": 1210}\n'
DONE = "0: [default0]:Training completed. Do not forget to share your model on huggingface.co/models =)\n"
BACK = "[Auto Resume] Info: node ip-10-2-88-240 is back, job 880 resumes (attempt 1 of 1)\n"
BOOTED = (
    "[    9.114882] Neuron Driver Started with Version:2.30.2.0-1f2c9ab0e at: 2026-{} 21:16:31.114230\n"
    "[   88.910022] Scrub completed for nd{} HBM 1\n"
)


def repaired(folder: Path, log: str, booted: str = BOOTED.format("sep-02", 5), state: str = "COMPLETED") -> set[str]:
    (folder / "ip-10-2-88-240").mkdir()
    (folder / "ip-10-2-88-240" / "dmesg").write_text(booted)
    exit_code = int(state != "COMPLETED")
    rows = SACCT.replace("n[1-4]", "ip-10-2-71-18,ip-10-2-88-240,ip-10-2-93-7")
    return roots(folder, log, sacct=rows.format(state, exit_code, state, exit_code))


def test_a_repairable_fault_is_over_when_the_host_was_rebooted_and_the_job_resumed_and_completed(
    tmp_path: Path,
) -> None:
    assert repaired(tmp_path, ON + REPAIRABLE + BACK + ON + DONE) == set()


@pytest.mark.parametrize(
    ("log", "booted", "state"),
    [
        (ON + REPAIRABLE + BACK + ON + DONE, BOOTED.format("aug-20", 5), "COMPLETED"),  # it was rebooted long before
        (ON + REPAIRABLE + BACK + ON + DONE, BOOTED.format("sep-02", 5), "FAILED"),
        (ON + REPAIRABLE + BACK + ON + REPAIRABLE, BOOTED.format("sep-02", 5), "COMPLETED"),  # it came back
        (ON + REPAIRABLE + BACK + ON, BOOTED.format("sep-02", 5), "COMPLETED"),  # no program says that its work is done
        (ON + REPAIRABLE + BACK + ON + DONE, "[    9.114882] neuron: loading out-of-tree module\n", "COMPLETED"),
    ],
)
def test_it_is_not_over_where_anything_of_that_lacks(tmp_path: Path, log: str, booted: str, state: str) -> None:
    assert repaired(tmp_path, log, booted, state) == {"hw-hbm-ue-repairable"}


def test_nor_is_a_fault_over_for_which_the_instance_has_to_go(tmp_path: Path) -> None:
    gone = REPAIRABLE.replace("reload the neuron driver or reboot your EC2", "terminate this")
    assert repaired(tmp_path, ON + gone + BACK + ON + DONE) == {"hw-hbm-ue"}
