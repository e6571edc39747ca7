"""The words by which programs count their steps, and those that only resemble them."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def kinds(folder: Path, line: str) -> set[str]:
    (folder / "train.log").write_text(f"{line}\n")
    return {fact.kind for fact in collect(Request((str(folder),)), rulebook()).facts}


@pytest.mark.parametrize(
    "line",
    [
        "20:45:50 train 0050 loss=5.800 step_s=9.05",
        "it=9000 nll=2.1718",
        "05/25 13:10:46 it=100 teacher_temp=0.07 loss=10.970 img/s=5061",
        "2026-09-01 00:03:40 INFO step=0 ce=10.800 tok/s/core=1465",
        "update: 120 | train_loss 2.31",
        "2026-11-02 17:59:57,998 step 50 110 ms/step",
        "[2026-08-08 08:00:05,399] it 20 282 ms",
    ],
)
def test_a_step_is_told_by_its_number_and_what_it_cost(tmp_path: Path, line: str) -> None:
    assert "progress" in kinds(tmp_path, line)


@pytest.mark.parametrize(
    "line",
    [
        "train 4 files, loss of power",
        "it=3 retries left",
        "batch 12 done",
        "train 7 loss=nan",
        "[cleanup] step 1",
        "12:00:01 Step 2",
        "fails at step 3",
        "1 Step 3/9 : RUN x",
    ],
)
def test_other_counts_are_none(tmp_path: Path, line: str) -> None:
    assert "progress" not in kinds(tmp_path, line)


@pytest.mark.parametrize(
    "line",
    [
        "20:48:20 max steps reached, bye",
        "`Trainer.fit` stopped: `max_steps=60` reached.",
        "INFO reached max_steps=520, final checkpoint /fsx/olmo/ckpt/step519",
        "finished after 300 steps",
        "2026-11-10 20:00:00,784 done: 245 steps",
    ],
)
def test_a_program_that_made_all_its_steps_says_that_its_work_is_done(tmp_path: Path, line: str) -> None:
    assert "completion" in kinds(tmp_path, line)


@pytest.mark.parametrize(
    "line",
    [
        "download finished in 3 s",
        "max retries reached, bye",
        "2026-11-10 20:00:00,784 completed 100 steps",
        "[cleanup] done: 3 steps",
        "epoch 1 finished",
        "saving shard 7 finished",
        "[compile] finished",
        "ConvergenceWarning: Maximum iterations reached",
        "will stop when max steps reached",
        "see log for max steps reached or not",
        "prefetch iterator exhausted, resetting",
        "memory exhausted",
        "retries exhausted",
    ],
)
def test_other_ends_are_none(tmp_path: Path, line: str) -> None:
    assert "completion" not in kinds(tmp_path, line)


def test_a_script_tells_of_the_rank_that_ended_with_a_status_and_of_none_that_ended_well(tmp_path: Path) -> None:
    assert "launcher-failure" in kinds(tmp_path, "launch.sh: rank 21 pid 438 exited with status 137 (SIGKILL)")
    assert "launcher-failure" in kinds(tmp_path, "[run] rank 3 died with exit code 1")
    assert "launcher-failure" not in kinds(tmp_path, "launch.sh: rank 21 pid 438 exited with status 0")
    assert "launcher-failure" not in kinds(tmp_path, "local rank 3 exited with status 1")
    assert "launcher-failure" not in kinds(tmp_path, "if rank 3 exited with code 1, restart it")


def test_docker_compose_tells_of_containers_and_a_shell_of_programs(tmp_path: Path) -> None:
    assert "launcher-failure" in kinds(tmp_path, "train-1 exited with code 1")
    assert "launcher-failure" not in kinds(tmp_path, "pip exited with code 1")
