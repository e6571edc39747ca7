"""What a cache gives back of an earlier compilation is no failure of this run."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.request import Request

HEADING = (
    "2024-10-31 20:42:06.000071:  {pid}  ERROR ||NEURON_CC_WRAPPER||: Got a cached failed neff at /var/tmp/neuron-compile-cache/"
    "neuronxcc-2.15.141.0+d3cfc8ca/MODULE_d3007680bbf6cce0a595+4497a662/model.neff. Will skip compilation, please set "
    "--retry_failed_compilation for recompilation: \n"
)
CALL = "Failed compilation with ['neuronx-cc', 'compile', '--target=trn1', 'a.hlo_module.pb', '--verbose=35']: "
KILLED = "2024-10-31T18:44:17Z [F137] neuronx-cc was forcibly killed - This most commonly occurs due to insufficient memory.\n"
BIR = """\
2024-10-31T18:44:17Z [NLA001]  Unhandled exception with message: === BIR verification failed ===
Reason: Invalid access of 2 partitions starting at partition 98
Instruction: I-29289-1_TSPAddAddr
 - Please open a support ticket at https://github.com/aws-neuron/aws-neuron-sdk/issues/new.
An Internal Compiler Error has occurred
.
"""
RAISED = """\
Traceback (most recent call last):
  File "train.py", line 97, in loop
    xm.mark_step()
RuntimeError: neuronx-cc failed with 70
"""
OWN = "2024-10-31 20:42:06.000171:  2107026  ERROR ||NEURON_CC_WRAPPER||: "


def labelled(text: str, label: str) -> str:
    return "".join(f"{label}{line}\n" for line in text.splitlines())


def roots(tmp_path: Path, text: str) -> set[str]:
    (tmp_path / "train.log").write_text(text)
    found = diagnose_paths(Request((str(tmp_path),)), rulebook()).findings
    return {finding.cause for finding in found if finding.role.value == "root"}


@pytest.mark.parametrize("words", [KILLED, BIR])
@pytest.mark.parametrize("label", ["", "[rank3]: ", "3: "])
def test_the_words_below_the_heading_are_of_the_run_that_compiled(tmp_path: Path, words: str, label: str) -> None:
    text = HEADING.format(pid=2107025) + f" {CALL}{words}{RAISED}"
    assert roots(tmp_path, labelled(text, label)) == {"compile-cached-failure"}


def test_lines_of_other_ranks_may_stand_between(tmp_path: Path) -> None:
    lines = [(rank, HEADING.format(pid=100 + rank), f" {CALL}{KILLED}{RAISED}") for rank in range(3)]
    headings = "".join(labelled(heading, f"[rank{rank}]: ") for rank, heading, _ in lines)
    below = "".join(labelled(words, f"[rank{rank}]: ") for rank, _, words in lines[::-1])
    last, *_ = below.splitlines()
    assert last.startswith("[rank2]:  Failed compilation")
    assert "compile-host-oom" not in roots(tmp_path, headings + last + "\n")


def test_what_has_a_header_of_its_own_failed_now(tmp_path: Path) -> None:
    now = KILLED.replace("18:44:17", "20:42:06")
    assert "compile-host-oom" in roots(tmp_path, HEADING.format(pid=2107025) + OWN + CALL + now)


def test_so_did_what_another_process_says_below_the_words(tmp_path: Path) -> None:
    text = HEADING.format(pid=2107025) + f" {CALL}{KILLED}{OWN}{CALL}{KILLED}{RAISED}"
    assert "compile-host-oom" in roots(tmp_path, text)


def test_what_stands_below_the_traceback_is_no_more_of_it(tmp_path: Path) -> None:
    text = HEADING.format(pid=2107025) + f" {CALL}{BIR}{RAISED}{OWN}{CALL}{KILLED}"
    assert "compile-host-oom" in roots(tmp_path, text)
