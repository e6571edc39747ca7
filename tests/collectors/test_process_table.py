"""Tables of processes as ps prints them, and what only looks like one."""

from __future__ import annotations

import io
import random

import pytest

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.blocks import BLOCK, blocks
from neuron_doctor.collectors.process_table import process_table

Row = tuple[int | None, str, str]


def rows(text: str) -> list[Row]:
    raw = io.BufferedReader(io.BytesIO(text.encode()), 128 * 1024)
    inp = Input("h/ps.txt", "ps.txt", raw, len(text))
    table = process_table(inp)
    facts = [fact for block in blocks(raw) for fact in table.rows(block, inp)] if table else []
    assert all(fact.span.text in text for fact in facts)
    lines = text.split("\n")
    assert all(lines[(fact.span.line or 0) - 1].rstrip("\r") == fact.span.text for fact in facts)
    return [
        (f.place.pid, str(f.data["command"]), str(f.data.get("started") or f.data.get("elapsed") or "")) for f in facts
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "UID          PID    PPID  C STIME TTY          TIME CMD\n"
                "root           2       0  0 Dec02 ?        00:00:00 [kthreadd]\n"
                "bea         9377       1 98 04:14 ?        02:30:11 python3 finetune_bert.py --epochs 3\n"
            ),
            [(9377, "python3 finetune_bert.py --epochs 3", "04:14")],
        ),
        (
            (
                "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\r\n"
                "ubuntu      6100  0.3  0.4 91822300 2210330 ?    Sl   09:00   0:44 python train.py\r\n"
            ),
            [(6100, "python train.py", "09:00")],
        ),
        (
            (
                "$ ps -eo pid,ppid,user,stat,lstart,cmd --sort=start_time\n"
                "    PID    PPID USER     STAT                  STARTED CMD\n"
                "  40172       1 bench    Dl   Fri Nov 21 19:02:13 2025 python serve_engine.py --rank 2\n"
            ),
            [(40172, "python serve_engine.py --rank 2", "Fri Nov 21 19:02:13 2025")],
        ),
        (
            (
                "step 1\n$ ps -eo pid,stat,etime,cmd\n    PID STAT     ELAPSED CMD\n      1 Ssl    01:21:58 torchrun train.py\n"
                "$ uptime\n 1 2 3 4\n"
            ),
            [(1, "torchrun train.py", "01:21:58")],
        ),
    ],
    ids=["ef", "aux", "lstart", "in a terminal"],
)
def test_a_table_is_read_by_its_columns(text: str, expected: list[Row]) -> None:
    assert rows(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "PID USER\n1 root\n",
        "the PID of the CMD\n1 2 3 4 5\n",
        "2026-05-19 INFO PID 4 runs CMD\n",
        "    PID STAT COMMAND\nno row of it\n      1 Ssl torchrun\n",
        "    PID STAT COMMAND\n  12a34 Ssl torchrun\n",
        "    PID STAT COMMAND\n  99999999999999999999 Ssl torchrun\n",
    ],
)
def test_what_is_no_row_of_a_table_is_nothing(text: str) -> None:
    assert rows(text) == []


def test_a_secret_on_a_command_line_is_not_kept() -> None:
    [(_, command, _)] = rows("  PID TTY CMD\n    7 ?   serve --token hf_abcdefghijklmnopqrstuvwx\n")
    assert "hf_abc" not in command


def test_a_long_table_is_read_over_blocks_to_its_end_or_to_the_limit() -> None:
    draw = random.Random(1)
    table = [f"{pid:7} ?        {'x' * draw.randrange(40, 160)} --n {pid}" for pid in range(1, 12_000)]
    text = "\n".join(["    PID TTY      CMD", *table, ""])
    assert BLOCK < 1024 * 1024 < len(text)
    found = [pid for pid, _, _ in rows(text)]
    assert found == list(range(1, len(found) + 1))
    assert len(text) * 0.9 > sum(map(len, table[: len(found)])) > 1_000_000
