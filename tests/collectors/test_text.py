"""The scan of text: candidates, neighbours, places, storms, coverage; whatever the cut and the engine."""

from __future__ import annotations

import io
import itertools
import random
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.collectors import blocks as blocks_module
from neuron_doctor.collectors import lines as lines_module
from neuron_doctor.collectors import text as text_module
from neuron_doctor.collectors.base import Input, UnreadableInput
from neuron_doctor.collectors.blocks import blocks
from neuron_doctor.collectors.storms import CELL, KEEP
from neuron_doctor.collectors.text import is_of_kernel, is_text, text_collector
from neuron_doctor.engine.facts import Clock, Fact
from neuron_doctor.engine.matcher import build_matcher
from neuron_doctor.engine.patterns import Pattern, PatternSet

TABLE = r"host: (?P<host>\w+)\nrank: (?P<rank>\d+)\nexit: (?P<exitcode>-?\d+)"
PATTERNS = PatternSet(
    (
        Pattern("bad", r"something bad (?P<what>\w+)"),
        Pattern("counted", r"counted thing", counted=True),
        Pattern(
            "step", r"step (?P<value>\d+) done", fields={"value": "float"}, emits="progress", values={"what": "step"}
        ),
        Pattern("only-kernel", r"hardware (?P<what>\w+)", channel="kernel"),
        Pattern("secret", r"export (?P<name>\w+)=(?P<value>\S+)", emits="env"),
        Pattern("code", r"status (?P<code>\d+)", emits="status"),
        Pattern("table", TABLE, anchor=r"exit: -?\d", fields={"exitcode": "int"}),
        Pattern("raised", r"\n[ ]+[^\n]*\n(?P<what>\w+Error): ", anchor=r"^\w+Error: "),
        Pattern("beneath", r"(?P<what>\w+Fault): ", anchor=r"^\w+Fault: ", above=r"^(?:[ ]|$)"),
        Pattern("loss", r"\d+ callbacks suppressed", emits="log-loss"),
        Pattern("digits", r"T12:00:.{0,1}[5-9].{0,30}four digits"),
        Pattern("number", r"reads as (?P<count>\w+)", fields={"count": "int"}),
    )
)
RUNTIME = "2026-May-01 12:00:{:02}.067150 {}:159612 ERROR  TDRV:some_function            "


def input_of(raw: bytes) -> Input:
    return Input("d/x.log", "x.log", io.BufferedReader(io.BytesIO(raw)), len(raw))  # type: ignore[arg-type]


def collect(text: str | bytes, *, pure: bool = False) -> tuple[list[Fact], Input]:
    raw = text if isinstance(text, bytes) else text.encode(errors="replace")
    inp = input_of(raw)
    collector = text_collector(PATTERNS, partial(build_matcher, pure=pure))
    return list(collector.collect(inp)), inp


def test_a_hit_has_its_captures_its_place_its_time_and_its_span() -> None:
    line = RUNTIME.format(31, 4242) + "[ND 3][NC 1] something bad happened"
    [fact], _ = collect(f"first line\n{line}\nlast\n")
    assert fact.data == {"pattern": "bad", "what": "happened"}
    assert (fact.place.pid, fact.place.device, fact.place.core) == (4242, 3, 1)
    assert fact.instant is not None
    assert fact.instant.clock is Clock.HOST_LOCAL
    assert (fact.span.line, fact.span.offset, fact.span.length) == (2, 11, len(line))
    assert line[(fact.span.column or 0) - 1 :].startswith("something bad")


def test_a_continuation_line_has_the_time_and_the_unfinished_headers_place() -> None:
    header = "2026-May-27 05:21:35.021738 16842:16842 ERROR   TDRV:exec_process_custom_notification"
    [fact], _ = collect(f"{header}\nnd0:nc6:h_model.id1005: Received notification:\nsomething bad here\n")
    assert (fact.place.pid, fact.place.device, fact.place.core) == (16842, 0, 6)
    assert fact.instant is not None


def test_a_line_after_a_finished_message_has_the_time_but_not_the_process() -> None:
    [fact], _ = collect(RUNTIME.format(1, 77) + "all is said.\nsomething bad elsewhere\n")
    assert fact.place.pid is None
    assert fact.instant is not None
    assert fact.instant.uncertainty_ns >= 10**9


@pytest.mark.parametrize(("label", "rank"), [("[1,12]<stderr>:", None), ("[rank12]: ", 12)])
def test_what_mpirun_says_itself_below_a_line_of_a_rank_is_not_of_that_rank(label: str, rank: int | None) -> None:
    said = f"{label}{RUNTIME.format(1, 77)}all is said."
    [fact], _ = collect(f"{said}\nBelow it\n\n  something bad elsewhere\n")
    assert fact.place.rank == rank


