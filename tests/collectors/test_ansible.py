"""Ansible names the host of each result; what it prints below the name is of that host."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.collectors.prefixes import peel
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

BAD = "Error! Bad return status for module build on kernel: 6.14.0-1012-aws (x86_64)"


def hosts(folder: Path, text: str) -> set[str | None]:
    (folder / "play.log").write_text(text)
    facts = collect(Request((str(folder),)), rulebook()).facts
    return {fact.place.host for fact in facts if fact.name == "driver-build-bad-status"}


@pytest.mark.parametrize(
    "text",
    [
        f'fatal: [trn-a04]: FAILED! => {{"changed": false, "stdout": "Building for 6.14\\n{BAD}\\n"}}\n',
        f'fatal: [trn-a04]: FAILED! => {{\n    "changed": false,\n    "stdout_lines": [\n        "{BAD}"\n    ]\n}}\n',
        f"fatal: [trn-a04]: FAILED! => changed=false \n  stdout: |-\n    Building\n    {BAD}\n",
        f'failed: [trn-a04] (item=aws-neuronx-dkms) => {{\n    "stdout": "{BAD}"\n}}\n',
    ],
)
def test_a_result_is_of_the_host_above_it_in_every_form_of_the_console(tmp_path: Path, text: str) -> None:
    assert hosts(tmp_path, f"TASK [driver] ****\nchanged: [trn-a03]\n{text}changed: [trn-a05]\n") == {"trn-a04"}


def test_what_stands_below_a_task_or_was_delegated_is_nobodys(tmp_path: Path) -> None:
    assert hosts(tmp_path, f"changed: [trn-a03]\nTASK [driver] ****\n{BAD}\n") == {None}
    assert hosts(tmp_path, f'fatal: [trn-a04 -> builder]: FAILED! => {{"stdout": "{BAD}"}}\n') == {None}


@pytest.mark.parametrize(
    ("raw", "host", "message"),
    [
        ('fatal: [trn-a04]: FAILED! => {"rc": 100}', "trn-a04", 'FAILED! => {"rc": 100}'),
        ("fatal: [10.0.0.4]: UNREACHABLE! => {", "10.0.0.4", "UNREACHABLE! => {"),
        ("failed: [trn-a04] (item=aws-neuronx-dkms) => {", "trn-a04", "(item=aws-neuronx-dkms) => {"),
        ("ok: [trn-a04] => {", "trn-a04", "=> {"),
        ("changed: [trn-a04]", "trn-a04", ""),
        (
            "2026-05-11 22:02:30,322 p=88121 u=deploy n=ansible | fatal: [trn-a04]: FAILED! => {",
            "trn-a04",
            "FAILED! => {",
        ),
        ("2026-05-11 22:02:30,322 p=88121 u=deploy n=ansible INFO| ok: [trn-a04] => {", "trn-a04", "=> {"),
        ("2019-05-11 22:02:30,322 p=88121 u=root |  changed: [trn-a04]", "trn-a04", ""),
        ("trn-a04 | FAILED | rc=1 | (stdout) a\\nb (stderr) c", "trn-a04", "FAILED | rc=1 | (stdout) a\\nb (stderr) c"),
        ("trn-a04 | UNREACHABLE! => {", "trn-a04", "UNREACHABLE! => {"),
        ("fatal: [trn-a04 -> db-1]: FAILED! => {", None, "fatal: [trn-a04 -> db-1]: FAILED! => {"),
        ("changed: [localhost]", None, "changed: [localhost]"),
        ("fatal: [errno 5] no such repository", None, "fatal: [errno 5] no such repository"),
        ("ok: [3] of 4 passed", None, "ok: [3] of 4 passed"),
        ("step | SUCCESS | all", None, "step | SUCCESS | all"),
    ],
)
def test_ansible_names_the_host_of_each_result(raw: str, host: str | None, message: str) -> None:
    line = peel(raw)
    [record] = line.records
    assert (record.place.host, line.text[record.start : record.end]) == (host, message)
