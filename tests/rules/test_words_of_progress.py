"""The words by which programs count their steps, and those that only resemble them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.facts import Fact
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def facts(folder: Path, line: str) -> Sequence[Fact]:
    (folder / "train.log").write_text(f"{line}\n")
    return collect(Request((str(folder),)), rulebook()).facts


def kinds(folder: Path, line: str) -> set[str]:
    return {fact.kind for fact in facts(folder, line)}


@pytest.mark.parametrize(
    "line",
    [
        "20:45:50 train 0050 loss=5.800 step_s=9.05",
        "it=9000 nll=2.1718",
        "itr: 120 | LOSS 2.31",
        "05/25 13:10:46 it=100 teacher_temp=0.07 loss=10.970 img/s=5061",
        "2026-09-01 00:03:40 INFO step=0 ce=10.800 tok/s/core=1465",
        "update: 120 | train_loss 2.31",
        "2026-11-02 17:59:57,998 step 50 110 ms/step",
        "[2026-08-08 08:00:05,399] it 20 282 ms",
        "[rank 42] it 60 dt 4.31s",
        "[rank19]:I1125 21:09:50.865470 7019 train.py:301] step 16040 done seq=48118 op=ALLREDUCE",
        "2: 2025-04-23 02:09:51,000 step 119 finished, entering save_checkpoint(/fsx/ck/119)",
        "2026-09-01 00:03:40 INFO global_step=120 completed",
        "optimizer_step 77: done",
        "finished training step 120 in 1.9 s",
        "end of iteration 64",
        "[n02] t=    20  resid 2.769e-03  812.98 ms/it  ckpt=no",
        "iter 20: max residual = 1.2e-05",
        " 20 KSP Residual norm 2.769e-03",
        "[18:26:00] epoch 16 train_loss 0.7400 val_acc 0.6140 (59.2s)",
        "epoch: 4, loss: 0.31, acc: 0.91",
        "2026-03-16 06:06:37 INFO Epoch 5/10 - train loss: 0.3 val loss 0.4",
        '{"epoch": 12, "train_loss": 0.31}',
        "[rank0]: epoch=8 loss=0.1",
        "Epoch 9 completed in 55.1s",
        "===> Epoch 11/20 done: avg. loss: 0.2",
    ],
)
def test_a_step_is_told_by_its_number_and_what_it_cost(tmp_path: Path, line: str) -> None:
    assert "progress" in kinds(tmp_path, line)


@pytest.mark.parametrize(
    ("said", "moves"),
    [
        ({"step": 410, "loss": 2.31, "mfu": 0.4}, True),
        ({"train_loss": 2.31, "global_step": "410"}, True),
        ({"step": 410, "msg": "the loss is not known"}, False),
        ({"step": "download", "loss": 2.31}, False),
    ],
)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_step_in_an_object_is_known_within_the_object_of_a_log_driver(
    tmp_path: Path, said: dict[str, object], stream: str, *, moves: bool
) -> None:
    line = json.dumps({"log": json.dumps(said) + "\n", "stream": stream, "time": "2026-05-02T10:00:00.1Z"})
    assert ("progress" in kinds(tmp_path, json.dumps(said)), "progress" in kinds(tmp_path, line)) == (moves, moves)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("update 88100 loss 3.0990 ups 1.03 wps 4115", 88100),
        ("schritt  5500/6000  verlust=1.6629  215.3 Sätze/s", 5500),
        ("étape 120 | perte 2.31", 120),
        ("01/20 22:58:00 迭代 9000 | 损失: 2.01", 9000),
        ("ステップ 120 損失=2.3", 120),
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
    assert {fact.data["value"] for fact in facts(tmp_path, line) if fact.kind == "progress"} == {value}


@pytest.mark.parametrize(
    "line",
    [
        "train 4 files, loss of power",
        "it=3 retries left",
        "resuming from epoch 3, loss 0.41",
        "best epoch 12 val_loss 0.31",
        "checkpoint of epoch 3 done",
        "Epoch 3/10",
        "epoch 4 loss nan",
        "batch 12 done",
        "train 7 loss=nan",
        "[cleanup] step 1",
        "12:00:01 Step 2",
        "fails at step 3",
        "1 Step 3/9 : RUN x",
        "Update 12 of 40 packages",
        "[setup] step 3 done",
        "StepId=812.0 done",
        "step_120 done",
        "async save of step 800 finished in 141.2 s",
        "step 812.10 completed",
        "finished step 12-install",
        "test_model.py::test_loss [ 12/40] PASSED",
        "Downloading shards [ 12/40 ( 30%)] 3.1 MB/s",
        "Update 3 failed: the loss of a peer was noticed after 20 s",
    ],
)
def test_other_counts_are_none(tmp_path: Path, line: str) -> None:
    assert "progress" not in kinds(tmp_path, line)


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ('INFO:     10.0.4.83:37084 - "POST /v1/chat/completions HTTP/1.1" 200 OK', True),
        ('169.254.178.2 - - [30/Jul/2025:11:40:12 +0000] "POST /invocations HTTP/1.1" 200 61 "-" "AHC/2.0"', True),
        ('"POST /transcribe" 200 rtf=0.041', True),
        ('[INFO ] W-9000 ACCESS_LOG - /10.0.21.142:52963 "POST /invocations HTTP/1.1" 200 12', True),
        ('09/Nov/2026:15:10:06 +0000 "POST /v1/embed" 200 mailer/2.0 shape=8x384 19ms', True),
        ('https://api.wandb.ai:443 "POST /graphql HTTP/1.1" 200 None', False),
        ('http://10.0.0.7:8000 "POST /v1/runs HTTP/1.1" 200 12', False),
        ('DEBUG urllib3.connectionpool: https://api.wandb.ai:443 "POST /graphql HTTP/1.1" 200 None', False),
        ('INFO:     10.0.4.83:37084 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error', False),
        ('{"ts":"2026-03-01T10:00:00","rid":"0c1d2e","lang":"fr","audio_s":3.0,"rtf":0.04,"status":200}', True),
        ('{"request_id": "r-81", "output_tokens": 81, "path": "/v1/x", "status_code": 200}', True),
        ('{"ts":"2026-03-01T10:00:00","rid":"0c1d2e","lang":"fr","audio_s":3.0,"rtf":0.04,"status":503}', False),
        ('{"request_id": "r-82", "path": "/healthz", "status_code": 200}', False),
        ("req=6316d3 tokens=256 ok 17.2 ms", True),
        ("2026-04-02T03:15:10Z access model=whisper_enc code=200 ms=79.8 batch=5", True),
        ("request model=org/bert-base version=3 status=200 latency_ms=12.1", True),
        ("access model=whisper_enc code=503 ms=0.8 batch=5", False),
        ("probe code=200 ms=0.8", False),
        ("request_id=ab12 prompt_tokens=31 status=200 latency_ms=120", True),
        ("req=6316d3 tokens=512 failed 3.1 ms", False),
        ("req=6316d3 path=/healthz ok 0.2 ms", False),
        ("daily: requests=99823 failed=0 p99_ms=20.9", True),
        ("daily: requests=99823 failed=17 p99_ms=20.9", False),
    ],
)
def test_a_server_answers_and_a_client_does_not(tmp_path: Path, line: str, *, answers: bool) -> None:
    assert ("progress" in kinds(tmp_path, line)) is answers


@pytest.mark.parametrize(
    ("line", "works"),
    [
        ("2026-05-29 08:41:28,018 INFO embedder.worker batch of 13 embedded in 58.9 ms", True),
        ("INFO worker: embedded 13 documents in 58.9ms", True),
        ("[worker-2] transcribed 1 file in 3.1 s", True),
        ("INFO generated 128 tokens in 2.10 seconds", True),
        ("INFO batch 812 scored in 41 ms", True),
        ("INFO classified batch of 32 in 12.0 ms", True),
        ("2026-07-14 06:02:30 batch 1900/412000 seqs/s 122.1", True),
        ("INFO embed: 3250/9000 batches, 855.1 docs/s, errors=0", True),
        ("INFO batch 3/9 of the download", False),
        ("INFO tokenizing: 3250/9000 docs, 855.1 docs/s", False),
        ("INFO uploading logs 3/4 samples at 5.1 items/s", False),
        ("INFO batch of 13 loaded in 58.9 ms", False),
        ("INFO embedded 13 fonts in report.pdf", False),
        ("INFO generated 12 shards in 3 files", False),
        ("INFO tokenized 1000 documents in 3.1 s", False),
        ("INFO generated 12 graphs in 3.1 s", False),
        ("ERROR batch of 13 not embedded in 30 s, giving up", False),
    ],
)
def test_what_works_off_a_queue_tells_of_its_batches(tmp_path: Path, line: str, *, works: bool) -> None:
    assert ("progress" in kinds(tmp_path, line)) is works


@pytest.mark.parametrize(
    "line",
    [
        "20:48:20 max steps reached, bye",
        "`Trainer.fit` stopped: `max_steps=60` reached.",
        "INFO reached max_steps=520, final checkpoint /fsx/olmo/ckpt/step519",
        "finished after 300 steps",
        "2026-11-10 20:00:00,784 done: 245 steps",
        "2025-01-16 04:58:04,650 INFO embed: all done, exiting",
        "mmlu_pro acc=0.5149 gsm8k acc=0.7883 n_errors=0 wrote report.json",
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
        "not all done, exiting because of errors",
        "loader: shard list read, everything done, exiting",
        "2026-03-01 10:05:22 INFO wrote metrics to /fsx/run7/metrics.jsonl",
        "could not say who wrote report.json first",
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
