"""What began before a late event is no consequence of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.pipeline import diagnose_paths
from neuron_doctor.request import Request

CRASH = "2026-10-21 02:09:44 INFO step 100 loss 2.1\n2026-10-21 02:10:00 Fatal Python error: Segmentation fault\n"
NOTICE = "Oct 21 03:05:44 ip-10-0-3-7 spot-poll[611]: instance-action terminate at 2026-10-21T03:07:42Z\n"
KILLED = """\
Name:             tgi-0
Namespace:        llm
Node:             inf-3/10.0.3.18
Containers:
  tgi:
    State:          Waiting
      Reason:       CrashLoopBackOff
    Ready:          False
    Restart Count:  7
Events:
  Type     Reason     Age                  From     Message
  ----     ------     ----                 ----     -------
  Normal   Killing    2m50s (x7 over 74m)  kubelet  Container tgi failed liveness probe, will be restarted
"""
SERVER = """\
2026-05-19T09:01:50.303728032Z INFO:     10.9.1.7:40222 - "POST /v1/completions HTTP/1.1" 200 OK
2026-05-19T09:02:00.303728032Z Fatal Python error: Segmentation fault
"""


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        ({"ip-10-0-3-7/run.log": CRASH, "ip-10-0-3-7/journal.txt": NOTICE}, "process-crash"),
        ({"pods/tgi-0/tgi.log": SERVER, "describe.txt": KILLED}, "process-crash"),
    ],
)
def test_a_crash_is_a_root_whatever_came_after_it(tmp_path: Path, files: Mapping[str, str], cause: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = diagnose_paths(Request((str(tmp_path),)), rulebook()).findings
    assert cause in {finding.cause for finding in found if finding.role.value == "root"}
