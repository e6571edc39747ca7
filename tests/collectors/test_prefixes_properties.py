"""Peeling any text: any stack of prefixes gives the message back, nothing raises, a megabyte takes no second."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.prefixes import Record, has_header, peel, time_of
from neuron_doctor.engine.facts import Clock, Instant

RUNTIME = "2024-Jun-26 00:32:47.943821 30294:32381 ERROR  TDRV:exec_wait     nd0:nc1:h_model.id1001: out of bound"
RUNTIME_TIME = Instant(1719361967_943_821_000, Clock.HOST_LOCAL, 1000)


def only(raw: str) -> Record:
    (record,) = peel(raw).records
    return record


def said(raw: str) -> str:
    line = peel(raw)
    return line.text[line.records[0].start : line.records[0].end]


LABELS = [
    "[rank5]: ",
    "[rank5]:",
    "[default5]: ",
    "[1,5]<stderr>:",
    "(RayTrainWorker pid=5, ip=10.0.0.5) ",
    "(Worker_TP5 pid=5) ",
    "[pod/p-5/c] ",
    "2026-07-01T10:00:00.123456789Z stderr F ",
    "2026-07-01T10:00:00.123Z ",
    "Oct 16 01:07:00 host-5 train[5]: ",
    "2026-07-01T10:00:00+00:00 host-5 train[5]: ",
    "INFO: ",
    "INFO:Neuron:",
    "2024-08-12 18:34:56,116::ERROR: ",
    "2024-08-12 18:34:56,116 - INFO - x.py:5 - ",
    "[Rank 5] ",
    "[rank5]:[E603 17:48:01.005271823 x.cpp:632] ",
    "ERROR 01-06 23:01:14 [x.py:671] ",
    "[NeMo W 2023-08-17 22:53:03 x:67] ",
]
INNERMOST = {
    "": None,
    "2024-Jun-26 00:32:47.943821 30294:32381 ERROR  TDRV:": RUNTIME_TIME,
    "2024-Jun-26 00:32:47.0943 30294:32381 ERROR  TDRV:": Instant(1719361967_943_000_000, Clock.HOST_LOCAL, 10**6),
    "2024-06-26 00:32:47.943821: F ./path/x.h:1037] ": RUNTIME_TIME,
    "libfabric:718892:1719361967::efa:mr:f():632<warn> ": Instant(1719361967 * 10**9, Clock.UTC, 10**9),
}
plain = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=60).map(
    lambda text: ("message" + text).rstrip()
)


@given(st.lists(st.sampled_from(LABELS), max_size=6), st.sampled_from(sorted(INNERMOST)), plain)
def test_any_stack_of_prefixes_gives_the_message_and_the_inner_time_back(
    labels: list[str], inner: str, text: str
) -> None:
    raw = "".join(labels) + inner + text
    record = only(raw)
    assert said(raw) == ("TDRV:" + text if inner.endswith("TDRV:") else text)
    if inner:
        assert record.instant == INNERMOST[inner]
    assert record.has_header == has_header(raw) == bool(labels or inner)


@given(st.sampled_from(["12: ", " 3: "]), st.lists(st.sampled_from(LABELS[:11]), max_size=4), plain)
def test_a_task_number_of_srun_may_stand_among_launchers_labels(srun: str, labels: list[str], text: str) -> None:
    for raw in (srun + "".join(labels) + text, "".join(labels) + srun + text):
        assert said(raw) == text


@given(st.sampled_from(LABELS), plain)
def test_an_escape_sequence_in_front_changes_nothing(label: str, text: str) -> None:
    assert peel(f"\x1b[1;91m{label}\x1b[0m{text}\x1b[K\r\n") == peel(label + text)


FRAGMENTS = [
    *LABELS,
    *INNERMOST,
    RUNTIME,
    "\r",
    "\x1b[",
    "{",
    '{"log":"',
    '"}',
    "[",
    " 7638.723761] ",
    "\ud800",
    "\x00",
]
anything = st.one_of(
    st.text(max_size=80),
    st.binary(max_size=80).map(lambda raw: raw.decode("utf-8", "replace")),
    st.lists(st.sampled_from(FRAGMENTS) | st.text(string.printable, max_size=8), max_size=8).map("".join),
)


@given(anything)
def test_peeling_is_total_and_its_ranges_are_ordered(raw: str) -> None:
    line = peel(raw)
    assert line.records
    ends = 0
    for record in line.records:
        assert ends <= record.start <= record.end <= len(line.text)
        ends = record.end
    assert has_header(raw) or not any(record.has_header for record in line.records)


@given(anything)
def test_peeling_twice_gives_the_same(raw: str) -> None:
    assert peel(raw) == peel(raw)


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "7",
        "[",
        "(",
        "]",
        ":",
        ".",
        "\x1b",
        "\x1b[",
        "\r",
        "{",
        "a.",
        "1:1 ",
        "1:1      ",
        "[1,",
        "[rank1]: ",
        "(a pid=1) ",
        "2024-Jun-26 00:32:47.943821",
        "2024-Jun-26 00:32:47.943821 ",
        "2024-06-26 00:32:47.943821: 7 INFO ||",
        "1:1 ERROR TDRV:x ",
        "[nec_dev ",
        "[a gid",
        "a\r",
        "12: ",
        "\x1b]0;",
    ],
)
def test_a_hostile_line_of_a_megabyte_takes_less_than_a_second(unit: str) -> None:
    raw = unit * (10**6 // len(unit))
    before = time.process_time()
    peel(raw)
    has_header(raw)
    assert time.process_time() - before < 1


@given(st.lists(st.sampled_from([*LABELS, *INNERMOST, "\r"]), max_size=8), plain)
def test_the_time_of_a_line_is_that_of_its_first_record(prefixes: list[str], text: str) -> None:
    raw = "".join(prefixes) + text
    first = peel(raw).records[0]
    assert time_of(raw) == (first.instant or first.outer)
