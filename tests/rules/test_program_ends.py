"""How scripts, shells, GNU time, systemd and supervisord tell with what a program or a service ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def ends(folder: Path, text: str) -> list[tuple[object, object]]:
    (folder / "job.log").write_text(f"2026-03-01 10:00:00 begin\n{text}\n")
    facts = collect(Request((str(folder),)), rulebook()).facts
    failed = [(f.data["launcher"], f.data.get("exitcode")) for f in facts if f.kind == "launcher-failure"]
    return failed + [("good", 0) for f in facts if f.kind == "completion"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-02-20T10:41:09Z train ended with exit status 1", ("wrapper", 1)),
        ("[run.sh] python3 exited rc=2", ("wrapper", 2)),
        ("2026-02-20 10:41:09 finetune.py exited with code 3", ("wrapper", 3)),
        ("2026-02-20T10:41:09Z main.py exit code: 4", ("wrapper", 4)),
        ("2026-02-20T10:41:09Z train ended with exit status 0", ("good", 0)),
        ("[run.sh] run_clm.py exited rc=0", ("good", 0)),
        ("INFO:train: rank 64 finished, exiting 0", ("good", 0)),
        ("rank 3/8 is done, exit code 0", ("good", 0)),
        ('Command exited with non-zero status 1\n\tCommand being timed: "torchrun train.py"', ("wrapper", 1)),
        ("[1]+  Exit 1                  nohup torchrun --nproc_per_node=2 train.py", ("wrapper", 1)),
        ("INFO exited: trainer (exit status 1; not expected)", ("supervisord", 1)),
        ("INFO exited: web:prod_llm-serve_00 (exit status 1; not expected)", ("supervisord", 1)),
        ("systemd[1]: inferd.service: Main process exited, code=exited, status=3/NOTIMPLEMENTED", ("systemd", 3)),
        ("systemd[1]: vllm.service: main process exited, code=exited, status=1/FAILURE", ("systemd", 1)),
        ("systemd[1]: model-server@1.service: Main process exited, code=exited, status=1/FAILURE", ("systemd", 1)),
    ],
)
def test_a_program_ended(tmp_path: Path, text: str, expected: tuple[object, object]) -> None:
    assert ends(tmp_path, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-20T10:41:09Z precheck.py exited with code 3",
        "the restrain exited with code 3",
        "train ended with exit status 1 in the past, see the wiki",
        "retrain 7 ended with 3 epochs",
        'Command exited with non-zero status 1\n\tCommand being timed: "pip install torch"',
        "[1]+  Exit 1                  sleep 5",
        "[1]+  Exit 1                  torchrun train.py | tee train.log",  # that of tee
        "INFO exited: trainer (exit status 0; expected)",
        "INFO:train: rank 64 finished step 10, 0 left",
        "rank 3 exit barrier 0",
        "INFO exited: cron (exit status 1; not expected)",
        "systemd[1]: node-problem-detector.service: Main process exited, code=exited, status=1/FAILURE",
    ],
)
def test_what_only_resembles_that(tmp_path: Path, text: str) -> None:
    assert ends(tmp_path, text) == []
