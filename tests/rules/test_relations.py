"""Of two failures that are told beside each other, which is the cause: with the built-in rules, and beside each case the one
that looks alike and is told the other way."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.grades import Role
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request


def causes(folder: Path, files: dict[str, str], role: Role = Role.ROOT) -> set[str]:
    """The causes of the findings of a role (the roots, if not said) in these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = diagnose(rulebook(), collect(Request((str(folder),)), rulebook())).findings
    return {finding.cause for finding in found if finding.role is role}


FATAL = (
    "2026-10-02T05:14:21+0000 {} kernel: neuron 0000:a5:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), "
    "type=Transaction Layer\n"
)
HBM = (
    "2026-10-02T05:14:21+0000 {} kernel: NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR instance-id=i-0f00d3b1c77a2e6b2 hostname={} "
    "nd-id=2 nc-id=1 serial-num=1d22c7a0f3b85e11 action=TERMINATE_INSTANCE\n"
)
GONE = """\
apiVersion: v1
kind: List
items:
- kind: Event
  type: Warning
  reason: Rebooted
  lastTimestamp: "2026-10-02T05:20:02Z"
  message: Node {node} has been rebooted
  involvedObject: {{kind: Node, name: {node}}}
"""


@pytest.mark.parametrize(("error", "cause"), [(FATAL, "hw-pcie-error"), (HBM, "hw-hbm-ue")])
@pytest.mark.parametrize(("node", "beside"), [("n1", set()), ("n2", {"node-lost"})])
def test_a_node_that_is_rebooted_for_its_device_is_not_lost_beside_it(
    tmp_path: Path, error: str, cause: str, node: str, beside: set[str]
) -> None:
    files = {"n1/journal.log": error.format("n1", "n1"), "events.yaml": GONE.format(node=node)}
    assert causes(tmp_path, files) == {cause, *beside}


@pytest.mark.parametrize(("first", "roots"), [(True, {"hw-pcie-error"}), (False, {"hw-pcie-error", "node-lost"})])
def test_a_device_that_fails_after_its_node_went_did_not_take_it_down(
    tmp_path: Path, first: bool, roots: set[str]
) -> None:
    opened = "2026-10-02T02:00:09+0000 n1 kernel: neuron:npid_attach: neuron:npid_attach: pid=551, slot=0\n"
    died = FATAL.format("n1") if first else ""
    booted = "2026-10-02T05:22:40+0000 n1 kernel: Linux version 6.8.0-1035-aws (buildd@lcy02-amd64-091)\n"
    failed = "" if first else FATAL.format("n1").replace("05:14", "05:44")
    assert causes(tmp_path, {"n1/journal.log": opened + died + booted + failed}) == roots


OUT_OF_BOUNDS = (
    "2026-Jul-12 10:12:11.402918  8133:8377  ERROR  TDRV:exec_request_process_errors  [ND 3][NC 7] "
    "Out of bounds access on model m.neff\n"
)
WAITED = (
    "2026-Jul-12 10:22:11.402918  8133:8377  ERROR  NMGR:dlr_exec_wait  Execution completed with "
    "err: 1200. mode->h_nn=1008, lnc=2\n"
)
DUMP = (
    "cat: write error: No space left on device "
    "(/tmp/neuron-core-dump/dt-1-cid-77/i-04c9a7e3f1b22d650-nd7-nc0-pid-8133-tid-8377-lid-1)\n"
)
NO_SPACE = "Traceback (most recent call last):\nOSError: [Errno 28] No space left on device\n"


@pytest.mark.parametrize(
    ("rank_3", "rank_2", "roots"),
    [
        (OUT_OF_BOUNDS + DUMP, NO_SPACE, {"nrt-oob-access"}),
        (OUT_OF_BOUNDS + DUMP, "", {"nrt-oob-access"}),
        # who only waited for it writes a dump as well
        (WAITED + DUMP, "2026-07-12 10:02:00 saving\n" + NO_SPACE, {"disk-full"}),
        # it dumped in vain, for the disk was full
        (
            OUT_OF_BOUNDS + DUMP,
            "2026-07-12 10:02:00 [Errno 28] No space left on device\n",
            {"nrt-oob-access", "disk-full"},
        ),
        (OUT_OF_BOUNDS, NO_SPACE, {"nrt-oob-access", "disk-full"}),
    ],
)
def test_a_disk_that_a_dump_filled_is_a_consequence_of_what_was_dumped(
    tmp_path: Path, rank_3: str, rank_2: str, roots: set[str]
) -> None:
    files = {"ip-10-0-0-1/rank_3.log": rank_3, "ip-10-0-0-1/rank_2.log": rank_2 or "step 1\n"}
    assert causes(tmp_path, files) == roots


