"""The kernel log of an instance that had the name of a node before the job began tells nothing of the job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.former_instances import LEFT_OUT, without_former_instances
from neuron_doctor.engine.moments import with_years
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
    found = diagnose(rulebook(), collect(Request((str(_written(folder, files)),)), rulebook()))
    out = [s.path for s in found.sources if any(problem.what == LEFT_OUT for problem in s.problems)]
    return {finding.cause for finding in found.findings if finding.id in found.root_causes}, out


def _written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


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


# --- what one source tells of one host ------------------------------------------------------------------------------

SYSLOG = (
    f"Aug 27 01:55:31 {NODE} kernel: [4410021.877177] NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id={OLD} "
    f"hostname={NODE} nd-id=2 nc-id=1 serial-num=5bd0317a90cc41fe action=TERMINATE_INSTANCE\n"
    "Aug 27 02:01:01 q-st-trn2-3 CRON[31999]: (root) CMD (/opt/site/sbin/nhc-cron >/dev/null 2>&1)\n"
    "{change}"
    f"Aug 27 02:11:09 {NODE} kernel: [    9.494330] Neuron Driver Started with Version:2.30.2.0-a41c9e0 at: x\n"
    "{seen}"
)
DETACHED = "Aug 27 {time} {host} kernel: [20004.110934] neuron:npid_detach: neuron:npid_detach: pid={pid}, slot=1\n"
ATTACHED = "".join(DETACHED.format(time="13:05:26", host=NODE, pid=pid) for pid in (40032, 40055))
SAID = f"Aug 27 02:08:55 {NODE} cloud-init[912]: "
CHANGE = SAID + f"instance-id changed: {OLD} -> {NEW}\n"
ERRORS = (
    "[rank{rank}] 2026-Aug-27 13:05:2{second}.660000 {pid}:{pid} ERROR  NMGR:dlr_exec_wait   Execution completed with err: 1200. "
    "mode->h_nn=1012, lnc=4\n"
)
SPOKE = "".join(ERRORS.format(rank=rank, second=rank, pid=pid) for rank, pid in enumerate((40032, 40055)))


@pytest.mark.parametrize(
    "change",
    [
        CHANGE,
        SAID
        + f"2026-08-27 02:08:55,412 - main.py[DEBUG]: [net] init will now be targeting instance id: {NEW}. new=True\n",
        f"Aug 27 09:55:31 {NODE} kernel: [31.8] NEURON_HW_ERR=DMA_ABORT instance-id={NEW} hostname={NODE} nd-id=2 nc-id=1\n",
    ],
)
def test_within_one_syslog_an_instance_is_gone_as_soon_as_its_host_is_another(tmp_path: Path, change: str) -> None:
    files = {"slurm-6612.out": JOB + SPOKE, "all-nodes.log": SYSLOG.format(change=change, seen=ATTACHED)}
    causes, _ = diagnosed(tmp_path, files)
    assert "hw-sram-ue" not in causes


@pytest.mark.parametrize(
    ("change", "job", "seen"),
    [
        ("", SPOKE, ATTACHED),
        (CHANGE.replace(NEW, OLD), SPOKE, ATTACHED),  # the same one booted again
        (CHANGE.replace(NODE, "q-st-trn2-3"), SPOKE, ATTACHED),
        (CHANGE, SPOKE, ""),  # nothing shows the zone of the job's log
        (CHANGE, SPOKE, ATTACHED.replace("40055", "40077")),
        (CHANGE, SPOKE, ATTACHED.replace(NODE, "q-st-trn2-3")),
        (CHANGE, SPOKE, ATTACHED.replace("13:05", "17:05")),  # those of a later job
        # it began before, and was started again on the new one
        (CHANGE, "2026-08-27 01:05:20 [rank64] starting\n" + SPOKE, ATTACHED),
        # the job failed, and then the instance was replaced
        (CHANGE, SPOKE.replace(" 13:", " 01:"), ATTACHED.replace("13:05", "01:05")),
    ],
)
def test_within_one_syslog_what_may_be_of_the_job_stays(tmp_path: Path, change: str, job: str, seen: str) -> None:
    files = {"slurm-6612.out": job + JOB, "all-nodes.log": SYSLOG.format(change=change, seen=seen)}
    facts = collect(Request((str(_written(tmp_path, files)),)), rulebook())
    left = without_former_instances(facts.sources, with_years(facts.facts))[1]
    assert any(fact.kind == "hw-err" and fact.place.instance_id == OLD for fact in left)
