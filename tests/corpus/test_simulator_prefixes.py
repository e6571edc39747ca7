"""The dressing of lines, and ranks that interleave in one file."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.prefixes import written
from neuron_doctor.corpus.simulator.printed import Line, Printed, Voice
from neuron_doctor.corpus.simulator.style import Style

START = 1_750_000_000.0
MAKE = Callable[..., History]
DRESSED = {
    "none": "hello",
    "torchrun": "[default1]:hello",
    "srun": "3: hello",
    "mpirun": "[1,3]<stdout>:hello",
    "rank": "[rank3]:hello",
    "cri": "2025-06-15T15:06:41.000000000Z stdout F hello",
    "syslog": "Jun 15 15:06:41 ip-10-1-2-4 python3[4003]: hello",
}


def said(text: str, *, rank: int | None = 3, after: float = 1.0, fault: int | None = None, stamp: int = 0) -> Printed:
    return Printed(START + after, (Line(text, fault),), Voice.FRAMEWORK, rank, stamp)


@pytest.mark.parametrize(("prefix", "line"), DRESSED.items())
def test_each_prefix_dresses_a_line_as_its_launcher_or_collector_does(hand_made: MAKE, prefix: str, line: str) -> None:
    lines = written(hand_made(), Style(prefix=prefix), 1, [said("hello")], Random(0))
    assert lines.file("x", "framework-log").data.decode() == f"{line}\n"


def test_a_mark_covers_the_text_and_not_its_dress(hand_made: MAKE) -> None:
    file = written(hand_made(), Style(prefix="srun"), 1, [said("broken", fault=2)], Random(0)).file(
        "x", "framework-log"
    )
    (mark,) = file.marks
    assert file.data[mark.offset : mark.offset + mark.length] == b"broken"
    assert mark.fault == 2


def test_the_launcher_does_not_dress_its_own_lines(hand_made: MAKE) -> None:
    lines = written(hand_made(), Style(prefix="torchrun"), 1, [said("hello", rank=None)], Random(0))
    assert lines.file("x", "launcher-log").data == b"hello\n"


def test_ranks_interleave_in_the_order_of_time(hand_made: MAKE) -> None:
    entries = [said("late", rank=2, after=3.0), said("early", rank=3, after=1.0), said("between", rank=2, after=2.0)]
    data = written(hand_made(), Style(), 1, entries, Random(0)).file("x", "framework-log").data
    assert data == b"early\nbetween\nlate\n"


def test_a_collector_stamps_lines_with_the_clock_of_its_host(hand_made: MAKE) -> None:
    data = (
        written(hand_made(offset=60.0), Style(prefix="cri"), 1, [said("hello")], Random(0))
        .file("x", "framework-log")
        .data
    )
    assert data.startswith(b"2025-06-15T15:07:41")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_torn_lines_lose_no_byte_and_keep_their_marks(hand_made: MAKE, seed: int) -> None:
    entries = [
        said(f"TIME{n:02d} statement {n}", rank=2 + n % 2, after=1.0 + n * 1e-4, fault=n, stamp=6) for n in range(12)
    ]
    file = written(hand_made(), Style(), 1, entries, Random(seed)).file("x", "framework-log")
    assert sorted(file.data.replace(b"\n", b"")) == sorted("".join(entry.lines[0].text for entry in entries).encode())
    marked = {mark.fault: file.data[mark.offset : mark.offset + mark.length] for mark in file.marks}
    assert all(marked[n].endswith(f"statement {n}".encode()) for n in range(12))
