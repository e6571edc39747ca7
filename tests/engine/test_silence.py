"""The one rank that says nothing: named only where it had the time to speak."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Source, Span
from neuron_doctor.engine.silence import silent_in_dumps, silent_ranks
from neuron_doctor.engine.topology import Topology

SECOND = 10**9
JOB = Topology(host_of_rank=dict.fromkeys(range(16), "a"))


def fact(kind: str, rank: int | None, at: float | None, **data: str | int) -> Fact:
    instant = None if at is None else Instant(round(at * SECOND), Clock.HOST_LOCAL)
    return Fact(kind, data, Place(host="a", rank=rank), Span(f"{kind}{rank}"), f"log{rank}", instant)


def report(rank: int | None, at: float = 600.0, what: str = "collectives") -> Fact:
    return fact("hang-report", rank, at, what=what)


STEP = fact("progress", None, 1.0)


def logs(*ranks: int) -> list[Source]:
    return [Source(f"log{rank}", f"rank_{rank}.log", "log", records=9, place=Place(rank=rank)) for rank in ranks]


def cut(sources: Sequence[Source], rank: int | None) -> list[Source]:
    """The last line of the log of a rank, or of several, has no end."""
    return [replace(source, unended=source.place.rank == rank) for source in sources]


def silent(*facts: Fact, ranks: range = range(6)) -> list[int | None]:
    return [found.place.rank for found in silent_ranks([*facts, STEP], logs(*ranks), frozenset(), JOB)]


def test_the_one_that_says_nothing_is_named() -> None:
    assert silent(*(report(rank) for rank in (0, 1, 2, 4, 5))) == [3]


@pytest.mark.parametrize(("last", "expected"), [(5, [3]), (78, [])])
def test_where_most_ranks_of_a_shared_log_say_nothing_none_of_them_is_singled_out(
    last: int, expected: list[int]
) -> None:
    reports = [replace(report(rank), source="tee") for rank in (0, 1, 2, 4, last)]
    word = replace(fact("progress", 3, 10.0), source="tee")
    tee = [Source("tee", "train.log", "log", records=99)]
    assert [found.place.rank for found in silent_ranks([*reports, word, STEP], tee, None, Topology())] == expected


def test_its_words_may_stand_in_a_log_of_many_ranks() -> None:
    """`heard` by the ranks that the lines of such a log begin with."""
    reports = [replace(report(rank), source="tee") for rank in (0, 1, 2, 4, 5)]
    tee = [Source("tee", "train.log", "log", records=99)]

    def found(heard: frozenset[int] | None, where: str = "tee") -> list[int | None]:
        word = replace(fact("world", 3, 10.0, size=6), source=where)
        job = Topology(ranks=tuple(range(6)))
        return [found.place.rank for found in silent_ranks([*reports, word, STEP], tee, heard, job)]

    assert found(frozenset(range(6))) == [3]
    assert found(None) == [3]
    assert found(frozenset((0, 1, 2, 4, 5))) == [], "others said what seems to be its word"
    tee = cut(tee, None)
    assert found(frozenset(range(6))) == [], "it may have reported where that log was cut"
    assert found(frozenset(range(6)), "another.log") == [], "the log in which it would have reported was not collected"


def test_what_was_cut_in_the_middle_of_a_line_may_have_gone_on() -> None:
    reports = [report(rank) for rank in (0, 1, 2, 4, 5)]
    for rank, expected in ((3, []), (4, [3])):
        found = silent_ranks([*reports, STEP], cut(logs(*range(6)), rank), frozenset(), JOB)
        assert [one.place.rank for one in found] == expected


def test_one_of_which_the_log_is_missing_may_have_spoken_in_it() -> None:
    """Its program's words stand beside theirs; what their runtimes said has a file for each of the others."""
    reports = [*(report(rank) for rank in (0, 1, 2, 4, 5)), replace(report(0, what="lost"), source="train")]
    word = replace(fact("progress", 3, 10.0), source="train")
    tee = Source("train", "train.log", "log", records=9)
    for ranks, expected in (((0, 1, 2, 4, 5), []), ((0, 1, 2, 4), [3])):
        found = silent_ranks([*reports, word, STEP], [*logs(*ranks), tee], frozenset(range(6)), JOB)
        assert [one.place.rank for one in found] == expected


def test_two_of_them_are_not_told_apart() -> None:
    assert silent(*(report(rank) for rank in (0, 1, 2, 4))) == []


def test_a_report_of_nobody_may_be_its_own() -> None:
    assert silent(*(report(rank) for rank in (0, 1, 2, 4, 5)), report(None)) == []


