"""Tables between commas: their head, their first rows, and the names of series in them."""

from __future__ import annotations

import csv

from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors.delimited import beginning_of, cells_of, labels_of


def test_a_quotation_mark_in_a_label_ends_it_not() -> None:
    assert labels_of('m{cmd="run --rank=\\"9\\"",rank="3"}') == {"cmd": 'run --rank=\\"9\\"', "rank": "3"}


def test_the_head_stands_below_the_command_and_a_line_that_is_cut_off_is_no_row() -> None:
    def is_head(columns: object) -> bool:
        return columns == ["a", "b"]

    begin = beginning_of(b"$ cat x.csv\n\na;b\r\n1;2\r\n3;4\r\n5", is_head)
    assert begin is not None
    assert (begin.columns, begin.rows(9), begin.rows(1)) == (["a", "b"], [["1", "2"], ["3", "4"]], [["1", "2"]])
    torn = beginning_of(b"a,b\n1,2\n3\n", is_head)
    assert torn is not None
    assert torn.rows(9) == []
    assert beginning_of(b"1,2\n3,4\na,b\n", is_head) is None


@given(st.text(st.sampled_from(',;\t"ab \r\n\0'), max_size=12), st.sampled_from(",;\t"))
def test_cells_are_those_that_the_library_of_tables_finds(line: str, delimiter: str) -> None:
    try:
        expected = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        expected = []
    assert cells_of(line, delimiter) == expected


def test_a_cell_that_is_too_long_for_the_library_of_tables_makes_no_row() -> None:
    assert cells_of(f"a,{'b' * (csv.field_size_limit() + 1)}") == []
    assert len(cells_of(",".join(["b" * 1000] * 1000))) == 1000