def test_a_kernel_pattern_is_not_for_other_logs() -> None:
    assert collect("hardware failed\n")[0] == []
    [fact], inp = collect("[   12.500000] hardware failed\n")
    assert inp.kind == "kernel"
    assert fact.instant is not None
    assert fact.instant.clock is Clock.BOOT


def test_a_table_is_read_over_its_lines_once() -> None:
    [fact], _ = collect("[0]:\nhost: a\nrank: 12\nexit: -9\n\n")
    assert (fact.place.host, fact.place.rank, fact.data["exitcode"]) == ("a", 12, -9)


def test_two_tables_below_each_other_are_two() -> None:
    facts, _ = collect("host: a\nrank: 1\nexit: -9\nhost: b\nrank: 2\nexit: 1\n")
    assert [fact.place.rank for fact in facts] == [1, 2]


def test_a_secret_reaches_neither_the_data_nor_the_quotation() -> None:
    [fact], _ = collect("export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz\n")
    assert fact.data["value"] == "<masked>"
    assert "hf_abc" not in fact.span.text


def test_a_status_gets_its_symbol() -> None:
    [fact], _ = collect("status 1201\n")
    assert fact.data["symbol"] == "NRT_EXEC_HW_ERR_HBM_UE"


def test_a_value_of_the_wrong_type_is_a_problem_of_the_input_not_an_end() -> None:
    facts, inp = collect("reads as twelve\nsomething bad x\n")
    assert len(facts) == 1
    assert [problem.line for problem in inp.problems.values()] == [1]


def test_a_storm_is_capped_and_counted() -> None:
    facts, _ = collect("something bad again\n" * 1000)
    assert len(facts) == KEEP + 1
    assert sum(1 + fact.repeats for fact in facts) == 1000
    assert facts[-1].span.line == 1000


@pytest.mark.parametrize("stamp", ["2026-05-01T00:00:{:02}Z ", "[    {}.000000] ", "May  1 00:00:{:02} trn1 kernel: "])
def test_each_record_of_a_storm_has_its_own_time_also_where_the_first_is_at_midnight(stamp: str) -> None:
    facts, _ = collect("".join(f"{stamp.format(second)}something bad again\n" for second in range(KEEP)))
    times = [fact.instant.ns for fact in facts if fact.instant]
    assert [time - times[0] for time in times] == [second * 10**9 for second in range(KEEP)]


def test_what_a_rule_counts_is_not_capped() -> None:
    assert len(collect("counted thing\n" * 100)[0]) == 100


def test_of_progress_only_the_last_of_a_stretch_is_kept() -> None:
    facts, _ = collect("".join(f"step {n} done\n" for n in range(1000)))
    assert [fact.data["value"] for fact in facts] == [999.0]
    assert CELL > 20_000


def test_coverage_is_the_first_and_the_last_time_and_where_records_were_lost() -> None:
    lines = [f"2026-05-01T12:{minute:02}:00Z line {'x' * 3000}\n" for minute in (*range(20), *range(50, 59))]
    lines[10] = "2026-05-01T12:10:00Z host kernel: net_ratelimit: 5 callbacks suppressed\n"
    _, inp = collect("".join(lines))
    assert inp.first is not None
    assert inp.last is not None
    assert (inp.last.ns - inp.first.ns) // 10**9 == 58 * 60
    assert [(gap.start.ns - inp.first.ns) // 10**9 for gap in inp.gaps] == [600]
    assert inp.records == 29


@pytest.mark.parametrize(("ending", "unended"), [("\n", False), ("\r\n", False), ("", True), ("\n2026-05-01T12", True)])
def test_a_last_line_without_an_end_is_told(ending: str, unended: bool) -> None:
    _, inp = collect(f"2026-05-01T12:00:00Z a line{ending}")
    assert inp.unended is unended


def test_a_log_in_which_nothing_stands_lacks_no_end() -> None:
    inp = input_of(b"")
    with pytest.raises(UnreadableInput, match="empty"):
        list(text_collector(PATTERNS, build_matcher).collect(inp))
    assert not inp.unended


def test_an_empty_input_says_so() -> None:
    with pytest.raises(UnreadableInput, match="empty"):
        collect("")


@pytest.mark.parametrize("raw", [b"\xff\xfe\x00x", b"\x00" * 100, bytes(range(1, 32)) * 10])
def test_binary_is_not_text(raw: bytes) -> None:
    assert not is_text(raw, "x")


def test_a_line_of_many_megabytes_is_scanned_in_bounded_memory() -> None:
    facts, _ = collect(b"x" * 3_000_000 + b" something bad inside " + b"y" * 3_000_000 + b"\nsomething bad after\n")
    assert [fact.data["what"] for fact in facts] == ["inside", "after"]
    assert all(fact.span.length < 40_000 for fact in facts)


def test_no_pattern_sees_the_time_that_a_line_begins_with() -> None:
    assert collect("2026-05-01T12:00:07.25Z 0007 is a number of four digits\n")[0] == []


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "something bad one",
                RUNTIME.format(5, 9) + "something bad two",
                "step 12 done",
                "host: a\nrank: 3\nexit: -9",
                "counted thing",
                "\x1b[91msomething bad red\x1b[0m",
                "noise\rnoise\rsomething bad late",
                '{"log":"something bad json\\n","stream":"stderr","time":"2026-07-01T10:00:00.1Z"}',
            ]
        ),
        st.text(st.characters(exclude_characters="\n"), max_size=40),
    ),
    max_size=30,
)


