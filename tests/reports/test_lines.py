"""Wrapping by display cells, quotations, and painting as the last step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.reports.lines import Line, Style, cells, joined, labelled, paragraph, quotation, wrap

PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), max_size=300)


@given(PRINTABLE, st.integers(2, 100))
def test_no_piece_is_wider_than_the_room(text: str, room: int) -> None:
    assert all(cells(piece) <= room for piece in wrap(text, room))


@given(PRINTABLE, st.integers(2, 100))
def test_wrapping_loses_nothing_but_spaces(text: str, room: int) -> None:
    assert "".join(wrap(text, room)).replace(" ", "") == text.replace(" ", "")


def test_words_stay_whole_where_they_fit() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_wide_characters_take_two_cells() -> None:
    assert cells("内存 ok") == 7
    assert wrap("内存不足", 4) == ["内存", "不足"]


@given(PRINTABLE, st.integers(40, 120))
def test_a_labelled_field_stays_in_the_width(text: str, width: int) -> None:
    assert all(cells(line.text) <= width for line in labelled("where", text, width))


def test_only_the_label_of_a_field_is_painted() -> None:
    (line,) = labelled("where", "node-01", 80)
    assert joined([line], colour=True) == "\x1b[1m  where       \x1b[0mnode-01\n"
    assert joined([line], colour=False) == "  where       node-01\n"


def test_painting_is_the_only_source_of_escapes() -> None:
    lines = [Line("\x1b[31mred", Style.BAD), Line("plain \x07")]
    assert joined(lines, colour=True) == "\x1b[1;31m\\x1b[31mred\x1b[0m\nplain \\x07\n"


def test_a_paragraph_of_hostile_length_is_cut() -> None:
    assert len(paragraph("word " * 10_000, 80)) < 20


def test_a_long_line_is_quoted_from_its_start() -> None:
    lines = quotation("ERROR      nrt_init  " + "x" * 500, 40, "| ", 3)
    assert [line.text[:20] for line in lines] == ["| ERROR  nrt_init", "| xxxxxxxxxxxxxxxxxx", "| xxxxxxxxxxxxxxxxxx"]
    assert lines[-1].text.endswith(" ...")


def test_a_traceback_is_quoted_with_its_last_line() -> None:
    text = "Traceback:\n" + "".join(f"  line {n}\n" for n in range(50)) + "ValueError: no\n"
    assert [line.text for line in quotation(text, 80, "| ", 4)] == [
        "| Traceback:",
        "|   line 0",
        "| [... 49 more lines]",
        "| ValueError: no",
    ]


@given(st.text(max_size=400), st.integers(40, 120), st.integers(3, 10))
def test_a_quotation_stays_in_its_bounds(text: str, width: int, most: int) -> None:
    lines = quotation(text, width, "      | ", most)
    assert len(lines) <= most
    assert all(cells(line.text) <= width and line.text.isprintable() for line in lines)
