"""What this program wrote itself, and what people noted, is told from logs that begin a little like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor.collectors.papers import is_notes, is_paper

RULES = Path(__file__).parents[2] / "rules"

LOGS = [
    b"# dmesg -T\n[Sat Mar 14 02:11:40 2026] neuron:npid_attach: pid=7000, slot=0\n",
    b"2026-03-14 02:11:40,000 INFO train: step=1 loss=2\n",
    b"Root Cause (first observed failure):\n[0]:\n  exitcode  : 1 (pid: 7000)\n",
    b"ROOT CAUSE: the operator pulled the plug, said the node\n2026-03-14 02:11:40 ERROR power\n",
    b"#!/bin/bash\n# train.sh\nset -e\n",
    b'{"schema": "site/log/1", "msg": "x"}\n',
    b"",
]


@pytest.mark.parametrize("head", LOGS)
def test_logs_and_scripts_are_neither(head: bytes) -> None:
    assert not is_paper(head, "")
    assert not is_notes(head)


@pytest.mark.parametrize(
    "head",
    [
        b'{\n "schema": "neuron-doctor/report/1",\n "tool": {}}',
        b"2 ROOT CAUSES: Uncorrectable HBM error on host a, device 2,\n  and 1 more\n\n  what        Uncorrectable HBM error\n",
        b"ROOT CAUSE: Uncorrectable HBM error on host a\n\n  cause       hw-hbm-ue (critical), likely (0.69)\n",
        b"# ROOT CAUSE: x on host `a`\n\n## Root cause 1: x\n",
        b"HEALTHY AS FAR AS SEEN: No failure found\n  Only what was collected was checked.\n",
    ],
)
def test_reports_of_this_program_are_papers(head: bytes) -> None:
    assert is_paper(head, "report.txt")


def test_every_rule_of_this_program_is_a_paper() -> None:
    rules = [path for path in RULES.glob("*/*.yaml") if path.parent.name != "patterns"]
    assert rules
    assert [path.name for path in rules if not is_paper(path.read_bytes(), path.name)] == []


def test_markdown_is_notes() -> None:
    assert is_notes(b"# Incident of last week\n\n```\nNEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR\n```\n")
    assert is_notes(b"\xef\xbb\xbf## What we saw\n\ntext\n\n### Later\n")
