"""Whose the lines below the prompts of a pasted terminal are: of the host where the command shows it, and else of nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook
from other_looks import OTHERS

from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

KERNEL = "[ 9120.687627] infiniband efa_0: Failed to process command REG_MR (opcode 7) comp_status 1 err -12\n"
LOST = "2023-Nov-16 11:06:53.0101 3310:3477 [0] include/socket.h:541 CCOM WARN RX, connection closed by remote peer\n"
#: What a node's own log says, so that `node7` is known for a host.
NODE = f"HOSTNAME=node7\nSLURMD_NODENAME=node7\nstep 1\n{LOST}"


def hosts(folder: Path, text: str, **others: str) -> list[str | None]:
    """The hosts of the records of a paste, in its order; headings left out."""
    (folder / "paste.txt").write_text(text)
    for name, content in others.items():
        (folder / f"{name}.log").write_text(content)
    facts = collect(Request((str(folder),)), rulebook()).facts
    shown = [f for f in facts if f.kind in ("hit", "hang-report") and f.span.path.endswith("paste.txt")]
    return [fact.place.host for fact in sorted(shown, key=lambda fact: fact.span.offset)]


PROMPTS = ("ops@login-1:~$ {}", "[ops@login-1 ~]$ {}", "login-1:~/run$ {}", "[login-1:~] $ {}")


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("beside", ["", f"root@trn-9:~# dmesg | tail\n{KERNEL}"])
def test_a_login_host_is_not_blamed_for_what_others_said(tmp_path: Path, prompt: str, beside: str) -> None:
    for command in OTHERS:
        found = hosts(tmp_path, f"{prompt.format(command)}\n{KERNEL}{LOST}{beside}", node7=NODE)
        assert set(found[:2]) <= ({None, "node7"} if "node7" in command else {None}), command
        assert found[2:] == (["trn-9"] if beside else []), command


def test_a_file_that_is_called_after_a_known_host_is_of_it(tmp_path: Path) -> None:
    known = (
        f"root@node7:~# uptime\nops@login-1:~$ sed -n 1,80p logs/node7.log\n{LOST}ops@login-1:~$ cat rank9.log\n{LOST}"
    )
    assert hosts(tmp_path, known) == ["node7", None]


def test_a_file_below_a_directory_of_a_known_host_is_not_of_the_host_that_shows_it(tmp_path: Path) -> None:
    hera = f"HOSTNAME=hera\nSLURMD_NODENAME=hera\nstep 1\n{LOST}"
    shown = f"ops@relay-1:~$ tail -n 9 /var/log/hera/messages\n{LOST}ops@relay-1:~$ tail -n 9 /var/log/messages\n{LOST}"
    assert hosts(tmp_path, shown, hera=hera) == [None, "relay-1"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_what_shows_the_machine_itself_is_of_the_host_that_prompts(tmp_path: Path, prompt: str) -> None:
    assert hosts(tmp_path, f"{prompt.format('sudo dmesg -T | tail -40')}\n{KERNEL}") == ["login-1"]
    assert hosts(tmp_path, f"{prompt.format('sudo tail -n 9 /var/log/train.log')}\n{LOST}") == ["login-1"]


def test_below_ssh_stands_what_the_other_host_said_of_itself(tmp_path: Path) -> None:
    asked = "ops@bastion:~$ timeout 60 ssh -t -i ~/.ssh/key -o BatchMode=yes -J jump ubuntu@ip-10-0-0-7 {}\n"
    assert hosts(tmp_path, asked.format("'sudo dmesg | tail'") + KERNEL) == ["ip-10-0-0-7"]
    assert hosts(tmp_path, asked.format("cat /fsx/logs/rank7.log") + LOST) == [None]
    interactive = f"ops@bastion:~$ ssh ip-10-0-0-7\nLast login: Mon\n{KERNEL}ubuntu@ip-10-0-0-7:~$ dmesg\n{KERNEL}"
    assert hosts(tmp_path, interactive) == [None, "ip-10-0-0-7"]


def test_a_laptop_that_asks_a_cluster_is_of_no_interest(tmp_path: Path) -> None:
    for command in ("kubectl logs job-worker-1", "kubectl exec job-worker-1 -- dmesg"):
        assert hosts(tmp_path, f"me@laptop:~$ {command}\n{KERNEL}me@laptop:~$ \n") == [None]


@pytest.mark.parametrize(
    "end",
    [
        "$ ./anything",
        "root@3f9d0c1a22be:/w# dmesg",
        "me@laptop ~ % cat x",
        "sh-5.2$ dmesg",
        "➜  logs less x",
        "ops@login-1:~$",
        "ops@trn-9:~$ less x",
        "+ zstdcat other.log.zst",
        "++ less x",
        "=== epoch 4 ===",
    ],
)
def test_what_a_command_showed_ends_at_any_prompt_wherever_it_stands(tmp_path: Path, end: str) -> None:
    padding = "[ 9120.687627] nothing of interest\n" * 3000
    assert len(padding) > 1 << 16
    assert hosts(tmp_path, f"ops@trn-9:~$ dmesg\n{KERNEL}{padding}{KERNEL}{end}\n{KERNEL}") == ["trn-9", "trn-9", None]


def test_nor_does_it_hold_past_what_follows_as_the_content_of_another_log(tmp_path: Path) -> None:
    assert hosts(tmp_path, f"ops@trn-9:~$ dmesg\n{KERNEL}{LOST}{KERNEL}") == ["trn-9", None, None]
    assert hosts(tmp_path, f"ops@trn-9:~$ neuron-ls\n{LOST}{KERNEL}") == [None, None]


#: What a program says without a time, as a listing might.
NOISE = "/dev/sda1  100G  100G     0 100% /\nOSError: [Errno 28] No space left on device\n"


def test_a_state_is_what_stands_between_two_prompts(tmp_path: Path) -> None:
    few = f"ops@trn-9:~$ df -h\n{NOISE}"
    assert set(hosts(tmp_path, few)) == {"trn-9"}
    shown = f"ops@trn-9:~$ df -h\n{'tmpfs  1G  0  1G  0% /run' * 30}\n{NOISE}"
    assert set(hosts(tmp_path, shown)) == {None}
    for following in ("ops@trn-9:~$ exit\n", "ops@trn-9:~$ ", "ops@trn-9:~$", "[ops@trn-9 ~]#"):
        assert set(hosts(tmp_path, f"{shown}{following}")) == {"trn-9"}


def own_host(folder: Path, command: str) -> str | None:
    """The host of a terminal in which nothing else names one, beside the logs of other hosts."""
    ranks = {name: "".join(f"[rank{n}]: {LOST}" for n in numbers) for name, numbers in (("a", (0, 1)), ("b", (2, 3)))}
    (folder / "a.log").write_text(f"ops@trn-8:~$ {command}\n{ranks['a']}")
    (folder / "b.log").write_text(f"SLURMD_NODENAME=trn-9\n{ranks['b']}")
    [place] = {s.place.host for s in collect(Request((str(folder),)), rulebook()).sources if s.path.endswith("a.log")}
    return place


def test_a_whole_terminal_is_of_its_host_where_its_commands_may_have_shown_all_of_it(tmp_path: Path) -> None:
    assert own_host(tmp_path, "./run.sh 0") == "trn-8"
    for command in ("uptime", "dmesg", "cat run/a.txt", "srun ./run.sh", ""):
        assert own_host(tmp_path, command) is None, command


LOOPS = [
    ("for h in {}; do echo \"## $h\"; ssh $h 'sudo dmesg | tail'; done", True),
    ('for h in {}; do printf "## ${{h}}"; timeout 9 ssh -t me@${{h}} dmesg; done | tee all', True),
    ("for h in {}; do ssh $h dmesg | tail; done", False),
    ('for h in {}; do echo "## $h"; ssh $h cat /fsx/logs/rank0.log; done', False),
    ('for h in {}; do echo "## $h"; kubectl logs $h; done', False),
    ('for h in x y; do echo "## $h"; ssh $h dmesg; done', False),
]


@pytest.mark.parametrize(("loop", "told"), LOOPS)
def test_what_a_loop_shows_is_of_the_host_that_the_output_names(tmp_path: Path, loop: str, told: bool) -> None:
    for prompt in ("$ ", "ops@login-1:~$ "):
        command = prompt + loop.format("vega altair")
        below = "".join(f"## {name}\n{KERNEL}" for name in ("vega", "altair"))
        assert hosts(tmp_path, f"{command}\n{KERNEL}{below}") == [None, *(("vega", "altair") if told else (None, None))]
