"""The time that mpirun --timestamp-output sets before its tag is peeled, and the tag's rank stays."""

from neuron_doctor.collectors.prefixes import peel


def test_the_tag_after_a_time_of_day_still_names_its_rank() -> None:
    line = peel("Thu May  7 10:15:31 2026[1,2]<stderr>:hello")
    (record,) = line.records
    assert line.text[record.start : record.end] == "hello"
    assert record.place.known() == {"rank": 2}
