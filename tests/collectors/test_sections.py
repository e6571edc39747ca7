"""Headings within a log tell whose lines stand below them, if the names in them are hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.facts import Place
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

KERNEL = "[ 9120.687627] infiniband efa_0: Failed to process command REG_MR (opcode 7) comp_status 1 err -12\n"
LOST = "2023-Nov-16 11:06:53.0101 3310:3477 [0] include/socket.h:541 CCOM WARN RX, connection closed by remote peer\n"
JOB = f"step 1\n{LOST}"


def places(folder: Path, text: str) -> dict[int, Place]:
    """The places of the records of a log, by their lines; headings left out."""
    (folder / "all.log").write_text(text)
    facts = collect(Request((str(folder),)), rulebook()).facts
    return {fact.span.line or 0: fact.place for fact in facts if fact.kind in ("hit", "hang-report")}


def hosts(folder: Path, text: str) -> list[str | None]:
    return [place.host for _, place in sorted(places(folder, text).items())]


@pytest.mark.parametrize(
    "heading",
    [
        "=== {} dmesg -T | tail -40",
        "=== {} ===",
        "===== host: {} =====",
        "----- {} -----",
        "--- {}: dmesg ---",
        "### {}",
        ">>> {} <<<",
        "*** {} ***",
        "{} | CHANGED | rc=0 >>",
        "+ ssh {} sudo dmesg -T",
        "$ ssh -o StrictHostKeyChecking=no ubuntu@{} 'sudo dmesg | tail -40'",
        "[tn@head ~]$ ssh {} dmesg",
    ],
)
def test_the_lines_of_the_kernel_below_headings_alike_are_of_the_hosts_that_they_name(
    tmp_path: Path, heading: str
) -> None:
    text = JOB + "".join(f"{heading.format(name)}\n{KERNEL}" for name in ("tn-east-1", "tn-east-3"))
    assert hosts(tmp_path, text) == [None, "tn-east-1", "tn-east-3"]


def test_a_name_that_is_known_for_a_hosts_needs_no_second(tmp_path: Path) -> None:
    assert hosts(tmp_path, f"{JOB}=== ip-10-0-0-7 ===\n{KERNEL}") == [None, "ip-10-0-0-7"]


@pytest.mark.parametrize(
    "text",
    [
        f"=== epoch 3 ===\n{KERNEL}=== epoch 4 ===\n{KERNEL}",
        f"=== tn-east-1 ===\n{KERNEL}",  # one alone
        f"=== before ===\n{KERNEL}=== after ===\n{KERNEL}",
        f"=== run1 ===\n{LOST}=== run2 ===\n{LOST}",
    ],
)
def test_other_words_are_no_hosts(tmp_path: Path, text: str) -> None:
    assert set(hosts(tmp_path, JOB + text)) == {None}


def test_what_a_program_says_below_is_the_hosts_only_where_the_command_shows_a_file_of_it(tmp_path: Path) -> None:
    started = f"{JOB}=== ip-10-0-0-7 ===\n{LOST}"
    assert hosts(tmp_path, started) == [None, None]
    shown = f"{JOB}=== ip-10-0-0-7 tail -n 50 /var/log/train.log\n{LOST}"
    assert hosts(tmp_path, shown) == [None, "ip-10-0-0-7"]
    assert hosts(tmp_path, f"{JOB}+ ssh ip-10-0-0-7 ./start.sh\n{LOST}") == [None, None]


@pytest.mark.parametrize(
    "end",
    [
        "+ exit",
        "+ echo done",
        "$ kubectl get pods",
        "$ ./anything",
        "tn@head:~$ less /fsx/logs/dmesg.7",
        "root@3f9d0c1a22be:/w# dmesg",
        "me@laptop ~ % cat x",
        "➜  logs cat x",
        "=== epoch 4 ===",
    ],
)
def test_a_section_ends_where_anything_else_begins(tmp_path: Path, end: str) -> None:
    assert hosts(tmp_path, f"{JOB}+ ssh ip-10-0-0-7 sudo dmesg\n{KERNEL}{end}\n{KERNEL}") == [None, "ip-10-0-0-7", None]


def test_no_heading_is_lost_among_many(tmp_path: Path) -> None:
    (tmp_path / "all.log").write_text(
        JOB + "".join(f"=== epoch {n} ===\n" for n in range(100)) + f"=== ip-10-0-0-7 ===\n{KERNEL}"
    )
    facts = collect(Request((str(tmp_path),)), rulebook()).facts
    assert sum(fact.kind == "section" for fact in facts) == 101
    assert "ip-10-0-0-7" in {fact.place.host for fact in facts}


def test_labels_of_lines_are_hosts_where_headings_name_such(tmp_path: Path) -> None:
    lines = "".join(f"tn-east-{n} | [rank{n}]: {LOST}" for n in (1, 2))
    assert {place.host for place in places(tmp_path, lines).values()} == {None}
    below = "".join(f"=== tn-east-{n} dmesg\n{KERNEL}" for n in (1, 3))
    found = places(tmp_path, lines + below)
    assert {(p.rank, p.host, p.container) for p in found.values()} == {
        (1, "tn-east-1", None),
        (2, "tn-east-2", None),
        (None, "tn-east-1", None),
        (None, "tn-east-3", None),
    }


LOOP = "op@head:~$ for h in {}; do echo \"## $h\"; ssh $h 'dpkg -l | grep dkms; tail -1 /tmp/job.log'; done\n"


def test_all_below_the_headings_of_a_loop_is_of_the_host_that_it_asks(tmp_path: Path) -> None:
    below = "".join(f"## {name}\n{LOST}" for name in ("vega", "altair"))
    assert hosts(tmp_path, f"{JOB}{LOOP.format('vega altair')}{below}op@head:~$ tail job.log\n{LOST}") == [
        None,
        "vega",
        "altair",
        None,
    ]
    assert hosts(tmp_path, f"{JOB}op@head:~$ cat notes\n{below}") == [None, None, None]


ASKED = "ops@jump-1:~$ aws ssm start-session --target i-0c1d2e3f4051\n\nsh-5.2$ hostname{}\ncedar-lab\nsh-5.2$ sudo dmesg -T\n"


@pytest.mark.parametrize("how", ["", " -s"])
def test_a_shell_without_a_name_in_its_prompt_is_on_the_host_that_it_was_asked_for(tmp_path: Path, how: str) -> None:
    left = f"sh-5.2$ ssh cedar-4 uptime\nsh-5.2$ sudo dmesg -T\n{KERNEL}sh-5.2$ exit\nops@jump-1:~$ dmesg\n{KERNEL}"
    assert hosts(tmp_path, JOB + ASKED.format(how) + KERNEL + left) == [
        None,
        "cedar-lab",
        "cedar-lab",
        "jump-1",
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"sh-5.2$ sudo dmesg -T\n{KERNEL}",  # it was not asked
        ASKED.format("ctl") + KERNEL,  # another command, with more to say
        ASKED.format("") + f"sh-5.2$ exit\nsh-5.2$ dmesg\n{KERNEL}",  # another shell
        *(
            ASKED.format("") + f"sh-5.2$ {command}\nsh-5.2$ dmesg\n{KERNEL}"
            for command in (
                "sudo -i ssh cedar-4",
                "oc exec -it p -- sh",
                "cd /; nsenter -t 1 -m",
                "screen -r",
                "bash -c 'x",
            )
        ),
        ASKED.format("") + f"ops@jump-1:~$ dmesg\n{KERNEL}",
        ASKED.format("") + LOST,  # not the kernel's
    ],
)
def test_such_a_shell_proves_nothing_once_it_was_left(tmp_path: Path, text: str) -> None:
    assert "cedar-lab" not in hosts(tmp_path, JOB + text)


PASTE = "me@vega:~$ {}\n{}me@altair:~$ {}\n{}"


def test_below_prompts_of_several_hosts_all_is_of_them_but_what_shows_others(tmp_path: Path) -> None:
    own = PASTE.format("./go.sh 1", f"+ torchrun train.py\n{LOST}", "dmesg -T | tail", KERNEL)
    assert hosts(tmp_path, own) == ["vega", "altair"]
    others = PASTE.format("srun train.sh", f"+ hostname\n{LOST}", "tail -5 job.log", LOST)
    assert hosts(tmp_path, others) == [None, None]
    assert hosts(tmp_path, own.replace("altair", "vega")) != ["vega", "altair"]


VERSIONS = "ii  aws-neuronx-dkms          2.29.3.0               all    aws-neuronx driver in DKMS format.\n"
ECHOED = "$ uname -r; dpkg -l | grep aws-neuronx; dmesg | tail -1\n"


def test_what_a_script_echoes_below_the_name_of_a_host_was_asked_of_that(tmp_path: Path) -> None:
    blocks = [f"===== rk1-a{n} =====\n{ECHOED}6.8.0-1031-aws\n{VERSIONS}{KERNEL}\n" for n in (10, 11)]
    assert hosts(tmp_path, "".join(blocks)) == ["rk1-a10", "rk1-a10", "rk1-a11", "rk1-a11"]
    one_by_one = [f"## rk1-a{n}\n$ dpkg -l | grep neuron\n{VERSIONS}$ dmesg | tail -1\n{KERNEL}\n" for n in (10, 11)]
    assert hosts(tmp_path, "".join(one_by_one)) == ["rk1-a10", "rk1-a10", "rk1-a11", "rk1-a11"]


@pytest.mark.parametrize(
    "text",
    [
        # the shell of a person prompts so, too
        f"$ cat asked\n===== rk1-a10 =====\n===== rk1-a11 =====\n$ dmesg | tail -1\n{KERNEL}",
        f"===== rk1-a10 =====\nok\n===== rk1-a11 =====\nok\n$ dmesg | tail -1\n{KERNEL}",
        f"===== rk1-a10 =====\n\n\n{ECHOED}{KERNEL}===== rk1-a11 =====\nok\n$ dmesg | tail -1\n{KERNEL}",
        # one of the kind is a word like any other
        f"===== rk1-a10 =====\n$ dmesg | tail -1\n{KERNEL}",
        f"===== before =====\n$ dmesg | tail -1\n{KERNEL}===== after =====\n$ dmesg | tail -1\n{KERNEL}",
        f"=== attempt 1 ===\n$ dmesg | tail -1\n{KERNEL}=== attempt 2 ===\n$ dmesg | tail -1\n{KERNEL}",
        f"=== run1 ===\n$ dmesg | tail -1\n{KERNEL}=== run2 ===\n$ dmesg | tail -1\n{KERNEL}",
        # it tells of another machine
        f"=== rk1-a10 ===\n$ ssh x dmesg\n{KERNEL}=== rk1-a11 ===\n$ kubectl logs t5-worker-0\n{LOST}",
    ],
)
def test_what_a_person_asks_below_headings_is_of_nobody(tmp_path: Path, text: str) -> None:
    assert not {"rk1-a10", "rk1-a11", "run1", "run2", "attempt 1", "before"} & set(hosts(tmp_path, text))
