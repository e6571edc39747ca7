"""Which machine a command in a terminal shows: few show the one on which they run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from other_looks import OTHERS

from neuron_doctor.collectors.shown_machines import Shown, Shows, shown_by


def told(command: str, host: str) -> tuple[Shows, str]:
    shown = shown_by(command, host)
    return shown.what, shown.host


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("dmesg", Shows.KERNEL),
        ("sudo -n dmesg -T | grep -i neuron | tail -40", Shows.KERNEL),
        ("timeout 60 sudo journalctl -k -b", Shows.KERNEL),
        ("journalctl -xkb --no-pager", Shows.KERNEL),
        ("journalctl -ukubelet --since today", Shows.LOG),
        ("grep -iE 'oom|killed' /var/log/kern.log", Shows.KERNEL),
        ("sudo tail -n 50 /var/log/messages", Shows.LOG),
        ("sed -n 1,80p /var/log/syslog", Shows.LOG),
        ("zcat /var/log/syslog.2.gz | awk '{print $1}'", Shows.LOG),
        ("awk -F: '{print $1}' /etc/passwd", Shows.LOG),
        ("cat /proc/meminfo", Shows.LOG),
        ("cat /etc/hosts", Shows.LOG),
        ("/opt/aws/neuron/bin/neuron-ls -j", Shows.STATE),
        ("watch -n 1 'neuron-ls | head'", Shows.STATE),
        ("env LC_ALL=C nice -n 5 free -g", Shows.STATE),
        ("env | egrep 'RANK|MASTER'", Shows.STATE),
        ("ls -l /dev/neuron*", Shows.STATE),
        ("bash -lc 'uname -r; lsmod | grep neuron'", Shows.STATE),
        ("date; dmesg | tail", Shows.KERNEL),
        ("dmesg | tail && uptime", Shows.LOG),
        ("cd /fsx && MASTER_ADDR=a ./go.sh 1 2>&1 | tee a.log", Shows.JOB),
        ("nohup torchrun --nnodes 2 train.py --config a.json", Shows.JOB),
        ("python -u train.py --log-file out.log", Shows.JOB),
        ("python3 -m vllm.entrypoints.openai.api_server --model x", Shows.JOB),
        ("bash run.sh 0", Shows.JOB),
        ("python3 -c 'import torch, torch_neuronx; print(torch.ones(2))'", Shows.LOG),
        ('sudo python -u -c "from jax import devices; print(devices())" 2>&1 | tail -5', Shows.LOG),
        ("cd /fsx", Shows.NOTHING),
        ("ls -la /fsx/logs", Shows.NOTHING),
        ("dmesg > d.txt", Shows.NOTHING),
        ("# what now?", Shows.NOTHING),
        ("", Shows.NOTHING),
    ],
)
def test_what_shows_the_machine_on_which_it_runs(command: str, what: Shows) -> None:
    assert told(command, "n3") == (what, "" if what is Shows.NOTHING else "n3")


@pytest.mark.parametrize("command", OTHERS)
def test_all_else_is_of_nobody(command: str) -> None:
    assert told(command, "login-1") == (Shows.OTHERS, "")


@pytest.mark.parametrize(
    "options", ["", "-p 22", "-p22", "-i ~/.ssh/key.pem -tt", "-o BatchMode=yes -J jump", "-t", "-l me"]
)
def test_ssh_shows_the_host_to_which_it_logs_in_if_the_command_there_shows_that(options: str) -> None:
    for user in ("", "ubuntu@"):
        asked = f"timeout 60 ssh {options} {user}n7"
        assert told(f"{asked} 'sudo dmesg -T | tail'", "login-1") == (Shows.KERNEL, "n7")
        assert told(f"{asked} tail -1 /tmp/job.log", "login-1") == (Shows.LOG, "n7")
        assert shown_by(f"ssh {options} {user}n7 cat /fsx/logs/rank7.log", "login-1").what is Shows.OTHERS
    assert told(f"ssh bastion ssh {options} n7 dmesg", "login-1") == (Shows.KERNEL, "n7")


def test_a_file_that_is_called_after_the_host_is_of_it() -> None:
    basalt = "/mnt/runs/moe/Basalt.log"
    assert shown_by(f"tail -n 12 {basalt} | less", "basalt") == Shown(Shows.LOG, "basalt", (basalt,))
    assert shown_by(f"tail -n 12 {basalt}", "login-1") == Shown(Shows.OTHERS, files=(basalt,))
    assert told("cat /var/log/basalt-2.log; dmesg", "basalt-2") == (Shows.LOG, "basalt-2")


@pytest.mark.parametrize("step", ["ssh n ", "ssh bastion sudo ", "bash -c 'sh -c ", "timeout 9 ssh n sh -c "])
def test_no_line_is_too_deep_or_too_long(step: str) -> None:
    for times in (8, 300, 5000):
        assert shown_by(f"{step * times}dmesg", "login-1").host != "login-1"


WORDS = """
ssh n7 n8 ubuntu@n7 -p 22 sudo timeout 60 dmesg journalctl -k cat tail -f /var/log/syslog x.log ./run.sh torchrun srun bash -lc
env watch for h in do done $h $(date) | || ; && > 2>&1 ' " ( ) \\ # é
"""
LINES = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)


@given(LINES | st.text(max_size=60), st.sampled_from([*OTHERS]))
def test_any_line_is_understood_or_left(line: str, others: str) -> None:
    shown = shown_by(line, "login-1")
    assert shown.host in ("", "login-1") or ("ssh" in line and shown.host in line)
    assert (shown.what in (Shows.NOTHING, Shows.OTHERS)) == (shown.host == "")
    assert shown_by(f"{others};{line}", "login-1").host == ""
    assert shown_by(f"{line} | tail", "login-1").host in ("", shown.host)


def test_a_loop_that_counts_devices_shows_what_it_does_with_each_and_one_over_hosts_is_of_nobody() -> None:
    read = "do echo -n $i; cat /sys/devices/virtual/neuron_device/neuron$i/reset; done"
    assert shown_by(f"for i in $(seq 0 15); {read}", "basalt").what is Shows.LOG
    assert (
        shown_by(f"for i in 5 6; do for c in 0 1; {read.replace('reset', 'core$c/x')}; done", "basalt").host == "basalt"
    )
    for line in ("for i in 1 2; do ssh n$i dmesg; done", "for i in 1 2; do cat /var/log/node$i.log; done"):
        assert shown_by(line, "n1").what is Shows.OTHERS
    assert shown_by("for h in a b; do cat /proc/$h; done", "n1").what is Shows.OTHERS
