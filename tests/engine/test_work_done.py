"""One rank says for all that the work is done: only of what stands below it, and only if steps stand above it and none below."""

from __future__ import annotations

from builders import hit, progress
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.work_done import work_done


def word(offset: int, **place: object) -> Fact:
    return replace(hit("word", offset=offset, **place), kind="completion", data={"exited": False})  # type: ignore[arg-type]


def told(*facts: Fact) -> list[tuple[str | None, int | None]]:
    return [(fact.place.host, fact.place.rank) for fact in work_done(facts)]


STEP, WORD = progress(offset=5, rank=0, host="a", at=5), word(10, rank=0, host="a", at=10)


def test_it_is_told_at_each_other_process_of_which_the_log_tells_below() -> None:
    later = [hit("x", offset=n, rank=rank, host="b") for n, rank in ((20, 1), (30, 2), (40, 2), (50, 0))]
    assert told(STEP, WORD, hit("x", offset=7, rank=9), *later) == [("b", 1), ("b", 2), ("b", 0)]
    assert told(STEP, WORD, hit("x", offset=20, rank=0, host="a")) == []  # its own word says it
    assert told(STEP, WORD, hit("x", offset=20, rank=1, source="t")) == []


def test_it_is_told_at_the_time_of_the_word_only_where_the_clock_is_the_same() -> None:
    found = work_done([STEP, WORD, hit("x", offset=20, rank=1, host="a"), hit("x", offset=20, rank=2, host="b")])
    assert [fact.instant for fact in found] == [WORD.instant, None]


def test_it_is_not_told_without_steps_above_or_with_steps_below() -> None:
    later = hit("x", offset=90, rank=1)
    assert told(WORD, later) == []
    assert told(STEP, WORD, progress(offset=50, rank=0), later) == []
    assert told(STEP, WORD, progress(offset=50, rank=0), word(60, rank=0), later) == [(None, 1)]
