"""What a shell prompts, and the many lines that only look like it."""

from __future__ import annotations

import re

import pytest

from neuron_doctor.collectors.shell_prompts import ENDS_IN_BYTES, Prompt, prompt_of, prompt_on

PROMPTS = [
    ("ubuntu@trn-b:~/llm$ dmesg", Prompt("dmesg", "trn-b")),
    ("(venv) me@trn-b:/fsx/run$ ", Prompt("", "trn-b")),
    ("[root@trn-b llm]# dmesg", Prompt("dmesg", "trn-b")),
    ("[me@trn-b ~/proj (tmux 0:train)]$ dmesg", Prompt("dmesg", "trn-b")),
    ("trn-b:~/llm# dmesg", Prompt("dmesg", "trn-b")),
    ("[trn-b:~] $ dmesg", Prompt("dmesg", "trn-b")),
    ("[trn2-uw-07 ~]$ dmesg", Prompt("dmesg", "trn2-uw-07")),
    ("[node7 /var/log]# dmesg", Prompt("dmesg", "node7")),
    ("[ec2-user ~]$ dmesg", Prompt("dmesg")),
    ("[run-7 ~]$ dmesg", Prompt("dmesg")),
    ("root@3f9d0c1a22be:/w# dmesg", Prompt("dmesg", container="3f9d0c1a22be")),
    ("sh-5.2$ dmesg", Prompt("dmesg", plain=True)),
    ("$ dmesg", Prompt("dmesg")),
    ("trn-b$ dmesg", Prompt("dmesg", word="trn-b")),
    ("trn-b:/fsx/run$ dmesg", Prompt("dmesg")),
    ("me@laptop ~ % dmesg", Prompt("dmesg")),
    ("[12:04] % dmesg", Prompt("dmesg")),
    ("ubuntu:~$ dmesg", Prompt("dmesg")),
    ("~/logs$ dmesg", Prompt("dmesg")),
    ("➜  logs git:(main) dmesg", Prompt("logs git:(main) dmesg")),
]


@pytest.mark.parametrize(("text", "prompt"), PROMPTS)
def test_a_prompt_says_where_it_is_if_it_is_sure(text: str, prompt: Prompt) -> None:
    assert prompt_of(text) == prompt
    assert prompt_on(f"step 1\r{text}\r".encode()) == prompt


@pytest.mark.parametrize("text", [text for text, _ in PROMPTS])
def test_each_is_found_among_many_lines_and_sums_of_money_are_not(text: str) -> None:
    ends = re.compile(ENDS_IN_BYTES.encode())
    assert ends.search(f"step 1\n{text}\nstep 2\n".encode())
    assert not ends.search(b"took $5.2, or $ 3, of $HOME, # 3\n")


@pytest.mark.parametrize(
    "text",
    [
        "scp out.log ubuntu@trn-b:~/llm",
        "me@trn-b: permission denied",
        "[INFO] # of parameters: 7B",
        "[rank0] % done",
        "send mail to ops@trn-b.example for $ 5",
        "step # 5 of 10",
        "    x = y  # comment",
        "acc 45 % of 90",
        "100%|####| 5/5",
        "[ 9120.687627] infiniband efa_0: Failed",
        "$HOME is not set",
        "# a comment",
        "+ dmesg",
        "",
    ],
)
def test_other_lines_are_none(text: str) -> None:
    assert prompt_of(text) is None
