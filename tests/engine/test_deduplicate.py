"""One fact for each record, however often it was captured."""

from __future__ import annotations

from builders import hit
from msgspec.structs import replace

from neuron_doctor.engine.deduplicate import deduplicated


def test_a_record_in_a_ranks_own_file_and_in_a_tee_is_one() -> None:
    own = hit("x", at=5, pid=7, host="a", rank=3, source="rank_3.log")
    tee = replace(
        hit("x", at=5, pid=7, source="launcher.log", offset=99), span=replace(own.span, path="launcher.log", offset=99)
    )
    [fact] = deduplicated([own, tee])
    assert (fact.place.rank, fact.place.host, fact.source) == (3, "a", "rank_3.log")


def test_the_same_words_of_two_hosts_are_two() -> None:
    assert len(deduplicated([hit("x", at=5, pid=1, host="a"), hit("x", at=5, pid=1, host="b", offset=1)])) == 2


def test_records_without_a_time_are_one_only_at_one_offset_of_one_source() -> None:
    assert len(deduplicated([hit("x"), hit("x")])) == 1
    assert len(deduplicated([hit("x"), hit("x", offset=7)])) == 2
    assert len(deduplicated([hit("x"), hit("x", source="t")])) == 2


def test_the_same_words_at_another_time_are_another_record() -> None:
    assert len(deduplicated([hit("x", at=5, pid=1), hit("x", at=6, pid=1, offset=9)])) == 2
