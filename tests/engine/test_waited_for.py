"""A file server that does not answer one host holds the rank of that host for which all others wait, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

SILENT = """[90210.931000] Lustre: fsx-OST0001-osc-ffff9a7c: Connection to fsx-OST0001 (at 10.0.1.5@tcp) was lost; in progress
[90393.931000] INFO: task python3:18221 blocked for more than 120 seconds.
"""
WAITS = """Process {pid}: /usr/bin/python3 -u pretrain.py
Python v3.10.12 (/usr/bin/python3.10)

Thread {pid} (idle): "MainThread"
    barrier (torch/distributed/distributed_c10d.py:4551)
    train (trainer/loop.py:214)
"""
WRITES = WAITS.replace("barrier (torch/distributed/distributed_c10d.py:4551)", "write (torch/serialization.py:778)")


def root(folder: Path, stuck: int) -> tuple[object, ...]:
    for rank in range(8):
        directory = folder / f"cn-0{rank // 4 + 1}"
        directory.mkdir(exist_ok=True)
        (directory / f"rank{rank}.txt").write_text((WRITES if rank == stuck else WAITS).format(pid=410 + rank))
    (folder / "cn-01" / "dmesg.txt").write_text(SILENT)
    diagnosis = diagnose_once(rulebook(), collect(Request((str(folder),)), rulebook()))
    [found] = [f for f in diagnosis.findings if f.id in diagnosis.root_causes and f.rule == "host-storage-silent"]
    return found.place.host, found.place.ranks


@pytest.mark.parametrize("stuck", [0, 2])
def test_the_rank_of_the_host_that_stands_elsewhere_is_the_one_that_is_held(tmp_path: Path, stuck: int) -> None:
    assert root(tmp_path, stuck) == ("cn-01", (stuck,))


def test_a_rank_of_another_host_is_not_held_by_this_one(tmp_path: Path) -> None:
    assert root(tmp_path, 6) == ("cn-01", ())