ABORTED = (
    "2026-Jul-12 10:11:11.402918  8133:8377  ERROR  "
    "TDRV:dma_print_abort  [MLA 7][NC 1] DMA TX engine 5 is in an abort state\n"
)


@pytest.mark.parametrize(
    ("host", "roots"), [("ip-10-0-0-1", {"hw-dma-abort"}), ("ip-10-0-0-2", {"hw-dma-abort", "disk-full"})]
)
def test_ranks_that_waited_for_a_broken_one_of_their_host_fill_its_disk_with_their_dumps(
    tmp_path: Path, host: str, roots: set[str]
) -> None:
    files = {
        f"{host}/rank_7.log": ABORTED,
        "ip-10-0-0-1/rank_3.log": WAITED.replace("10:22", "10:12") + f"2026-07-12 10:12:30 {DUMP}",
        "ip-10-0-0-1/rank_2.log": WAITED.replace("10:22", "10:12") + f"2026-07-12 10:12:31 saving\n{NO_SPACE}",
    }
    assert causes(tmp_path, files) == roots


PENDING = """\
apiVersion: v1
kind: List
items:
- kind: Event
  type: Warning
  reason: FailedScheduling
  lastTimestamp: "2026-11-02T07:58:02Z"
  message: "0/14 nodes are available: 1 Insufficient aws.amazon.com/neuron, 13 node(s) didn't match Pod's node affinity/selector."
  involvedObject: {kind: Pod, name: esm-worker-1, namespace: train}
"""
UNRESOLVED = "ssh: Could not resolve hostname esm-worker-1.esm.train.svc: Name or service not known\n"
NOT_BUILT = (
    "Error! Bad return status for module build on kernel: 6.18.2-18.210.amzn2023.x86_64 (x86_64)\n"
    "Consult /var/lib/dkms/aws-neuronx/2.21.37.0/build/make.log for more information.\n"
)
NOT_THERE = "modprobe: FATAL: Module neuron not found in directory /lib/modules/6.18.2-18.210.amzn2023.x86_64\n"


@pytest.mark.parametrize(
    ("node", "events", "roots"),
    [
        (NOT_BUILT, PENDING, {"driver-install-failed"}),
        (NOT_THERE, PENDING, {"driver-missing"}),
        ("", PENDING, {"k8s-insufficient-neuron"}),
        # no pod is known to wait for a node: the name alone is wrong
        ("", "", {"name-resolution-failed"}),
        (NOT_BUILT, "", {"driver-install-failed", "name-resolution-failed"}),
    ],
)
def test_a_node_without_its_driver_is_why_a_pod_waits_and_why_its_name_does_not_resolve(
    tmp_path: Path, node: str, events: str, roots: set[str]
) -> None:
    files = {"launcher.log": UNRESOLVED, "events.yaml": events, "ip-10-88-14-201/cloud-init-output.log": node}
    assert causes(tmp_path, {name: text for name, text in files.items() if text}) == roots


REFUSED = (
    "2026-Aug-29 12:03:21.423373 71032:71032 ERROR   NRT:nrt_init   This Neuron Runtime (compatibility id: 9) is not "
    "compatible with the installed aws-neuronx-dkms package\n"
)
LOADED = "[   12.101377] Neuron Driver Started with Version:2.26.5.0-8f4d2b7a1c90e6d35be47f2a90c1d8e3b6574fa1\n"
ON_DISK = (
    "filename:       /lib/modules/5.15.0-1063-aws/updates/dkms/neuron.ko\nversion:        {}\nname:           neuron\n"
)