def test_reports_of_nobody_that_others_repeat_with_their_ranks_are_theirs() -> None:
    named = [replace(report(rank), source="tee") for rank in (0, 1, 2, 4, 5)]
    unnamed = [replace(report(None, at=600.0 + n), source="tee") for n in range(6)]
    tee = [Source("tee", "train.log", "log", records=99)]
    word = replace(fact("world", 3, 10.0, size=6), source="tee")
    job = Topology(ranks=tuple(range(6)))

    def found(*reports: Fact) -> list[int | None]:
        return [one.place.rank for one in silent_ranks([*reports, word, STEP], tee, None, job)]

    assert found(*named, *unnamed[:5]) == [3]
    assert found(*named, *unnamed) == [], "as many reports of nobody as ranks: one is its own"


def test_few_who_speak_prove_nothing_where_nothing_tells_when_it_ended() -> None:
    facts = [report(rank) for rank in (0, 1, 3)]
    assert silent(*facts, ranks=range(4)) == []
    assert silent(*facts, fact("launcher-failure", 2, 640.0, signal=15), ranks=range(4)) == [2]


def test_before_the_first_step_it_may_still_compile() -> None:
    facts = [report(rank) for rank in (0, 1, 2, 4, 5)]
    assert silent(*facts) == [3]
    assert silent_ranks(facts, logs(*range(6)), frozenset(), JOB) == []


def test_few_who_speak_are_enough_where_all_of_them_ended_and_it_did_not() -> None:
    facts = [report(rank) for rank in (0, 1, 3)]
    ends = [fact("launcher-failure", rank, 605.0, signal=6) for rank in (0, 1, 3)]
    assert silent(*facts, *ends[1:], ranks=range(4)) == []
    assert silent(*facts, *ends, ranks=range(4)) == [2]


def test_one_that_was_ended_while_the_others_spoke_may_have_been_slower() -> None:
    facts = [report(rank, 600.0 + rank / 2) for rank in (0, 1, 2, 4, 5)]
    assert silent(*facts, fact("launcher-failure", 3, 602.0, signal=15)) == []
    assert silent(*facts, fact("launcher-failure", 3, 604.0, exitcode=-15)) == []
    assert silent(*facts, fact("launcher-failure", 3, 606.0, signal=15)) == [3]


def test_one_that_did_not_heed_that_it_was_to_end_was_not_slower() -> None:
    facts = [report(rank, 600.0 + rank / 2) for rank in (0, 1, 2, 4, 5)]
    to_end = fact("launcher-failure", 3, 602.0, signal=15)
    assert silent(*facts, to_end, fact("launcher-failure", 3, 632.0, signal=9, exitcode=-9, told=True)) == [3]
    assert silent(*facts, to_end, fact("launcher-failure", 3, 603.0, signal=9, exitcode=-9, told=True)) == []
    assert silent(*facts, to_end, fact("launcher-failure", 5, 632.0, signal=9, exitcode=-9, told=True)) == []


@pytest.mark.parametrize(
    ("at", "others", "expected"),
    [
        (604.0, (0, 1, 2, 4, 5), [3]),
        (602.0, (0, 1, 2, 4, 5), []),  # it may only have been slower
        (604.0, (0, 1, 2, 4), []),  # and rank 5 may be the one
        (None, (0, 1, 2, 4, 5), []),
    ],
)
def test_one_that_only_lost_those_who_had_long_given_up(
    at: float | None, others: tuple[int, ...], expected: list[int]
) -> None:
    facts = [report(rank, 600.0 + rank / 4) for rank in others]
    assert silent(*facts, report(3, at, "lost"), ranks=range(6)) == expected
    assert silent(*facts, report(3, at, "lost"), report(0, at, "lost"), ranks=range(6)) == expected


def test_one_that_was_ended_at_an_unknown_time_may_have_been_slower() -> None:
    assert silent(*(report(rank) for rank in (0, 1, 2, 4, 5)), fact("launcher-failure", 3, None, signal=15)) == []


def test_one_whose_words_were_not_collected_and_that_failed_by_itself_may_be_the_one() -> None:
    facts = [report(rank) for rank in (0, 1, 2, 4, 5)]
    assert silent(*facts, fact("launcher-failure", 9, 605.0, exitcode=1)) == []
    assert silent(*facts, fact("launcher-failure", 9, 605.0, signal=15)) == [3]
    assert silent(*facts, fact("launcher-failure", 5, 605.0, exitcode=1)) == [3]
    assert silent(*facts, fact("launcher-failure", 3, 605.0, exitcode=1)) == [3]


def test_one_that_left_no_dump_either_needs_fewer_who_speak() -> None:
    facts = [report(rank) for rank in (0, 1, 3)]
    dumps = [fact("fr-rank", rank, None) for rank in (0, 1, 3)]
    empty = [*logs(0, 1, 3), Source("log2", "rank_2.log", "log", records=0, place=Place(rank=2))]
    assert silent_ranks([*facts, STEP], empty, frozenset(), JOB) == []
    assert [found.place.rank for found in silent_ranks([*facts, *dumps, STEP], empty, frozenset(), JOB)] == [2]
    assert silent_ranks([*facts, *dumps[1:], STEP], empty, frozenset(), JOB) == []


