"""The lines that a pattern nearly matches."""

from __future__ import annotations

import re

import pytest
from builders import hit

from neuron_doctor.engine.near_patterns import nearest_line, parts_of
from neuron_doctor.engine.patterns import Pattern


@pytest.mark.parametrize(
    ("regex", "line", "part", "rest"),
    [
        (
            r"lock (?P<path>\S{1,99}) held for \d{1,9} minutes",
            "lock /a held for 7 hours",
            r"lock (?P<path>\S{1,99}) held for \d{1,9} ",
            "minutes",
        ),
        (
            r"Failed writing \d{1,9} bytes to disk",
            "failed writing 12 bytes to disk",
            r" writing \d{1,9} bytes to disk",
            "Failed",
        ),
        (
            r"(?i)timed out after \d{1,9}s: giving up",
            "Timed out after ten: GIVING UP",
            "(?i)timed out after ",
            r"\d{1,9}s: giving up",
        ),
        (r"one thing here|quite another thing", "quite another place", "quite another ", "thing"),
    ],
)
def test_the_longest_part_that_stands_in_a_line_is_told(regex: str, line: str, part: str, rest: str) -> None:
    pattern = Pattern("p", regex)
    hits = [hit(one.id, offset=5) for one in parts_of(pattern) if re.search(one.regex, line)]
    near = nearest_line(pattern, [hit("other~0"), *reversed(hits)])
    assert near is not None
    assert (near.part, near.rest) == (part, rest)


def test_parts_are_whole_expressions_and_telling_ones() -> None:
    parts = parts_of(
        Pattern(
            "p", r"(?P<a>x{1,9}) and then (?P=a) again|\d{1,9}ab", fields={"a": "str"}, emits="status", values={"v": 1}
        )
    )
    assert parts
    for part in parts:
        assert re.compile(part.regex)
        assert re.search(r"[a-z ]{6}", part.regex)
        assert (part.emits, part.fields, part.values) == ("hit", {}, {})


def test_of_a_pattern_over_several_lines_the_anchor_is_near() -> None:
    pattern = Pattern("p", r"above\nthe anchor", anchor="the anchor", above="above")
    [part] = parts_of(pattern)
    assert (part.regex, part.anchor, part.above) == ("the anchor", None, None)
    near = nearest_line(pattern, [hit("p~0")])
    assert near is not None
    assert near.rest == pattern.regex


def test_where_no_part_is_found_nothing_is_near() -> None:
    assert nearest_line(Pattern("p", "some words here"), [hit("other"), hit("q~1")]) is None
