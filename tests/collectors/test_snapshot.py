"""Lines of a snapshot: offsets and numbers hold for every input, prompts are known from output."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot_inputs import as_input

from neuron_doctor.collectors import snapshot
from neuron_doctor.collectors.snapshot import command_of, has_form, head_lines, lines_of, opening, output, read_lines


@given(st.binary(max_size=2000))
def test_the_lines_of_any_input_make_it_up_again(data: bytes) -> None:
    lines = list(lines_of(data))
    assert b"".join(line.raw for line in lines) == data
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert all(data[line.offset : line.offset + len(line.raw)] == line.raw for line in lines)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("$ lsmod | grep neuron", "lsmod | grep neuron"),
        ("ubuntu@ip-10-1-200-50:~$ uname -a", "uname -a"),
        ("[root@ip-10-0-13-247 ~]# lspci -tv", "lspci -tv"),
        ("(venv) ubuntu@host:/tmp$ pip list", "pip list"),
        ("+ neuron-ls -j", "neuron-ls -j"),
        ("=== neuron-ls ===", "neuron-ls"),
        ("----- sacct -----", "sacct"),
        ("==> /sys/x <==", None),
        ("------------ ----------", None),
        ("-+-[0000:a0]-+-00.0  Amazon.com", None),
        ("user@example.org wrote", None),
        ("", None),
    ],
)
def test_a_prompt_or_heading_is_told_from_output(text: str, command: str | None) -> None:
    assert command_of(text) == command


def test_the_host_of_a_prompt_holds_until_the_next_one_where_the_command_shows_it() -> None:
    text = "a\nroot@node1:~# {}\nb\n+ date\nc\n$ uptime\nd\nroot@node2:~# lspci\ne\n"
    for command, host in (
        ("uptime", "node1"),
        ("cat /fsx/node7.log", None),
        ("ssh -p 22 me@node3 lspci", "node3"),
        ("ssh node3 cat /fsx/lspci.txt", None),
        ("kubectl get pods", None),
    ):
        lines = output(lines_of(text.format(command).encode()))
        assert [line.host for line in lines] == [None, host, host, None, "node2"]


def test_a_long_input_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "LIMIT", 10)
    inp = as_input(b"0123\n" * 100)
    assert len(read_lines(inp)) == 2
    assert list(inp.problems) == ["longer than 10 bytes: the rest was not read"]


@given(st.lists(st.sampled_from(["good", "bad"]), min_size=1, max_size=30))
def test_a_form_needs_the_first_the_last_and_most_lines(lines: list[str]) -> None:
    text = "\n".join(lines).encode()
    enough = lines[0] == lines[-1] == "good" and lines.count("good") >= 0.8 * len(lines)
    assert has_form(text, re.compile("good")) is enough


def test_a_line_that_the_head_cuts_is_not_judged() -> None:
    assert head_lines(b"whole\ncut of", 12) == ("whole",)
    assert head_lines(b"whole\nlast", 12) == ("whole", "last")


@pytest.mark.parametrize("line", ["[{" + "x" * 5000 + "}]", "[{" + "é" * 5000])
@pytest.mark.parametrize("before", ["", "\n", "$ neuron-ls -j\n", "\ufeff"])
def test_a_first_line_that_is_longer_than_the_opening_is_known_by_its_beginning(before: str, line: str) -> None:
    for end in ("", "\n", "\nmore\n"):
        assert opening(f"{before}{line}{end}".encode()).startswith(line[:500])
    assert opening(b"\0" + line.encode()) == ""
