"""A host is called as its machine calls itself, where whoever collected only numbered it or said in words what it does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from folders import filled

import neuron_doctor

ONE, TWO = "ip-10-0-3-7", "ip-10-0-3-8"
ATTACH = "[298501.502143] neuron:npid_attach: neuron:npid_attach: pid=52301, slot=3\n"
RESET = "[791647.881000] neuron:nr_wait_for_reset_completion: nd7: reset request 311216 was initiated, but failed to complete\n"
DATE = "Tue Nov 17 07:50:00 UTC 2026\n"


def fault(host: str, instance: str = "i-0592464924bd45322") -> str:
    return (
        f"{ATTACH}[298507.502143] NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR instance-id={instance} hostname={host} nd-id=5 nc-id=0 "
        "serial-num=19fcda00f5ff6eb9 action=TERMINATE_INSTANCE\n"
    )


def logged(host: str, text: str) -> str:
    """The lines as the logger of a host has them."""
    return "".join(f"Nov 17 07:41:07 {host} kernel: {line}\n" for line in text.splitlines())


def terminal(host: str, *commands: str, shown: str = "") -> str:
    return "".join(f"ubuntu@{host}:~$ {command}\n" for command in (*commands, "sudo dmesg | tail")) + shown


def uname(host: str) -> str:
    return f"Linux {host} 6.8.0-1031-aws #33~22.04.1-Ubuntu SMP Thu Jun 26 14:41:33 UTC 2026 x86_64 x86_64 x86_64 GNU/Linux\n"


def hosts(folder: Path, files: Mapping[str, str]) -> set[str]:
    """The hosts of the root causes of a folder with these files."""
    report = neuron_doctor.diagnose([str(filled(folder, files))])
    return {host for finding in report.findings if finding.id in report.root_causes for host in finding.hosts}


# --- numbers of hosts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "files",
    [
        {"node1_dmesg.txt": ATTACH, "node2_dmesg.txt": fault(TWO)},
        {"node-a/dmesg.txt": ATTACH, "node-b/dmesg.txt": RESET, "node-b/uname.txt": uname(TWO)},
        {"worker3/dmesg.txt": ATTACH, "worker4/dmesg.txt": RESET, "worker4/hostname": f"{TWO}\n"},
        {"node1.txt": terminal(ONE, shown=ATTACH), "node2.txt": terminal(TWO, shown=RESET)},
        {"node1_kern.log": logged(ONE, ATTACH), "node2_kern.log": logged(TWO, RESET)},
        {
            "node1.txt": ATTACH,
            "node2_session.txt": f"sh-5.2$ hostname\n{TWO}\nsh-5.2$ sudo dmesg | tail\n{RESET}sh-5.2$ exit\n",
        },
    ],
)
def test_a_host_that_a_path_only_numbers_is_called_as_it_calls_itself(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert hosts(tmp_path, files) == {TWO}


@pytest.mark.parametrize(
    "files",
    [
        # two machines were called so, one after the other
        {
            "node1/dmesg.txt": RESET,
            "node1/uname.txt": uname(ONE),
            "node1/later/uname.txt": uname(TWO),
            "node2/dmesg.txt": ATTACH,
        },
        # one machine under two numbers
        {
            "node1/dmesg.txt": RESET,
            "node1/uname.txt": uname(ONE),
            "node2/dmesg.txt": ATTACH,
            "node2/uname.txt": uname(ONE),
        },
        # a peer, and where all meet
        {
            "node1/dmesg.txt": RESET,
            "node1/train.log": f"MASTER_ADDR={TWO} torchrun --nnodes 2\n[rank0]: lost peer rank=40 host={TWO}: Broken pipe\n",
            "node2/dmesg.txt": ATTACH,
        },
        # a login host, at which somebody looked at what was copied
        {
            "node1/dmesg.txt": RESET,
            "node1/shell.txt": f"me@head-1:~$ date\n{DATE}me@head-1:~$ \n",
            "node2/dmesg.txt": ATTACH,
        },
        {"node1/dmesg.txt": RESET, "node1/shell.txt": terminal(TWO, "cat train.log"), "node2/dmesg.txt": ATTACH},
        # a machine that has this name, and keeps what another one sends to its logger
        {"node1/messages": logged("node1", RESET) + logged(TWO, ATTACH), "node2/dmesg.txt": ATTACH},
    ],
)
def test_a_number_stays_where_no_machine_states_one_name_of_its_own(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert hosts(tmp_path, files) == {"node1"}


def test_a_name_that_the_scheduler_has_stays(tmp_path: Path) -> None:
    files = {"node1/dmesg.txt": ATTACH, "node2/dmesg.txt": fault(TWO), "job.out": "SLURM_JOB_NODELIST=node[1-2]\n"}
    assert hosts(tmp_path, files) == {"node2"}


def test_prompts_of_pods_are_no_names_of_their_nodes(tmp_path: Path) -> None:
    pods = "NAMESPACE  NAME    READY  STATUS   RESTARTS  AGE  NODE\n" + "".join(
        f"train      bert-{n}  1/1    Running  0         5h   ip-10-0-3-{6 + n}.ec2.internal\n" for n in (1, 2)
    )
    files = {f"node{n}/shell.txt": terminal(f"bert-{n}") for n in (1, 2)}
    found = hosts(tmp_path, {**files, "node1/dmesg.txt": ATTACH, "node2/dmesg.txt": RESET, "pods.txt": pods})
    assert found == {"node2"}


def steps(host: str, ranks: str, slow: bool, form: str) -> str:
    work, wait = (3.9, 0.02) if slow else (1.9, 2.0)
    return "".join(form.format(second=n, step=100 + n, host=host, ranks=ranks, work=work, wait=wait) for n in range(50))


TEXT = (
    "2026-11-17 07:41:{second:02d} step={step} ranks={ranks}-{ranks}9 host={host} fwd_bwd_s={work} grad_wait_s={wait}\n"
)
JSON = '{{"ts": "07:41:{second:02d}", "host": "{host}", "rank": {ranks}, "step": {step}, "fwd_s": {work}, "wait_s": {wait}}}\n'


@pytest.mark.parametrize("form", [TEXT, JSON])
def test_lines_that_all_have_the_host_on_which_steps_were_timed_name_it(tmp_path: Path, form: str) -> None:
    files = {f"node{n}.log": steps(f"ip-10-0-3-{5 + n}", str(n), n == 2, form) for n in range(4)}
    assert hosts(tmp_path, files) == {ONE}


# --- words for hosts -------------------------------------------------------------------------------------------------

LOOP = "for i in 5 6; do for c in 0 1; do cat /sys/devices/virtual/neuron_device/neuron$i/neuron_core$c/stats/x; done; done"


@pytest.mark.parametrize(
    "files",
    [
        {
            "decode_host/paste.txt": terminal(TWO, "date", LOOP, "sudo lsof /dev/neuron7"),
            "decode_host/dmesg.log": RESET,
        },
        {"box 2 (gpu-lab)/uname.txt": uname(TWO), "box 2 (gpu-lab)/dmesg.txt": RESET},
        {"decode_host_terminal.txt": terminal(TWO), "decode_host_dmesg.txt": RESET},
    ],
)
def test_what_lies_in_the_directory_of_one_machine_is_at_the_host_that_it_names(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert hosts(tmp_path, {**files, "prefill_host/uname.txt": uname(ONE), "ticket.txt": "all requests fail\n"}) == {
        TWO
    }


@pytest.mark.parametrize(
    "files",
    [
        {"node-logs/paste.txt": terminal(TWO), "node-logs/dmesg.log": RESET},
        {"peer_host/paste.txt": terminal(TWO), "peer_host/dmesg.log": RESET},
        {"attachments/paste.txt": terminal(TWO), "attachments/dmesg.log": RESET},
        {"decode_host/a.txt": terminal(ONE), "decode_host/b.txt": terminal(TWO), "decode_host/dmesg.log": RESET},
        {"decode_host/paste.txt": terminal("bastion-2"), "decode_host/dmesg.log": RESET},
        {
            "decode_host/paste.txt": terminal(TWO, "for i in 1 2; do ssh n$i dmesg; done"),
            "decode_host/dmesg.log": RESET,
        },
        {
            "decode_host/paste.txt": terminal(TWO),
            "decode_host/ip-10-0-9-9/df.txt": "x\n",
            "decode_host/dmesg.log": RESET,
        },
    ],
)
def test_a_directory_of_several_or_of_none_names_no_host(tmp_path: Path, files: dict[str, str]) -> None:
    assert (
        hosts(tmp_path, {**files, "prefill_host/uname.txt": uname(ONE), "ticket.txt": "all requests fail\n"}) == set()
    )


@pytest.mark.parametrize(
    "folder",
    [
        "multi_node",
        "two_node_run",
        "4-node",
        "machine_learning",
        "vllm_server",
        "all host",
        "per-node",
        "inference_server",
    ],
)
def test_a_directory_of_a_job_on_several_machines_is_at_none_of_them(tmp_path: Path, folder: str) -> None:
    files = {f"{folder}/kern.log": logged(ONE, ATTACH), f"{folder}/other.txt": RESET}
    assert ONE not in hosts(tmp_path, files)
