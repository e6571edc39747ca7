"""Code that people quote in issues names failures, and none of them happened; what it printed did."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor import diagnose

PYTHON = """\
import os


def save(path):
    try:
        write(path)
    except OSError as error:
        if "No space left on device" in str(error):
            raise Full from error
    # NeuronCore(s) not available - Requested:1 Available:0 is what the second job says
logger.error("Compiler status ERROR, see %s", path)
"""
SHELL = """\
if grep -q "No space left on device" run.log; then
  echo "NeuronCore(s) not available - Requested:1 Available:0"
fi
"""
PATCH = "@@ -1,2 +1,3 @@\n+    if 'No space left on device' in line:\n+Compiler status ERROR\n"


def roots(tmp_path: Path, text: str, name: str = "issue.md") -> list[str]:
    (tmp_path / name).write_text(text)
    diagnosis = diagnose([str(tmp_path)], isolated=True)
    return [finding.cause for finding in diagnosis.findings if finding.id in diagnosis.root_causes]


@pytest.mark.parametrize(
    "text",
    [
        f"My script:\n\n```python\n{PYTHON}```\n\nHow can it be faster?\n",
        f"My script:\n\n```\n{PYTHON}```\n",
        "> My script:\n>\n> ```py\n" + "".join(f"> {line}\n" for line in PYTHON.split("\n")) + "> ```\n",
        f"Is there a better way?\n\n```bash\n{SHELL}```\n",
        f"This patch helps:\n\n```diff\n{PATCH}```\n",
        f"It was cut:\n\n```python\n{PYTHON}",
    ],
)
def test_what_code_would_print_has_not_happened(tmp_path: Path, text: str) -> None:
    assert roots(tmp_path, text) == []


def test_nor_has_what_a_patch_changes(tmp_path: Path) -> None:
    head = "diff --git a/zen.py b/zen.py\nindex 1234..5678 100644\n--- a/zen.py\n+++ b/zen.py\n"
    assert roots(tmp_path, head + PATCH, "fix.diff") == []


@pytest.mark.parametrize(
    "text",
    [
        # whatever the fence is tagged
        "```python\nOSError: [Errno 28] No space left on device: '/zen'\n```\n",
        "```bash\n$ python train.py\nOSError: [Errno 28] No space left on device: '/zen'\n```\n",
        # code and what it printed, between the same fences, between others, and outside
        f"```python\n{PYTHON}\nOSError: [Errno 28] No space left on device: '/zen'\n```\n",
        f"```python\n{PYTHON}```\n\nand then\n\n```\nOSError: [Errno 28] No space left on device: '/zen'\n```\n",
        f"```python\n{PYTHON}```\n\nOSError: [Errno 28] No space left on device: '/zen'\n",
        # a traceback shows lines of code
        (
            '```python\nTraceback (most recent call last):\n  File "/zen.py", line 3, in f\n    open(path)\n'
            "OSError: [Errno 28] No space left on device\n```\n"
        ),
    ],
)
def test_what_it_printed_has(tmp_path: Path, text: str) -> None:
    assert roots(tmp_path, text) == ["disk-full"]


HBM = "NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322 hostname=ip-10-0-3-7 nd-id=5 nc-id=0 serial-num=19fc"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rank_0.log", f"sample 2:\n```python\ndef foo():\n    return 1\n{HBM}\n"),
        ("issue.md", f"```\nif true; then\necho ok\nfi\ndmesg | grep -o 'NEURON_HW_ERR.*'\n{HBM}\n```\n"),
    ],
)
def test_what_a_log_says_below_code_and_what_only_the_driver_fills_in_has_happened(
    tmp_path: Path, name: str, text: str
) -> None:
    assert roots(tmp_path, text, name) == ["hw-hbm-ue"]
