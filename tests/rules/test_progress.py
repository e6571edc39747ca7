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
    ],
)
def test_a_step_is_told_by_its_number_and_what_it_cost(tmp_path: Path, line: str) -> None:
    assert "progress" in kinds(tmp_path, line)


@pytest.mark.parametrize(
    "line", ["train 4 files, loss of power", "it=3 retries left", "batch 12 done", "train 7 loss=nan"]
)
def test_other_counts_are_none(tmp_path: Path, line: str) -> None:
    assert "progress" not in kinds(tmp_path, line)


@pytest.mark.parametrize(
    "line",
    [
        "20:48:20 max steps reached, bye",
        "`Trainer.fit` stopped: `max_steps=60` reached.",
        "INFO reached max_steps=520, final checkpoint /fsx/olmo/ckpt/step519",
    ],
)
def test_a_program_that_made_all_its_steps_says_that_its_work_is_done(tmp_path: Path, line: str) -> None:
    assert "completion" in kinds(tmp_path, line)
    assert "completion" not in kinds(tmp_path, "max retries reached, bye")
