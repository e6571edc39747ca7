"""What is said within tests that passed is no failure; within one that failed, hangs or was never seen to end, it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor import diagnose

OOM = (
    "2026-Nov-05 02:15:31.156439 41900:41991 ERROR  TDRV:log_dev_mem                             "
    "Failed to allocate 40.000GB (alignment: none, usage: tensors) on ND 0:NC 0"
)
LATER = OOM.replace("02:15:31", "02:15:59")
BUSY = (
    "2026-Oct-29 05:01:12.000000  3028:3028  ERROR   NRT:nrt_allocate_neuron_cores               "
    "Logical Neuron Core(s) not available - Requested:lnc0-lnc1 Available:0 Logical Core size:1 (cores busy, ret=-16)"
)
HBM = (
    "2026-Nov-05 02:15:31.156439 41900:41991 ERROR  TDRV:exec_request_process_errors             "
    "(FATAL-RT-UNDEFINED-STATE) [ND 0] Uncorrectable HBM memory error is detected. Execution results may be invalid. "
    "Please terminate this instance to prevent future impact from the hardware error."
)


def causes(directory: Path, *lines: str) -> list[str]:
    (directory / "run.log").write_text("".join(f"{line}\n" for line in lines))
    return [finding.cause for finding in diagnose([str(directory)]).findings if finding.role.value == "root"]


def status(directory: Path, *lines: str) -> str:
    causes(directory, *lines)
    return diagnose([str(directory)]).verdict.status.value


@pytest.mark.parametrize(
    ("begins", "passed", "failed"),
    [
        ("tests/test_oom.py::test_message[trn1-2]", "PASSED", "FAILED"),
        ("tests/test_oom.py::test_message", "PASSED                 [ 12%]", "ERROR                  [ 12%]"),
        ("tests/test_oom.py::test_message", "XFAIL (runtime 2.27)", "RERUN"),
        ("=== RUN   TestMessage", "--- PASS: TestMessage (9.11s)", "--- FAIL: TestMessage (9.11s)"),
        ("[ RUN      ] Oom.Message", "[       OK ] Oom.Message (9110 ms)", "[  FAILED  ] Oom.Message (9110 ms)"),
        ("+ nccom-test allr -r 2 -c", "Avg bus bandwidth:\t11.3GB/s", "1 errors found - test failed"),
    ],
)
def test_a_failure_within_a_test_counts_unless_the_test_passed_in_the_end(
    tmp_path: Path, begins: str, passed: str, failed: str
) -> None:
    assert causes(tmp_path, begins, OOM, passed) == []
    assert causes(tmp_path, begins, OOM, failed) == ["device-oom"]
    assert causes(tmp_path, begins, OOM, failed, begins, passed) == []
    assert causes(tmp_path, begins, OOM, passed, begins, failed) == ["device-oom"]
    assert causes(tmp_path, begins, OOM) == ["device-oom"]
    assert causes(tmp_path, begins, passed, OOM) == ["device-oom"]
    assert causes(tmp_path, OOM, begins, passed) == ["device-oom"]


def test_another_test_that_passed_says_nothing_of_the_one_that_failed(tmp_path: Path) -> None:
    one, other = "tests/test_oom.py::test_message", "tests/test_oom.py::test_other"
    assert causes(tmp_path, one, OOM, "FAILED", other, "PASSED") == ["device-oom"]
    assert causes(tmp_path, one, OOM, other, "PASSED") == ["device-oom"]
    assert causes(tmp_path, "tests/test_oom.py::test_other PASSED  [ 50%]", one, OOM, "PASSED", LATER) == ["device-oom"]


def test_a_memory_that_breaks_in_a_test_that_passes_is_broken(tmp_path: Path) -> None:
    assert causes(tmp_path, "tests/test_hbm.py::test_reads", HBM, "PASSED") == ["hw-hbm-ue"]


def test_cores_that_were_busy_at_the_first_try_of_a_collectives_test_are_free(tmp_path: Path) -> None:
    first = ("## nccom-test allr -r 2 -c", BUSY, "Failure running neuron-bench - log file /tmp/a.log")
    failed, passed = "1 errors found - test failed", "Avg bus bandwidth:\t11.3GB/s"
    again = "## nccom-test allr -r 2 -c   (attempt 2)"
    assert causes(tmp_path, *first, failed, again, passed, "PASSED") == []
    assert diagnose([str(tmp_path)]).verdict.status.value in ("healthy", "benign")
    assert causes(tmp_path, *first, failed, again, BUSY, failed) == ["core-in-use"]
    assert causes(tmp_path, *first, failed, "## nccom-test allg -r 2 -c", passed) == ["core-in-use"]


def test_ranks_that_waited_above_a_test_that_passed_have_met(tmp_path: Path) -> None:
    waits = "2025-Aug-30 12:31:04.0085 88:140 [0] include/socket.h:611 CCOM WARN Connect to 10.0.0.7<48620> failed - retrying"
    raised = (
        "Traceback (most recent call last):",
        '  File "t.py", line 3, in <module>',
        "RuntimeError: Neuron collective failed",
    )
    table = ("       1024             512     bf16       60.00           0.02           0.03    PASS", "")
    passed = ("Avg bus bandwidth:      31.4411GB/s", "nccom-test finished: 0 errors")
    assert status(tmp_path, waits, *table, *passed) == "healthy"
    assert status(tmp_path, waits, *table, "1 errors found - test failed") != "healthy"
    assert status(tmp_path, waits, *table) == "victims-only"
    assert causes(tmp_path, waits, *raised, "+ nccom-test", *table, *passed) == ["application-exception"]


@pytest.mark.parametrize("label", ["trn2-r4-01: ", "[trn2-r4-01] ", "trn2-r4-01| ", "worker-1  | ", "10.0.3.7: "])
def test_a_table_of_nccom_test_may_stand_behind_the_label_of_its_host(tmp_path: Path, label: str) -> None:
    waits = (
        "2026-Oct-11 01:09:22.0202 31804:32011 [40] include/socket.h:579 CCOM WARN Timeout waiting for RX "
        "(waited 120 sec) - retrying"
    )
    table = "        1024             512    bf16          301.00           0.00           0.01"
    first = [f"{label}{line}" for line in (waits, table)]
    assert status(tmp_path, *first, f"{label}Avg bus bandwidth:\t41.7730GB/s") == "healthy"
    assert status(tmp_path, *first, f"{label}1 errors found - test failed") != "healthy"


def test_of_many_tests_each_is_told_apart(tmp_path: Path) -> None:
    lines = [
        line
        for n in range(60)
        for line in (f"tests/test_oom.py::test_message[{n}]", OOM.replace("15:31", f"15:{n:02}"), "PASSED")
    ]
    assert causes(tmp_path, *lines) == []
    assert causes(tmp_path, *lines[:-1], "FAILED") == ["device-oom"]
