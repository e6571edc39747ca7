"""What Ansible prints below the name of a host is of that host."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

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
