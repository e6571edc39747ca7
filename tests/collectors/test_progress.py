"""Lines by which training loops of all sorts say that they got on, and lines that only look so."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def steps(folder: Path, line: str) -> set[object]:
    (folder / "train.log").write_text(f"{line}\n")
    facts = collect(Request((str(folder),)), rulebook()).facts
    return {fact.data["value"] for fact in facts if fact.kind == "progress"}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("update 88100 loss 3.0990 ups 1.03 wps 4115", 88100),
        (
            "2026-03-16 06:06:37 | INFO | train_inner | epoch 001: 100 / 4000 loss=12.3, wps=4115, num_updates=100, lr=1.25e-05",
            100,
        ),
        (
            '[2026-03-16 06:06:37,512][train_inner][INFO] - {"epoch": 1, "update": 0.025, "loss": "12.3", "num_updates": "100"}',
            100,
        ),
        ("Train: 0 [ 120/5000 (  2%)]  Loss: 2.31 (2.5)  Time: 0.312s,  820.51/s  LR: 1.000e-03", 120),
        ("Epoch: [0][ 120/5004]\tTime  0.312 ( 0.534)\tData  0.112 ( 0.234)\tLoss 6.9104e+00 (6.9512e+00)", 120),
        ("Train Epoch: 1 [12800/60000 (21%)]\tLoss: 0.312300", 12800),
        (
            "INFO - Epoch(train)  [1][ 120/5000]  lr: 1.0e-03  eta: 1 day, 2:03:04  time: 0.31  data_time: 0.01  loss: 2.31",
            120,
        ),
        (" 120/5000 [..............................] - ETA: 1:02:11 - loss: 2.3101 - accuracy: 0.1201", 120),
        ("1563/1563 ━━━━━━━━━━━━━━━━━━━━ 12s 7ms/step - accuracy: 0.3521 - loss: 1.7312", 1563),
        ("INFO: 21epoch:train:1-50batch: iter_time=2.1e-04, forward_time=0.146, loss=31.2, train_time=0.6", 50),
    ],
)
def test_a_step_is_known_by_the_form_of_its_framework(tmp_path: Path, line: str, value: float) -> None:
    assert steps(tmp_path, line) == {value}


@pytest.mark.parametrize(
    "line",
    [
        "Update 12 of 40 packages",
        "test_model.py::test_loss [ 12/40] PASSED",
        "Downloading shards [ 12/40 ( 30%)] 3.1 MB/s",
        "Update 3 failed: the loss of a peer was noticed after 20 s",
    ],
)
def test_other_counts_are_no_steps(tmp_path: Path, line: str) -> None:
    assert steps(tmp_path, line) == set()
