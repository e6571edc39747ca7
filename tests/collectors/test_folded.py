"""A traceback that stands on one line says what it says on several; other lines stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.folded import unfolded
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

LINES = (
    "Traceback (most recent call last):",
    '  File "x.py", line 3, in <module>',
    "    f(1)",
    '  File "y.py", line 14, in f',
    "    raise RuntimeError('no {}'.format(x))",
    "RuntimeError: no cpu",
)


def raised(folder: Path, text: str) -> list[tuple[object, object]]:
    (folder / "job.log").write_text(text + "\n")
    facts = collect(Request((str(folder),)), rulebook()).facts
    return [(fact.data["exception"], fact.data.get("ignored")) for fact in facts if fact.name == "python-exception"]


@pytest.mark.parametrize("end", ["#012", "\\n", " "])
@pytest.mark.parametrize(
    "prefix", ["", "Sep  3 08:44:19 n1 train[77]: ", "[rank3]: ", "2026-01-01 00:00:00,100 ERROR "]
)
def test_the_exception_of_a_folded_traceback_is_read(tmp_path: Path, end: str, prefix: str) -> None:
    lines = LINES if end != " " else tuple(line.strip() for line in LINES)
    assert raised(tmp_path, prefix + end.join(lines)) == [("RuntimeError", None)]


def test_what_python_ignored_is_no_failure_on_one_line_either(tmp_path: Path) -> None:
    text = "Exception ignored in: <function X.__del__> " + " ".join(line.strip() for line in LINES)
    [(_, ignored)] = raised(tmp_path, text)
    assert ignored


@pytest.mark.parametrize(
    "text",
    [
        '  File "x.py", line 3, in f',
        'see File "x.py", line 3, in f for the reason',
        'File "x.py" holds ValueError: bad',
        'WARNING raised at File "x.py", line 3: ValueError: bad',
        "ValueError: bad",
    ],
)
def test_a_line_that_is_no_whole_traceback_is_left_alone(text: str) -> None:
    assert unfolded(text) == text


@given(st.text())
def test_any_text_keeps_its_words(text: str) -> None:
    assert unfolded(text).split() == text.split() or "\\n" in text or "#012" in text
