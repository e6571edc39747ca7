"""The line builder: bytes, and the marks of the lines that state faults."""

from neuron_doctor.corpus.simulator.text import Lines
from neuron_doctor.corpus.simulator.truth import Mark


def test_lines_are_joined_and_the_bytes_of_a_statement_are_marked() -> None:
    lines = Lines()
    lines.line("benign")
    lines.line("né broken", fault=1)
    file = lines.file("a.log", "runtime-log", host=0, ranks=(3,))
    assert file.data == "benign\nné broken\n".encode()
    assert file.marks == (Mark(7, 10, 1),)
    assert (file.path, file.source, file.host, file.ranks) == ("a.log", "runtime-log", 0, (3,))


def test_each_line_of_a_text_is_marked_by_itself() -> None:
    lines = Lines(end="\r\n")
    lines.lines("one\ntwo", fault=0)
    assert [file_mark.offset for file_mark in lines.file("x", "dmesg").marks] == [0, 5]
    assert len(lines) == 10


def test_a_part_has_no_line_end() -> None:
    lines = Lines()
    lines.part("half")
    lines.part("torn", fault=0)
    assert lines.file("x", "dmesg").data == b"halftorn"
