"""Drafts of rules: what varies in marked lines is replaced, near misses are proposed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from neuron_doctor.cli import app
from neuron_doctor.ruledraft import drafted, everything, marked_lines

HEAD = "2026-05-01 12:00:05,118 WARNING "


@pytest.mark.parametrize(
    ("lines", "regex", "fields"),
    [
        (
            ["write failed: errno 28 path /fsx/a/b"],
            r"write failed: errno (?P<errno>\d{1,12}) path (?P<path>\S{1,200})",
            {"errno": "int"},
        ),
        (
            ["ring of 0xdead01 is stuck (1.5 s)"],
            r"ring of (?P<address>0x[0-9a-fA-F]{1,16}) is stuck \((?P<stuck>-?\d{1,12}\.\d{1,12}) s\)",
            {"stuck": "float"},
        ),
        (["peer 10.0.3.7:4420 went away"], r"peer (?P<peer>[\d.:]{7,21}) went away", {}),
        (["lost rank 3 of 8"], r"lost rank (?P<rank>\d{1,12}) of (?P<number>\d{1,12})", {"number": "int"}),
        (
            ["state 7 and state 9 differ"],
            r"state (?P<state>\d{1,12}) and state (?P<state_2>\d{1,12}) differ",
            {"state": "int", "state_2": "int"},
        ),
        (["disk nvme1 is gone: (fatal)"], r"disk nvme(?P<nvme>\d{1,12}) is gone: \(fatal\)", {"nvme": "int"}),
        (["loader of tokens stopped early", "loader of images stopped early"], r"loader of \S{1,80} stopped early", {}),
        (["chunk 7 is bad", "chunk 5f3a9c1e is bad"], r"chunk (?P<chunk>\S{1,200}) is bad", {}),
    ],
)
def test_what_varies_becomes_a_capture_with_a_name_and_a_type(
    lines: list[str], regex: str, fields: dict[str, str]
) -> None:
    draft = drafted([HEAD + line for line in lines], [])
    assert (draft.regex, draft.fields) == (regex, fields)
    assert all(re.search(draft.regex, line) for line in lines)


@pytest.mark.parametrize(
    "lines", [["one thing happened", "quite another thing happened"], ["a 1 b"], ["word 1", "word x y"]]
)
def test_lines_that_have_too_little_in_common_are_refused(lines: list[str]) -> None:
    with pytest.raises(ValueError, match=r"common|form"):
        drafted(lines, [])


def test_near_misses_are_the_lines_that_are_most_alike_and_do_not_match() -> None:
    others = [
        "shard 7 of disk a is bad, read again",
        "shard 9 of disk a is bad, read again",
        "shard 7 of disk a is bad, giving up",
        "something else altogether",
    ]
    draft = drafted([others[2]], others)
    assert draft.near_misses == ("shard 7 of disk a is bad, read again",)


def test_where_no_line_is_alike_a_part_of_the_line_is_the_near_miss() -> None:
    draft = drafted([HEAD + "shard 7 is bad, giving up"], [])
    assert draft.near_misses == (HEAD + "shard 7 is bad, giving",)


WORDS = st.sampled_from(["queue", "full", "after", "retry", "device", "[x]", "(y)", "a.b", "why?", "100%", "c:\\d"])
VALUES = st.one_of(st.integers(0, 10**6).map(str), st.sampled_from(["/a/b.c", "0xff", "10.0.0.1", "5f3a9c1e", "1.25"]))


@given(st.lists(st.one_of(WORDS, VALUES), min_size=1, max_size=9), st.lists(VALUES, min_size=9, max_size=9))
def test_a_draft_matches_its_line_and_the_same_with_other_values(parts: list[str], values: list[str]) -> None:
    line = "the engine said " + " ".join(parts)
    draft = drafted([line], [])
    assert re.search(draft.regex, line)
    assert not any(re.search(draft.regex, miss) for miss in draft.near_misses)


def test_lines_are_named_by_number_and_range(tmp_path: Path) -> None:
    log = tmp_path / "a:b.log"
    log.write_text("one\ntwo\nthree\nfour\nfive\n")
    assert marked_lines([f"{log}:2", f"{log}:1-2,5"]) == ["two", "one", "two", "five"]
    assert list(everything([f"{log}:2", f"{log}:1"])) == ["one", "two", "three", "four", "five"]


@pytest.mark.parametrize("numbers", ["6", "0", "x", "", "2-", "3-2"])
def test_lines_that_are_not_there_are_refused(numbers: str, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("one\ntwo\nthree\nfour\nfive\n")
    with pytest.raises(ValueError, match=r"line|LINES"):
        marked_lines([f"{log}:{numbers}"])


def test_a_drafted_rule_is_written_and_passes_its_own_examples(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text(f"{HEAD}acme: shard 7 is bad, read again\n{HEAD}acme: shard 7 is bad, giving up\n")
    asked = ["rules", "new", "acme-shard", "--from", f"{log}:2", "-o", str(tmp_path / "pack")]
    answers = "A shard is bad\ndisk-full\nIt is bad.\nhttps://wiki.example\n"
    done = CliRunner().invoke(app, asked, input=answers)
    assert done.exit_code == 0, done.output
    written = yaml.safe_load((tmp_path / "pack" / "acme-shard.yaml").read_text())
    assert written["title"] == "A shard is bad"
    assert written["patterns"]["acme-shard-text"]["regex"] == r"acme: shard (?P<shard>\d{1,12}) is bad, giving up"
    assert [one["text"] for one in written["examples"]["negative"]] == [f"{HEAD}acme: shard 7 is bad, read again"]
    again = CliRunner().invoke(app, asked, input=answers)
    assert again.exit_code == 2
    assert "exists already" in again.stderr


@pytest.mark.parametrize("by_name", [True, False])
def test_the_lines_are_asked_for_where_no_option_names_them_and_may_be_pasted(tmp_path: Path, by_name: bool) -> None:
    log = tmp_path / "run.log"
    line = "acme: shard 7 is bad, giving up: 3"
    log.write_text(f"{line}\n")
    answers = ["A shard is bad", "disk-full", "It is bad.", "https://wiki.example", f"{log}:1" if by_name else line]
    done = CliRunner().invoke(
        app, ["rules", "new", "acme", "-o", str(tmp_path / "pack")], input="\n".join(answers) + "\n"
    )
    assert done.exit_code == 0, done.output
    written = yaml.safe_load((tmp_path / "pack" / "acme.yaml").read_text())
    assert written["patterns"]["acme-text"]["regex"].startswith(r"acme: shard (?P<shard>\d{1,12}) is bad")
    assert written["examples"]["positive"][0]["text"] == line


def test_a_cause_that_does_not_exist_is_told_with_what_was_meant(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("the acme disk is full\n")
    said = [
        "--title",
        "t",
        "--cause",
        "disk-ful",
        "--explanation",
        "e",
        "--reference",
        "r",
        "-o",
        str(tmp_path / "pack"),
    ]
    done = CliRunner().invoke(app, ["rules", "new", "acme", "--from", f"{log}:1", *said])
    assert done.exit_code == 2
    assert "did you mean 'disk-full'?" in done.output + done.stderr
