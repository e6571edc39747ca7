"""What torchrun, srun and mpirun print about the ends of their processes."""

from collections.abc import Callable
from random import Random

import pytest

from neuron_doctor.corpus.simulator.history import (
    Event,
    History,
    HostRebooted,
    KernelOom,
    LauncherSaw,
    SchedulerSaid,
)
from neuron_doctor.corpus.simulator.style import Launcher, Style
from neuron_doctor.corpus.simulator.truth import File
from neuron_doctor.corpus.simulator.write_launcher import files

NEWS = 1_750_000_600.0
MAKE = Callable[..., History]
RAISED = LauncherSaw(time=NEWS, rank=3, host=1, exit_code=1, signal=None, first=True)
CRASHED = LauncherSaw(time=NEWS, rank=3, host=1, exit_code=-11, signal=11, first=True, fault=0)
ENDED = LauncherSaw(time=NEWS + 1.0, rank=2, host=1, exit_code=-15, signal=15, killed_by_launcher=True)


def written(history: History, launcher: Launcher) -> list[File]:
    return list(files(history, Style(launcher=launcher), Random(1)))


def text(history: History, launcher: Launcher) -> str:
    return "".join(file.data.decode() for file in written(history, launcher))


def statements(found: list[File]) -> list[str]:
    return [file.data[mark.offset : mark.offset + mark.length].decode() for file in found for mark in file.marks]


def test_torchrun_closes_the_others_and_tabulates_what_failed_first(hand_made: MAKE) -> None:
    said = text(hand_made(RAISED, ENDED), Launcher.TORCHRUN)
    closing = said.index("Sending process 4002 closing signal SIGTERM")
    assert closing < said.index("failed (exitcode: 1) local_rank: 1 (pid: 4003) of binary:")
    table = said[said.index("Root Cause (first observed failure):") :]
    assert "  rank      : 3 (local_rank: 1)\n  exitcode  : 1 (pid: 4003)\n  error_file: <N/A>" in table
    assert "<NO_OTHER_FAILURES>" in said


def test_torchrun_names_the_signal_of_a_crash(hand_made: MAKE) -> None:
    found = written(hand_made(CRASHED), Launcher.TORCHRUN)
    assert "  traceback : Signal 11 (SIGSEGV) received by PID 4003" in statements(found)
    assert "  exitcode  : -11 (pid: 4003)" in statements(found)


def test_torchrun_on_each_host_speaks_of_its_own_ranks_only(hand_made: MAKE) -> None:
    first, second = written(hand_made(RAISED), Launcher.TORCHRUN)
    assert b"Root Cause" not in first.data
    assert b"Root Cause" in second.data


def test_torchrun_shares_the_log_of_a_host_that_has_one(hand_made: MAKE) -> None:
    assert not list(files(hand_made(RAISED), Style(logs_per_rank=False), Random(1)))


def test_torchrun_that_is_told_to_stop_says_so_and_has_no_table(hand_made: MAKE) -> None:
    said = text(hand_made(SchedulerSaid(time=NEWS, what="cancelled", fault=0)), Launcher.TORCHRUN)
    assert "Received 15 death signal, shutting down workers" in said
    assert "Root Cause" not in said


@pytest.mark.parametrize(
    ("events", "line"),
    [
        ((RAISED,), "srun: error: ip-10-1-2-4: task 3: Exited with exit code 1"),
        ((CRASHED,), "srun: error: ip-10-1-2-4: task 3: Segmentation fault (core dumped)"),
        ((RAISED, ENDED), "srun: error: ip-10-1-2-4: task 2: Terminated"),
        ((RAISED, ENDED), "srun: Terminating StepId=4711.0"),
        ((SchedulerSaid(time=NEWS, what="time-limit"),), ("slurmstepd: error: *** STEP 4711.0 ON ip-10-1-2-3 CANCELLED AT "
                                                         "2025-06-15T15:16:40 DUE TO TIME LIMIT ***")),
        ((HostRebooted(time=NEWS, host=1),), "srun: error: Node failure on ip-10-1-2-4"),
    ],
)  # fmt: skip
def test_srun_reports_ends_cancellations_and_lost_nodes(hand_made: MAKE, events: tuple[Event, ...], line: str) -> None:
    assert f"{line}\n" in text(hand_made(*events), Launcher.SRUN)


def test_srun_knows_of_the_oom_killer(hand_made: MAKE) -> None:
    oom = KernelOom(time=NEWS, rank=3, host=1, process="python3", resident_kib=9, fault=0)
    saw = LauncherSaw(time=NEWS, rank=3, host=1, exit_code=-9, signal=9)
    found = written(hand_made(oom, saw), Launcher.SRUN)
    assert statements(found) == [
        "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the step tasks have been OOM Killed."
    ]
    assert b"task 3: Out Of Memory" in found[0].data


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (RAISED, "  Exit code:    1"),
        (
            CRASHED,
            "mpirun noticed that process rank 3 with PID 4003 on node ip-10-1-2-4 exited on signal 11 (Segmentation fault).",
        ),
        (HostRebooted(time=NEWS, host=1), "ORTE has lost communication with a remote daemon."),
        (SchedulerSaid(time=NEWS, what="cancelled"), "mpirun: Forwarding signal 15 to job"),
    ],
)
def test_mpirun_reports_the_first_failure_and_lost_nodes(hand_made: MAKE, event: Event, line: str) -> None:
    assert f"{line}\n" in text(hand_made(event), Launcher.MPIRUN)


@pytest.mark.parametrize("launcher", [Launcher.SRUN, Launcher.MPIRUN])
def test_a_launcher_of_a_job_that_goes_on_writes_nothing(hand_made: MAKE, launcher: Launcher) -> None:
    assert not written(hand_made(), launcher)
