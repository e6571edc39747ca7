"""Each capture is claimed by the collectors of its kind only, and an ordinary log by none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordinary_logs import LOGS
from snapshot_inputs import ALL, SAMPLES, claimed_by

from neuron_doctor.collectors.base import HEAD

CASES = [(kind, text) for kind, texts in SAMPLES.items() for text in texts]
LINES = [line for text in LOGS.values() for line in text.splitlines()]


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_a_capture_is_claimed_by_its_own_kind_alone(kind: str, text: str) -> None:
    assert claimed_by(text.encode()) == [kind]


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_line_ends_of_windows_change_nothing(kind: str, text: str) -> None:
    assert claimed_by(text.replace("\n", "\r\n").encode()) == [kind]


@pytest.mark.parametrize(
    ("kind", "text"), [case for case in CASES if "\0" not in case[1] and not case[1].startswith('{"')]
)
@pytest.mark.parametrize(
    "prompt", ["$ some-command -x\n", "ubuntu@ip-10-1-200-50:~$ some-command | tee x\n", "+ some-command\n"]
)
def test_the_command_before_its_output_changes_nothing(kind: str, text: str, prompt: str) -> None:
    assert claimed_by((prompt + text).encode()) == [kind]


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_an_ordinary_log_is_claimed_by_none(log: str) -> None:
    assert claimed_by(log.encode()) == []


@pytest.mark.parametrize(("kind", "text"), CASES)
@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_a_log_that_begins_with_a_capture_is_claimed_by_none(kind: str, text: str, log: str) -> None:
    if "\0" not in text and not text.startswith("{"):
        assert claimed_by((text + log).encode()) == []


@pytest.mark.parametrize(("kind", "text"), CASES)
@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_a_log_that_holds_a_capture_is_claimed_by_none(kind: str, text: str, log: str) -> None:
    assert claimed_by((log + text + log).encode()) == []


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=40))
def test_lines_of_logs_in_any_order_are_claimed_by_none(lines: list[str]) -> None:
    assert claimed_by("\n".join(lines).encode()) == []


@given(
    st.binary(max_size=3000), st.sampled_from(["x", "total", "input0.bin", "a.ntff", "trace.json", "neuron-ls.json"])
)
def test_arbitrary_bytes_never_make_a_sniff_fail(data: bytes, name: str) -> None:
    for collector in ALL:
        assert collector.sniff(data, name) in {True, False}


@pytest.mark.parametrize(
    "piece", [b"A=", b"[", b"{", b"| ", b"+-", b"a/", b"- ", b"0 ", b"\xff", b"\0", b"Name: ", b"x" * 50 + b" "]
)
def test_a_head_without_a_line_end_is_refused_quickly(piece: bytes) -> None:
    data = (piece * HEAD)[:HEAD]
    assert claimed_by(data) in ([], ["env"])