@settings(max_examples=100, deadline=None)
@given(LINES)
def test_both_engines_give_the_same_facts(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    assert collect(text)[0] == collect(text, pure=True)[0]


@settings(max_examples=60, deadline=None)
@given(LINES, st.integers(64, 4096))
def test_the_size_of_the_blocks_changes_nothing(lines: list[str], size: int) -> None:
    text = ("\n".join(lines) + "\n") * 3
    whole = collect(text)[0]
    saved = blocks_module.BLOCK
    blocks_module.BLOCK = size
    try:
        assert collect(text)[0] == whole
    finally:
        blocks_module.BLOCK = saved


DIGITS = st.integers(0, 99).map("{:02}".format)
STAMPS = st.one_of(
    st.builds("2026-{}-{}T12:00:{}.25Z ".format, DIGITS, DIGITS, DIGITS),
    st.builds("2026-{}-{} 12:00:{},250 ".format, DIGITS, DIGITS, DIGITS),
    st.builds("2026-May-01 12:00:{}.0{}150 77:78 ERROR  TDRV:some_function ".format, DIGITS, DIGITS),
    st.builds("Oct 16 01:07:{} trn1-3 kernel: ".format, DIGITS),
    st.builds("[    {}.067150] ".format, DIGITS),
    st.builds("2026-05-01T12:00:{}.25Z stderr P ".format, DIGITS),
    st.builds("2026-05-01 12:00:{}".format, DIGITS),
    st.builds("2026-05-01T00:00:{}Z ".format, DIGITS),
    st.builds("2026-05-01T12:00:{}.25Z stdout F 2026-05-01 11:59:{},250 ".format, DIGITS, DIGITS),
    st.sampled_from(["", "[rank3]: ", "[rank4]: ", "    ", "ERROR  TDRV:other_function "]),
)
SAID = st.sampled_from(
    [
        "something bad one",
        "nd3 nc1 something bad one",
        "nd2 received:",
        "step 12 done",
        "hardware failed",
        "status 1201",
        "9 callbacks suppressed",
        "reads as twelve",
        "noise",
        "0007 is a number of four digits",
        "ValueError: x",
        "exit: -9",
        "rank: 3",
        "host: a",
    ]
)


@pytest.mark.heavy
@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(STAMPS, SAID), min_size=1, max_size=30), st.integers(1, 40))
def test_what_is_known_of_the_shape_of_a_line_changes_nothing(said: list[tuple[str, str]], times: int) -> None:
    text = "".join(f"{stamp}{message}\n" for stamp, message in said * times)
    facts, inp = collect(text)
    number = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        for module in (lines_module, text_module):
            patch.setattr(module, "shape_of", lambda _: str(next(number)).encode())
        expected, alone = collect(text)
    assert facts == expected
    assert (inp.problems, inp.gaps) == (alone.problems, alone.gaps)


@pytest.mark.parametrize(
    ("message", "goes_on"),
    [
        ("nd3 opcode =", True),
        ("nd3 failed to load (", True),
        ("nd3: a, b, ", True),
        ("nd3 continued \\", True),
        ("nd3 missing collectives status on model", True),
        ("nd3:nc1", True),
        ("nd3:nc1 failed", False),
        ("nd3 supermodel", False),
        ("nd3 models", False),
        ("nd3 is all", False),
    ],
)
def test_a_place_goes_on_to_the_line_below_a_message_that_is_not_finished(message: str, goes_on: bool) -> None:
    facts, _ = collect(f"2026-05-01T12:00:00Z {message}\nsomething bad below\n")
    assert [fact.place.device for fact in facts] == [3 if goes_on else None]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=3000), st.integers(16, 700))
