"""The rows of the kernel's table of tasks, by version; what only looks like one; and nothing depends on where the file is cut."""

from __future__ import annotations

import io
import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.blocks import BLOCK
from neuron_doctor.collectors.oom_table import _LEAST_KB, _PAGE_KB, _ROW, TABLE_ROW
from neuron_doctor.collectors.text import text_collector
from neuron_doctor.engine.matcher import build_matcher
from neuron_doctor.engine.patterns import PatternSet


def holders(text: str, *, pure: bool = False) -> list[tuple[object, ...]]:
    raw = io.BufferedReader(io.BytesIO(text.encode()), 128 * 1024)  # type: ignore[arg-type]
    inp = Input("h/dmesg", "dmesg", raw, len(text))
    collector = text_collector(PatternSet(()), partial(build_matcher, pure=pure))
    facts = [fact for fact in collector.collect(inp) if fact.kind == "memory-holder"]
    lines = text.split("\n")
    assert all(lines[(fact.span.line or 0) - 1].rstrip("\r") == fact.span.text for fact in facts)
    return [(f.place.host, f.data["command"], f.data["uid"], f.data["held_kb"]) for f in facts]


@pytest.mark.parametrize(
    "prefix", ["[81022.120001] ", "[Tue Apr 21 23:11:48 2026] ", "Feb 03 14:22:07 node-3 kernel: "]
)
@pytest.mark.parametrize(
    "row",
    [
        "[29970]  1017 29970  2800211  2611822    5376      14        0             0 tokenize_shard",  # 4.14
        "[  29970]  1017 29970  2800211  2611822 22020096        0             0 tokenize_shard",  # 5.15
        "[  29970]  1017 29970  2800211  2611822  2611800   22    0 22020096        0          -998 tokenize_shard",  # 6.8
    ],
)
def test_the_rows_of_every_version_say_name_user_and_resident_memory(prefix: str, row: str) -> None:
    host = "node-3" if "node-3" in prefix else None
    assert holders(f"{prefix}{row}\n") == holders(f"{prefix}{row}\r\n") == [(host, "tokenize_shard", 1017, 10447288)]


def test_a_name_may_have_blanks() -> None:
    assert (
        holders("[1.000001] [ 77]     0    77  2800211  2611822 22020096   0   0 tmux: server\n")[0][1]
        == "tmux: server"
    )


@pytest.mark.parametrize(
    "line",
    [
        "[1.000001] [  1201]     0  1201     4000     1200    61440        0             0 sshd",  # small
        "[  29970]  1017 29970  2800211  2611822 22020096        0             0 tokenize_shard",  # no line of the kernel
        "[1.000001] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name",
        "[1.000001] [  29970]  1017 29970  2800211",
        "[rank0]: [12] 1 2 3 4000000 5 6 7 8",
    ],
)
def test_other_lines_are_no_rows(line: str) -> None:
    assert holders(line + "\n") == []


def test_a_table_across_blocks_is_read_once_and_whole() -> None:
    row = "[1.000001] [  29970]  1017 29970  2800211  2611822 22020096        0             0 tokenize_shard\n"
    number = 3 * BLOCK // len(row)
    assert len(holders(row * number)) == number


def test_a_row_without_a_line_end_and_one_at_the_end_of_a_longer_line_are_read_by_either_engine() -> None:
    row = "[  29970]  1017 29970  2800211  2611822 22020096        0             0 tokenize_shard"
    for text in (f"[1.000001] {row}", f"[1.000001] {'x' * 200} {row}\n[1.000002] [ 1] a\n"):
        assert holders(text) == holders(text, pure=True) == [(None, "tokenize_shard", 1017, 10447288)]


@given(st.from_regex(re.compile(_ROW.pattern), fullmatch=True))
def test_in_every_row_that_matters_stands_what_is_looked_for(row: bytes) -> None:
    found = _ROW.search(row)
    assert found is not None
    if int(found["rss"]) * _PAGE_KB >= _LEAST_KB:
        assert re.search(TABLE_ROW.regex.encode(), row)
