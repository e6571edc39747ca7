"""Source code and scripts beside the logs of a job are no evidence; a log that begins with its script is."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor import diagnose
from neuron_doctor.collectors.programs import is_program

PYTHON = b'''"""Saves shards."""

import errno
from pathlib import Path


def save(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise RuntimeError("OSError: [Errno 28] No space left on device") from error
'''
HEADER = b"""/* What the runtime returns. */
#ifndef NRT_STATUS_H
#define NRT_STATUS_H
typedef enum { NRT_EXEC_HW_ERR_HBM_UE = 1201, } NRT_STATUS; // Uncorrectable HBM memory error is detected.
#endif
"""
SCRIPT = b"""#!/bin/bash
#SBATCH -J pretrain
srun train.py || { grep -q 'Out of memory: Killed process 4711 (python3)' kern.log && echo 'RuntimeError: host OOM'; }
"""
OUTPUT = b"""2026-05-01 12:00:00 step 1 loss 2.3
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    save(path, data)
OSError: [Errno 28] No space left on device
"""


@pytest.mark.parametrize(
    ("text", "name"), [(PYTHON, "save.py"), (HEADER, "nrt_status.h"), (SCRIPT, "run"), (SCRIPT[12:], "run.sbatch")]
)
def test_source_code_and_scripts_are_programs(text: bytes, name: str) -> None:
    assert is_program(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SCRIPT + OUTPUT, "slurm-17.out"),
        (SCRIPT + OUTPUT, "run.sh"),
        (OUTPUT, "train.py"),
        (PYTHON, "slurm-17.out"),
        (b"", "save.py"),
        (b"import\0", "save.py"),
    ],
)
def test_what_happened_is_no_program(text: bytes, name: str) -> None:
    assert not is_program(text, name)


def test_programs_tell_of_no_failure_and_are_named_in_the_report(tmp_path: Path) -> None:
    for name, text in (("save.py", PYTHON), ("nrt_status.h", HEADER), ("run.sh", SCRIPT)):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "rank_0.log").write_bytes(b"2026-05-01 12:00:00 step 1 loss 2.3\n")
    report = diagnose([str(tmp_path)])
    assert report.verdict.status == "healthy"
    assert sorted(source.kind for source in report.sources) == ["log", "program", "program", "program"]