def test_blocks_hand_out_every_byte_once_in_order(data: bytes, size: int) -> None:
    saved = blocks_module.BLOCK
    blocks_module.BLOCK = size
    try:
        made = list(blocks(io.BufferedReader(io.BytesIO(data))))  # type: ignore[arg-type]
    finally:
        blocks_module.BLOCK = saved
    assert b"".join(block.data[block.start : block.end] for block in made) == data
    for block in made:
        assert block.data == data[block.base : block.base + len(block.data)]
        assert block.line == data.count(b"\n", 0, block.base + block.start) + 1


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=2000))
def test_any_bytes_are_survived(data: bytes) -> None:
    if data:
        collect(data)


def test_a_long_random_input_is_the_same_for_both_engines() -> None:
    rng = random.Random(7)
    words = ["something", "bad", "step", "done", "status", "5", "counted", "thing", "host:", "a\n", "exit:", "-9", "\n"]
    text = " ".join(rng.choice(words) for _ in range(60_000))
    assert collect(text)[0] == collect(text, pure=True)[0]


@pytest.mark.parametrize("pure", [False, True])
def test_an_anchor_with_a_caret_means_the_start_of_the_message_behind_its_prefixes(pure: bool) -> None:
    facts, _ = collect(
        "[rank3]: go\n[rank3]:     raise it\n[rank3]: KeyError: 'x'\n    raise ValueError: no\n", pure=pure
    )
    assert [(fact.data["what"], fact.place.rank, fact.span.line) for fact in facts] == [("KeyError", 3, 3)]


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("AFault: first of all\n", ["AFault"]),
        ("[rank3]:     code\n[rank3]: BFault: x\n", ["BFault"]),
        ("\nCFault: x\n", ["CFault"]),
        ("other\rhidden\r  shown\nDFault: x\n", ["DFault"]),
        ("  code\nbetween\nEFault: x\n", []),
        ("[rank3]: plain\n[rank3]: FFault: x\n", []),
        ('plain\n{"level": "ERROR", "msg": "m", "exc_info": "T:\\n  code\\nGFault: x"}\n', ["GFault"]),
        ('  code\n{"level": "ERROR", "msg": "m", "exc_info": "T:\\nplain\\nHFault: x"}\n', []),
    ],
)
def test_a_pattern_may_say_what_stands_above_its_anchor(text: str, found: list[str], pure: bool) -> None:
    facts, _ = collect(text, pure=pure)
    assert [fact.data["what"] for fact in facts] == found


@pytest.mark.parametrize(
    "line",
    [
        "[298850.502143] neuron: x",
        "[    0.000000] [    T0] Linux version",
        "<6>[    1.234567] x",
        "[Tue Mar  3 11:47:31 2026] x",
        "[Mar 3 11:47] x",
        "[  +0.000012] x",
        "2026-03-03T11:47:31,123456+00:00 x",
        "2026-03-03T11:47:31.123456+00:00 trn-1 kernel: x",
        "Mar  3 11:47:31 trn-1 kernel: [80123.551201] x",
        "[80123.551201] trn-1 kernel: x",
        "kern  :info  : [    0.000000] x",
        "kern  :info  : x",
        "kernel: x",
        '{"_TRANSPORT": "kernel", "MESSAGE": "x", "__REALTIME_TIMESTAMP": "1772538451000000"}',
        "trn1-041: [80123.551201] x",
        "\x1b[32m[    0.000000] \x1b[0mx",
    ],
)
def test_every_form_of_a_kernel_line_makes_a_kernel_log(line: str) -> None:
    assert is_of_kernel(line.encode())
    assert not is_of_kernel(b"2025-07-02 18:59:18,244 INFO train: step=100 loss=2.3")


SEVERAL = st.sampled_from([b"", b"\n", b"\r\n", b"x", b"\n" * 700, b"y" * 100 + b"\n", b"z" * 5000]) | st.binary(
    max_size=9
)


@given(st.lists(SEVERAL, max_size=40).map(b"".join), st.integers(0, 20_000), st.integers(0, 20_000))
def test_line_ends_are_counted_whatever_the_lines(data: bytes, begin: int, end: int) -> None:
    begin, end = min(begin, len(data)), min(end, len(data))
    assert blocks_module.newlines(data, begin, end) == data[begin:end].count(b"\n")
