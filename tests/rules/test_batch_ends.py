"""How batch systems and build servers say that a job has ended well, or not: in a line of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def ends(folder: Path, text: str) -> list[tuple[str, object]]:
    (folder / "job.out").write_text(f"2026-03-01 10:00:00 begin\n{text}\n")
    facts = collect(Request((str(folder),)), rulebook()).facts
    told = [fact for fact in facts if fact.kind in ("completion", "launcher-failure")]
    return [(fact.kind, fact.data.get("exited", fact.data.get("exitcode"))) for fact in told]


@pytest.mark.parametrize(
    "line",
    [
        "Successfully completed.\n\nResource usage summary:",
        "Finished: SUCCESS",
        "Subject: Job 40117: <bert-cont> in cluster <neuronlsf> Done",
        "Subject: Job 33071[4]: <t5-xl-denoise> in cluster <stratus> Done",
        "Cleaning up project directory and file based variables\n\nJob succeeded",
        "\t(1) Normal termination (return value 0)",
    ],
)
def test_a_good_end(tmp_path: Path, line: str) -> None:
    assert ends(tmp_path, line) == [("completion", True)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Exited with exit code 139.", 139),
        ("ERROR: Job failed: exit code 1", 1),
        ("##[error]Process completed with exit code 2.", 2),
        ("Wed Nov 25 09:21:40: Exited with exit code 1. The CPU time used is 1411.2 seconds;", 1),
        ("11/24/2026 21:47:02  S    Exit_status=1 resources_used.cpupercent=8840 resources_used.walltime=00:40:17", 1),
        ("exit_status  7", 7),
        ("\t(1) Normal termination (return value 3)", 3),
        ("\t(0) Abnormal termination (signal 9)", None),
    ],
)
def test_a_bad_end(tmp_path: Path, line: str, code: int) -> None:
    assert ends(tmp_path, line) == [("launcher-failure", code)]


@pytest.mark.parametrize(
    "line",
    [
        "Finished: UNSTABLE",
        "the copy was Successfully completed.",
        "Job succeeded after 3 tries: cleanup",
        "Finished: SUCCESSOR",
        "Subject: Job 40117: <bert-cont> in cluster <neuronlsf> Exited",
        "Subject: Job 40117 is Done",
        # what any program may say
        "Successfully completed.",
        "2026-03-01 10:00:09,120 INFO glue: Job succeeded",
        "[rank0]: Job succeeded",
        "validation: tool jq Exited with exit code 1",
    ],
)
def test_other_words(tmp_path: Path, line: str) -> None:
    assert ends(tmp_path, line) == []
