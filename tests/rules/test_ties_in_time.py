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


STARTED = "2026-02-14 01:00:04,100 INFO starting\n"
STAGED = """\
Traceback (most recent call last):
  File "/fsx/code/pretrain.py", line 388, in save
    stage(shard, tmp)
RuntimeError: shard 5 was not staged

During handling of the above exception, another exception occurred:

"""
FULL = """\
Traceback (most recent call last):
  File "/fsx/code/pretrain.py", line 391, in save
    os.fsync(f.fileno())
OSError: [Errno 28] No space left on device
"""
OTHER = "2026-02-14 06:36:50,435 INFO train: step 717 | loss 2.2496\n" + FULL


@pytest.mark.parametrize(
    ("log", "roots"),
    [(STARTED + STAGED + FULL, {"disk-full"}), (STARTED + STAGED, {"application-exception", "disk-full"})],
)
def test_what_one_record_tells_of_both_is_of_one_moment(tmp_path: Path, log: str, roots: set[str]) -> None:
    """The traceback has no time but that of the start, hours before the disk was full."""
    for name, text in (("rank_5.log", log), ("rank_0.log", OTHER)):
        (tmp_path / "ip-10-0-3-7").mkdir(exist_ok=True)
        (tmp_path / "ip-10-0-3-7" / name).write_text(text)
    found = diagnose_paths(Request((str(tmp_path),)), rulebook()).findings
    assert {finding.cause for finding in found if finding.role.value == "root"} == roots
