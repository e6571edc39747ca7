"""Tables between commas: their head, their first rows, and the names of series in them."""

from __future__ import annotations

from neuron_doctor.collectors.delimited import beginning_of, labels_of


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