def test_beside_ranks_that_only_lost_those_who_gave_up_silence_proves_nothing() -> None:
    others = (0, 1, 2, 4, 5)
    assert silent(*(report(rank, what="lost") for rank in others)) == [3]
    assert silent(*(report(rank, what="lost" if rank > 2 else "watchdog") for rank in others)) == []
    both = [report(rank, what=what) for rank in others for what in ("watchdog", "lost")]
    assert silent(*both) == [3]


@pytest.mark.parametrize(("world", "expected"), [(6, [3]), (8, [])])
def test_those_of_whom_nothing_is_here_may_be_whom_the_others_lost(world: int, expected: list[int]) -> None:
    job = Topology(host_of_rank=dict.fromkeys(range(6), "a"), world_size=world)
    facts = [*(report(rank, what="lost") for rank in (0, 1, 2, 4, 5)), STEP]
    assert [found.place.rank for found in silent_ranks(facts, logs(*range(6)), frozenset(), job)] == expected


def test_one_that_left_neither_dump_nor_word_is_whom_the_others_lost() -> None:
    facts = [report(0, what="watchdog"), report(1, what="lost"), report(3, what="lost")]
    dumps = [fact("fr-rank", rank, None) for rank in (0, 1, 3)]
    empty = [*logs(0, 1, 3), Source("log2", "rank_2.log", "log", records=0, place=Place(rank=2))]
    assert [found.place.rank for found in silent_ranks([*facts, *dumps, STEP], empty, frozenset(), JOB)] == [2]


def test_the_words_of_the_runtime_count_and_not_when_the_program_repeats_them() -> None:
    said = [report(rank, 600.0 + rank / 10) for rank in (0, 1, 2, 4, 5)]
    own = [replace(fact, place=replace(fact.place, pid=100 + rank)) for rank, fact in enumerate(said)]
    echoes = [report(0, 400.0), report(1, 602.4)]
    assert silent(*own, *echoes, fact("launcher-failure", 3, 603.0, signal=15)) == [3]
    assert silent(*own, fact("launcher-failure", 3, 600.6, signal=15)) == []


def waits_for(rank: int, *waiting: int) -> Fact:
    data = {"verdict": "rank-missing", "description": "d", "culprits": (), "missing_dumps": (rank,), "waiting": waiting}
    return Fact("collective", data, Place(group="dp"), Span("0"), "0")


def convicted(
    collective: Fact, *facts: Fact, heard: frozenset[int] | None = None, sources: Sequence[Source] = ()
) -> tuple[int, ...]:
    [found] = silent_in_dumps([collective], facts, sources, heard, JOB)
    return found.place.ranks


def test_a_rank_without_a_dump_is_convicted_where_all_that_wait_for_it_gave_up_and_it_says_nothing() -> None:
    facts = [report(rank, what="watchdog") for rank in (0, 1, 3)]
    assert convicted(waits_for(2, 0, 1, 3), *facts) == (2,)
    assert convicted(waits_for(2, 0, 1, 3), *facts, heard=frozenset({0, 1, 3})) == ()
    assert convicted(waits_for(2, 0, 1, 3, 4), *facts) == ()
    assert convicted(waits_for(2, 0, 1, 3), *facts, report(2, what="watchdog")) == ()
    assert convicted(waits_for(2, 0, 1, 3), *facts, report(None, what="watchdog")) == ()
    assert convicted(waits_for(2, 0, 1, 3), *(report(rank, what="lost") for rank in (0, 1, 3))) == ()
    assert convicted(waits_for(2, 0, 1, 3), *facts, sources=logs(0, 1, 2, 3)) == (2,)
    assert convicted(waits_for(2, 0, 1, 3), *facts, sources=cut(logs(0, 1, 2, 3), 2)) == ()
    assert convicted(waits_for(2, 0, 1, 3), *facts, sources=cut(logs(0, 1, 2, 3), 1)) == (2,)


def test_one_whose_lines_are_labelled_is_heard_though_no_pattern_knows_what_they_say() -> None:
    reports = [replace(report(rank), source="tee") for rank in (0, 1, 2, 4, 5)]
    tee = Source("tee", "train.log", "log", records=99)
    job = Topology(host_of_rank=dict.fromkeys(range(6), "a"), world_size=6)
    for ranks, expected in (((0, 1, 2, 3, 4, 5), [3]), ((0, 1, 2, 4, 5), [])):
        found = silent_ranks([*reports, STEP], [replace(tee, ranks=ranks)], None, job)
        assert [fact.place.rank for fact in found] == expected
