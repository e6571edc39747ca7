"""The words by which a script counts how often it started its program, and those that only resemble them."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def tries(folder: Path, line: str) -> int:
    (folder / "job.log").write_text(f"epoch 1 step 1 loss 2.3\n{line}\n")
    return sum(fact.kind == "another-try" for fact in collect(Request((str(folder),)), rulebook()).facts)


@pytest.mark.parametrize(
    "line",
    [
        "trainer-1  | [start.sh] try 2/5",
        "[start.sh] try 2/5",
        "retry.sh: try 2 of 3",
        "launch.sh: attempt 12 at 15:25:00",
        "=== attempt 2 ===",
        "+ attempt=2",
        "try 1 failed rc=1; waiting 90s",
        "[run.sh] attempt 2/5 exited with 134, sleeping 60 seconds",
    ],
)
def test_a_script_counts_its_tries(tmp_path: Path, line: str) -> None:
    assert tries(tmp_path, line) == 1


@pytest.mark.parametrize(
    "line",
    [
        "[start.sh] try 1/5",  # the first one is not another
        "[data] shard 00117.tar ok on retry 2/5",
        "INFO download attempt 2/5",
        "attempt 2 of 3",  # of whatever
        "attempt=2 rank=0 step=5400 loss=0.5954",
        "download attempt 1 failed; waiting 5s",
        "try 3 failed rc=1; giving up",
        "attempt 1 failed",
    ],
)
def test_the_first_try_and_those_of_parts_are_none(tmp_path: Path, line: str) -> None:
    assert tries(tmp_path, line) == 0


@pytest.mark.parametrize(
    ("above", "name", "ends"),
    [
        ("trainer-1  | [start.sh] done, total tries 3", "trainer-1", 1),
        ("trainer-1  | checkpoint written: /mnt/ck/3", "trainer-1", 1),
        ("trainer-2 exited with code 0", "proj-worker0-2", 1),
        ("trainer-1  | RuntimeError: no data", "trainer-1", 0),  # the script went on
        ("trainer-1  | [start.sh] done", "exporter-1", 0),
        ("trainer-1  | [start.sh] done", "init-1", 0),
    ],
)
def test_compose_tells_the_end_of_containers_that_work(tmp_path: Path, above: str, name: str, ends: int) -> None:
    (tmp_path / "compose.log").write_text(f"{above}\n{name} exited with code 0\n")
    facts = collect(Request((str(tmp_path),)), rulebook()).facts
    assert sum(fact.kind == "completion" and fact.place.container == name for fact in facts) == ends
