"""A log that was appended to: what a launch before the last one failed of is over, if one between them ended well."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.request import Request

FAILED = (
    '[default4]:Traceback (most recent call last):\n[default4]:  File "run.py", line 3, in <module>\n'
    "[default4]:KeyError: '{0}'\n"
    "E060{1} 10:04:40.118000 3300 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 4 "
    "(pid: 3314) of binary: /venv/bin/python\n"
)
GOOD = "all 32 processes exited with 0\n"
RUN, TEST = (
    f"+ torchrun --nproc_per_node={width} {program}.py\n" for width, program in ((32, "run"), (8, "smoke_test"))
)


def roots(folder: Path, text: str) -> set[str]:
    (folder / "train.log").write_text(text)
    found = diagnose_paths(Request((str(folder),)), rulebook()).findings
    return {proof.text for f in found if f.role.value == "root" for proof in f.evidence}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FAILED.format("a", 2) + GOOD + FAILED.format("b", 5), {"b"}),
        (FAILED.format("a", 2) + FAILED.format("b", 5), {"a", "b"}),
        (FAILED.format("a", 2) + GOOD, {"a"}),
        (GOOD + FAILED.format("b", 5), {"b"}),
        (FAILED.format("a", 2) + GOOD + FAILED.format("b", 5) + FAILED.format("c", 8), {"b", "c"}),
        (FAILED.format("a", 2) + RUN + GOOD + RUN + FAILED.format("b", 5), {"b"}),
        (FAILED.format("a", 2) + TEST + "all 8 processes exited with 0\n" + RUN + FAILED.format("b", 5), {"a", "b"}),
    ],
)
def test_what_a_launch_before_a_good_one_failed_of_is_over(tmp_path: Path, text: str, told: set[str]) -> None:
    assert {word for word in "abc" for line in roots(tmp_path, text) if f"'{word}'" in line} == told