@pytest.mark.parametrize(
    ("log", "newer", "roots"),
    [
        ("job.log", "ip-10-0-0-2", {"driver-not-reloaded"}),  # a log of all ranks: only one host can be meant
        ("ip-10-0-0-2/job.log", "ip-10-0-0-2", {"driver-not-reloaded"}),
        ("ip-10-0-0-1/job.log", "ip-10-0-0-2", {"driver-incompatible", "driver-install-failed"}),  # of another host
        ("job.log", None, {"driver-incompatible", "driver-install-failed"}),  # no host has a newer one
    ],
)
def test_a_driver_that_could_not_be_unloaded_is_why_the_old_one_is_refused(
    tmp_path: Path, log: str, newer: str | None, roots: set[str]
) -> None:
    files = {log: REFUSED, "ip-10-0-0-2/term.txt": "$ sudo rmmod neuron\nrmmod: ERROR: Module neuron is in use\n"}
    for host in ("ip-10-0-0-1", "ip-10-0-0-2"):
        files[f"{host}/modinfo.txt"] = ON_DISK.format("2.30.2.0" if host == newer else "2.26.5.0")
        files[f"{host}/dmesg.txt"] = LOADED
    assert causes(tmp_path, files) == roots


ENDED = (
    "E0330 {} 1 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 2 (pid: 35) of "
    "binary: /usr/bin/python3\n"
)
LOST = (
    "2026-Mar-30 03:03:05.0853 58:458 [25] include/socket.h:541 CCOM WARN RX, connection closed by remote peer "
    "10.200.4.205<54326>\n"
)


@pytest.mark.parametrize(
    ("pod", "at", "status"),
    [
        ("w-2", "03:03:43.000000", "victims-only"),
        ("w-2", "03:02:43.000000", "unknown-failure"),  # before anybody lost anybody
        ("w-3", "03:03:43.000000", "unknown-failure"),  # of another pod
    ],
)
def test_a_worker_that_ends_without_a_word_after_others_of_its_pod_lost_a_peer_lost_it_too(
    tmp_path: Path, pod: str, at: str, status: str
) -> None:
    (tmp_path / "pods").mkdir()
    (tmp_path / "pods/w-2.log").write_text(LOST + (ENDED.format(at) if pod == "w-2" else ""))
    (tmp_path / "pods/w-3.log").write_text("step=1 loss=1.8\n" + (ENDED.format(at) if pod == "w-3" else ""))
    found = diagnose(rulebook(), collect(Request((str(tmp_path),)), rulebook()))
    assert found.verdict.status == status


def listing(*devices: int) -> str:
    """What neuron-ls shows of a node with these devices."""
    rows = "".join(f"| {n:<6} | 4      | 96 GB  | 0000:{n:02x}:00.0 |\n" for n in devices)
    rule = "+--------+--------+--------+--------------+\n"
    title = "| NEURON | NEURON | NEURON |     PCI      |\n| DEVICE | CORES  | MEMORY |     BDF      |\n"
    return f"instance-type: trn2.48xlarge\ninstance-id: i-06e1f20cc94ab8d37\n{rule}{title}{rule}{rows}{rule}"


PENDING = (
    "LAST SEEN   TYPE      REASON             OBJECT            MESSAGE\n"
    "12m         Warning   FailedScheduling   pod/nova-worker-3 0/4 nodes are available: 1 node(s) had untolerated taint "
    "{sagemaker.amazonaws.com/node-health-status: Unschedulable}, 3 Insufficient aws.amazon.com/neuron.\n"
)


@pytest.mark.parametrize(
    ("devices", "roots"),
    [
        ([n for n in range(16) if n != 11], {"device-missing"}),
        (list(range(16)), {"k8s-insufficient-neuron"}),
        ([0], {"k8s-insufficient-neuron"}),  # a container's
    ],
)
def test_a_pod_waits_for_the_node_that_lacks_a_device(tmp_path: Path, devices: list[int], roots: set[str]) -> None:
    files = {"hyperpod-i-06e1f20cc94ab8d37/neuron-ls.txt": listing(*devices), "events.txt": PENDING}
    assert causes(tmp_path, files) == roots


@pytest.mark.parametrize("failed", [True, False])
def test_a_pod_waits_for_the_node_whose_driver_could_not_take_up_a_device(tmp_path: Path, *, failed: bool) -> None:
    log = "[   10.200000] ** BDF: b6:00.0 => nd[2] (routing id: 2)\n"
    log += "[   41.330000] neuron:neuron_pci_get_device_id: Could not retrieve device index (read timeout)\n" * failed
    roots = {"device-missing"} if failed else {"k8s-insufficient-neuron"}
    assert causes(tmp_path, {"hyperpod-i-06e1f20cc94ab8d37/dmesg.txt": log, "events.txt": PENDING}) == roots
