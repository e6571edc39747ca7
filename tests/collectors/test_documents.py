"""JSON read by element: every element is where its span says, and damage ends the reading with what came before."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.documents import JSON_LINE, DamagedDocument, document_of, elements, value_at
from neuron_doctor.collectors.snapshot import lines_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=8), st.sampled_from([None, 1, 4]), st.booleans())
def test_elements_are_those_of_the_array_and_stand_where_their_spans_say(
    values: list[object], indent: int | None, ascii_only: bool
) -> None:
    raw = b"# before\r\n" + json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    document = document_of("x", list(lines_of(raw)))
    found = list(elements(document.text, document.text.index("[") + 1))
    assert [element.value for element in found] == values
    for element in found:
        span = document.span(element.start, element.end)
        assert (
            raw[span.offset : span.offset + span.length].decode("utf-8", "surrogateescape")
            == (document.text[element.start : element.end])
        )


@pytest.mark.parametrize(
    "text", ["[1, 2, ", "[1, 2, nonsense]", "[1, 2, " + "[" * 100_000, "[1, 2, " + "9" * 5000 + "]"]
)
def test_damage_ends_the_reading_with_what_came_before(text: str) -> None:
    read: list[object] = []
    with pytest.raises(DamagedDocument):
        read_into(read, text)
    assert read == [1, 2]


def read_into(read: list[object], text: str) -> None:
    read.extend(element.value for element in elements(text, 1))


def test_a_quotation_shows_one_member_with_its_line_and_column() -> None:
    document = document_of("x", list(lines_of('{\n  "a": 1,\n  "päth": "x", "exitCode": 137\n}\n'.encode())))
    span = document.quote(value_at(document.text, 0), "exitCode", 137)
    assert (span.text, span.line, span.column, span.offset) == ('"exitCode": 137', 3, 16, 28)


@pytest.mark.parametrize("line", ["[", "  {", '{"a": 1}', "],", '"x": [', "12,", "  true,", "[1, 2]", "[]"])
def test_lines_of_json_are_known(line: str) -> None:
    assert JSON_LINE.match(line)


@pytest.mark.parametrize(
    "line", ["[   12.345] neuron: x", "[rank0]: x", "2024-Jun-26 00:32:47", "Traceback", "{not json}"]
)
def test_lines_of_logs_are_not_json(line: str) -> None:
    assert not JSON_LINE.match(line)
