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
    facts = [fact for fact in prompted_hosts(inp) if fact.kind != "section"]
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
        "trn-b:~$ df -h",
        "trn-b:~/llm# ls",
        "[trn-b:~] $ date",
        "[trn-b:/fsx/run]$ ls",
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
        "saved:~/out is full",
        "trn-b:/fsx/run$ ls",
        "[s3:/bucket] copied",
        "[stage:~] 12 of 14",
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
        "a@smew:~$ RANK=0 LOCAL_RANK=0 python x.py\nroot@3f9d0c1a22be:/w# RANK=1 LOCAL_RANK=1 python x.py\n",
    ],
)
def test_a_terminal_of_several_workers_or_of_a_launcher_is_of_no_rank(text: str) -> None:
    assert ranks(text) == []


def ends(text: str) -> list[str]:
    """What follows behind the part of a terminal that is of a rank, for each command that gives one."""
    raw = io.BufferedReader(io.BytesIO(text.encode()))
    told = [f.data.get("until") for f in prompted_hosts(Input("pane.txt", "pane.txt", raw, len(text)))]
    return [text[until:] if until >= 0 else "" for until in told if isinstance(until, int)][::-1]


SMOKE = "a@smew:~$ RANK=0 LOCAL_RANK=0 python smoke.py"


def test_the_rank_of_a_command_lasts_up_to_the_next_prompt() -> None:
    for following in (
        "a@smew:~$ torchrun x.py\n",
        "a@smew:~$ dmesg\na@smew:~$ \n",
        "root@3f9d0c1a22be:/w# python x.py\n",
    ):
        assert ends(f"a@smew:~$ ls\n{SMOKE}\nok\n{following}") == [following]
        assert ends(f"{SMOKE}\nok\n{SMOKE}\n{following}") == [f"{SMOKE}\n{following}", following]
    assert ends(f"{SMOKE}\nok\n") == [""]


def test_the_rank_of_a_command_in_the_background_or_of_all_that_follow_lasts_up_to_a_launcher() -> None:
    launched = "a@smew:~$ torchrun --nproc-per-node 8 train.py\n"
    for command in (f"{SMOKE} > log 2>&1 &", "a@smew:~$ export RANK=0 LOCAL_RANK=0"):
        assert ends(f"{command}\na@smew:~$ python train.py\n") == [""]
        assert ends(f"{command}\na@smew:~$ python train.py\n{launched}") == [launched]
    assert ends(f"{SMOKE} && ls\na@smew:~$ ls\n") == ["a@smew:~$ ls\n"]


def test_lines_without_the_end_of_a_prompt_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: bytes) -> None:
        raise AssertionError

    text = "2024-11-12 09:11:02 worker@node3 [rank3] step 4 http://x:/y took $5.2 #3\n" * 500
    monkeypatch.setattr("neuron_doctor.collectors.prompts.prompt_on", never)
    assert hosts(text) == []
