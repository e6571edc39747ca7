"""What people paste into issues says the same in whatever layout they put it: quoted, between fences, as the title."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_doctor import diagnose

TRACEBACK = """\
Traceback (most recent call last):
  File "/srv/zen/train.py", line 61, in main
    rate = table["lr"]
KeyError: 'lr'"""
LONE = "ValueError: hidden size 4097 is not divisible by 32"
IMPORT = "ImportError: cannot import name 'zen_compile' from 'libneuronxla' (/srv/v/libneuronxla/__init__.py)"


def quoted(text: str, mark: str = "> ") -> str:
    return "\n".join(mark + line for line in text.split("\n"))


def fenced(text: str, fence: str = "```") -> str:
    return f"{fence}\n{text}\n{fence[:3]}"


def told(tmp_path: Path, text: str) -> tuple[str, list[str]]:
    (tmp_path / "issue.md").write_text(text)
    diagnosis = diagnose([str(tmp_path)], isolated=True)
    return diagnosis.verdict.status, [f.cause for f in diagnosis.findings if f.id in diagnosis.root_causes]


@pytest.mark.parametrize(
    "text",
    [
        "Since today:\n\n" + quoted(TRACEBACK) + "\n\nAny idea?\n",
        "Since today:\n\n" + quoted(quoted(TRACEBACK)) + "\n",
        "Since today:\n\n" + quoted(fenced(TRACEBACK)) + "\n",
        "Since today:\n\n" + quoted(TRACEBACK.replace("\n", "\\\n")) + "\n",
        "Since today:\n\n" + fenced(LONE) + "\n\nAny idea?\n",
        "Since today:\n\n" + fenced(LONE, "```bash") + "\n",
        "Since today:\n\n" + fenced(LONE, "~~~") + "\n",
        "<details>\n<summary>log</summary>\n\n" + fenced(LONE) + "\n\n</details>\n",
        "<pre>\n" + LONE + "\n</pre>\n",
        f"## [Bug]: {LONE}\n\nThis is on trn1.\n",
    ],
)
def test_an_exception_is_one_in_every_layout(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == ("root-cause", ["application-exception"])


@pytest.mark.parametrize(
    "text", [quoted(IMPORT), fenced(IMPORT), f"# [Bug]: {IMPORT}\n\nWhy?", f"`{IMPORT}`", f"    {IMPORT}"]
)
def test_so_is_a_package_that_does_not_fit(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, f"{text}\n") == ("root-cause", ["python-env-mismatch"])


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return 1\n\n# ValueError: is raised by the caller, not here, as 1 is no size\n",
        "Set `on_error: restart`; `ValueError` is raised else.\n",
        f"# {LONE}\n\nunless the size is set below\n",
        f"Wrap the call in `{LONE}` handlers.\n",
        "# Runbook: what to do when training fails with RuntimeError\n",
        "x.py:3: FutureWarning: this will raise a `ValueError` in v5.\n",
        "```\nstep 12 loss 2.1\n```\n",
    ],
)
def test_what_is_no_report_of_an_exception_is_none(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == ("healthy", [])
