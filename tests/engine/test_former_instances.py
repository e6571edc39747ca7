"""The kernel log of an instance that had the name of a node before the job began tells nothing of the job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.former_instances import LEFT_OUT
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

NODE, OLD, NEW = "q-st-trn2-2", "i-0aa21f6633de09b18", "i-0777c3e9e1b2d5f40"
KERNEL = (
    "{date}T02:00:00+0000 q-st-trn2-2 kernel: Linux version 6.8.0-1036-aws (buildd@lcy02-amd64-071)\n"
    "{day}T23:51:07+0000 q-st-trn2-2 kernel: NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id={id} "
    "hostname=q-st-trn2-2 nd-id=11 nc-id=46 serial-num=5ab91c04d2e87730 action=TERMINATE_INSTANCE\n"
)
BOOT = "{date}T00:20:31+0000 q-st-trn2-2 kernel: Linux version 6.8.0-1036-aws (buildd@lcy02-amd64-071)\n"
JOB = (
    "2026-08-27 13:05:20 [rank64] starting on q-st-trn2-2\n"
    "2026-08-27 13:05:22 [rank64] Traceback (most recent call last):\n"
    '2026-08-27 13:05:22 [rank64]   File "train.py", line 61, in main\n'
    "2026-08-27 13:05:22 [rank64] KeyError: 'rope_scaling'\n"
)
TERMINATED = (
    "2026-08-{} 00:04:11,003 - [slurm_plugin.instance_manager:delete_instances] - INFO - "
    "Terminating instances (x1) ['{}']\n"
)
GIVEN = (
    "2026-08-{} 00:04:31,411 - [slurm_plugin.instance_manager:_update_slurm_node_addrs] - INFO - Nodes are now configured with "
    "instances: (x2) [\"('q-st-trn2-1', EC2Instance(id='i-0e44d1b9c0f7a2361', private_ip='10.5.1.76', "
    "hostname='ip-10-5-1-76'))\", "
    "\"('{}', EC2Instance(id='{}', private_ip='10.5.1.77', hostname='ip-10-5-1-77'))\"]\n"
)
STREAM = f"export/{NODE}.{{}}.system-messages"


def diagnosed(folder: Path, files: Mapping[str, str]) -> tuple[set[str], list[str]]:
    """The causes of the roots, and what was left out."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = diagnose(rulebook(), collect(Request((str(folder),)), rulebook()))
    out = [s.path for s in found.sources if any(problem.what == LEFT_OUT for problem in s.problems)]
    return {finding.cause for finding in found.findings if finding.id in found.root_causes}, out


OLD_LOG = {STREAM.format(OLD): KERNEL.format(date="2026-07-30", day="2026-08-24", id=OLD)}
JOB_LOG = {"slurm-6612.out": JOB}
HEIR = {STREAM.format(NEW): BOOT.format(date="2026-08-25")}


@pytest.mark.parametrize(
    "more",
    [
        {"clustermgtd.log": TERMINATED.format(25, OLD)},
        {"clustermgtd.log": GIVEN.format(25, NODE, NEW)},
        HEIR,
    ],
)
@pytest.mark.parametrize(
    "yearless", ["", "W0827 13:05:02.300000 3100 torch/distributed/run.py:793] Setting OMP_NUM_THREADS\n"]
)
def test_what_broke_on_an_instance_that_was_gone_is_left_out(
    tmp_path: Path, more: Mapping[str, str], yearless: str
) -> None:
    causes, out = diagnosed(tmp_path, OLD_LOG | {"slurm-6612.out": yearless + JOB} | more)
    assert causes == {"application-exception"}
    assert [Path(path).name for path in out] == [f"{NODE}.{OLD}.system-messages"]


@pytest.mark.parametrize(
    "more",
    [
        {},  # a kernel may be silent for days
        {"clustermgtd.log": TERMINATED.format(28, OLD)},  # after the job had failed
        {"clustermgtd.log": GIVEN.format(28, NODE, NEW)},
        {"clustermgtd.log": TERMINATED.format(27, OLD)},  # in its zone that may be after the job began
        {"clustermgtd.log": TERMINATED.format(25, NEW)},
        {"clustermgtd.log": GIVEN.format(25, "q-st-trn2-3", NEW)},
        {"clustermgtd.log": GIVEN.format(25, NODE, OLD)},
        {f"export/q-st-trn2-3.{NEW}.system-messages": BOOT.format(date="2026-08-25").replace(NODE, "q-st-trn2-3")},
        {STREAM.format(NEW): BOOT.format(date="2026-08-28")},  # the one that came after the job
    ],
)
def test_what_broke_on_an_instance_that_may_have_been_the_jobs_is_not(tmp_path: Path, more: Mapping[str, str]) -> None:
    causes, out = diagnosed(tmp_path, OLD_LOG | JOB_LOG | more)
    assert ("hw-sram-ue" in causes, out) == (True, [])


def test_of_two_former_ones_the_earlier_is_no_heir(tmp_path: Path) -> None:
    causes, out = diagnosed(tmp_path, OLD_LOG | JOB_LOG | {STREAM.format(NEW): BOOT.format(date="2026-07-01")})
    assert "hw-sram-ue" in causes
    assert [Path(path).name for path in out] == [f"{NODE}.{NEW}.system-messages"]


def test_nor_where_it_broke_while_the_job_ran(tmp_path: Path) -> None:
    kernel = KERNEL.format(date="2026-07-30", day="2026-08-27", id=OLD)
    files = {STREAM.format(OLD): kernel, "clustermgtd.log": TERMINATED.format(28, OLD)}
    causes, out = diagnosed(tmp_path, JOB_LOG | files)
    assert ("hw-sram-ue" in causes, out) == (True, [])


def test_an_instance_that_goes_on_after_it_was_given_up_is_not_gone(tmp_path: Path) -> None:
    kernel = KERNEL.format(date="2026-07-30", day="2026-08-24", id=OLD)
    files = {STREAM.format(OLD): kernel, "clustermgtd.log": TERMINATED.format(22, OLD)}
    causes, out = diagnosed(tmp_path, JOB_LOG | files)
    assert ("hw-sram-ue" in causes, out) == (True, [])


@pytest.mark.parametrize(("day", "found"), [(25, set()), (28, {"hw-sram-ue"})])
def test_streams_of_several_instances_in_one_file_are_told_apart(tmp_path: Path, day: int, found: set[str]) -> None:
    kernel = KERNEL.format(date="2026-07-30", day="2026-08-24", id=OLD).splitlines()
    lines = [f"{line[:19]}.000000+00:00 {NODE}.{OLD}.system-messages {line}\n" for line in kernel]
    daemon = TERMINATED.format(day, OLD)
    lines.append(f"2026-08-{day}T00:04:11.003000+00:00 ip-10-5-0-10.i-0bb21f6633de09b18.clustermgtd {daemon}")
    causes, _ = diagnosed(tmp_path, JOB_LOG | {"aws-logs-tail.txt": "".join(lines)})
    assert causes & {"hw-sram-ue"} == found
