"""The host of a recorded terminal: what prompts show, and the many lines that only look like one."""

from __future__ import annotations

import io

import pytest

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.prompts import prompted_hosts
from neuron_doctor.engine.facts import Place


def hosts(text: str) -> list[object]:
    raw = io.BufferedReader(io.BytesIO(text.encode()))
    inp = Input("w/typescript", "typescript", raw, len(text), place=Place(rank=3))  # type: ignore[arg-type]
    facts = list(prompted_hosts(inp))
    assert all(fact.place == Place(rank=3) for fact in facts)
    assert [f.data.get("hostname") for f in facts[::2]] == [f.data.get("value") for f in facts[1::2]]
    return [fact.data["hostname"] for fact in facts[::2]]


@pytest.mark.parametrize(
    "prompt",
    [
        "ubuntu@trn-b:~/llm$ torchrun run.py",
        "ubuntu@trn-b:~$ ",
        "(venv) me@trn-b:/fsx/run$ ls",
        "root@trn-b:/# dmesg",
        "[ec2-user@trn-b ~]$ neuron-ls",
        "[root@trn-b llm]# exit",
        "\x1b[?2004h\x1b]0;ubuntu@trn-b: ~/llm\x07\x1b[01;32mubuntu@trn-b\x1b[00m:\x1b[01;34m~/llm\x1b[00m$ ulimit -n\r",
        "\x1b[?2004l\r\x1b[?2004h\x1b]0;ubuntu@trn-b: ~\x07ubuntu@trn-b:~$ logout\r",
    ],
)
def test_a_prompt_names_its_host(prompt: str) -> None:
    assert hosts(f"Script started on 2024-11-12 09:11:02+00:00\r\n{prompt}\nstep 1\n{prompt}\n") == ["trn-b"]


@pytest.mark.parametrize(
    "line",
    [
        "scp out.log ubuntu@trn-b:~/llm",
        "rsync -a x me@trn-b:/fsx/run",
        "me@trn-b: permission denied",
        "send mail to ops@trn-b.example for $ 5",
        "root@3f9d0c1a22be:/workspace# python train.py",
        "[ckpt@trn-b saved]",
        "$ hostname",
    ],
)
def test_what_only_looks_like_a_prompt_names_nobody(line: str) -> None:
    assert hosts(line + "\n") == []


def test_who_went_on_to_another_host_shows_both() -> None:
    assert hosts("me@head:~$ ssh trn-b\r\nme@trn-b:~$ dmesg\r\n") == ["head", "trn-b"]


def ranks(text: str) -> list[Place]:
    raw = io.BufferedReader(io.BytesIO(text.encode()))
    return [
        f.place for f in prompted_hosts(Input("pane.txt", "pane.txt", raw, len(text))) if f.data.get("name") == "RANK"
    ]


def test_a_worker_started_by_hand_has_the_rank_that_its_command_gives() -> None:
    assert ranks("a@smew:~/vit$ RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 python train.py\nstep 1\n") == [
        Place(rank=5, local_rank=1)
    ]
    assert ranks("a@smew:~$ export RANK=5 LOCAL_RANK=1; python x.py\n") == [Place(rank=5, local_rank=1)]


@pytest.mark.parametrize(
    "text",
    [
        "a@smew:~$ RANK=0 LOCAL_RANK=0 python x.py &\na@smew:~$ RANK=1 LOCAL_RANK=1 python x.py &\n",
        "a@smew:~$ RANK=0 LOCAL_RANK=0 python x.py & RANK=1 LOCAL_RANK=1 python x.py\n",
        "a@smew:~$ for r in 0 1; do RANK=$r LOCAL_RANK=$r python x.py & done\n",
        "a@smew:~$ RANK=1 MASTER_ADDR=shrike torchrun --nnodes 4 x.py\n",
        "a@smew:~$ RANK=1 python x.py\n",
        "a@smew:~$ echo LOCAL_RANK=1\n",
    ],
)
def test_a_terminal_of_several_workers_or_of_a_launcher_is_of_no_rank(text: str) -> None:
    assert ranks(text) == []
