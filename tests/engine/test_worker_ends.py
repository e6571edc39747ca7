"""Whether a worker that ended was heard itself."""

from __future__ import annotations

from neuron_doctor.engine.facts import Fact, Place, Source, Span
from neuron_doctor.engine.worker_ends import heard_ranks, with_logs


def fact(kind: str, source: str, rank: int | None) -> Fact:
    return Fact(kind, {}, Place(rank=rank), Span(source), source)


def log(name: str, rank: int | None = None) -> Source:
    return Source(name, f"{name}.log", "log", records=9, place=Place(rank=rank))


def ends_of(facts: list[Fact], sources: list[Source], world_size: int | None = None) -> list[Fact]:
    return list(with_logs(facts, sources, heard_ranks(facts, sources, world_size, frozenset({"noise"}))))


def logged(sources: list[Source], *facts: Fact) -> list[object]:
    ends = [fact("launcher-failure", "launcher", rank) for rank in (1, 2)]
    found = ends_of([*facts, *ends], [*sources, log("launcher")])
    return [end.data["logged"] for end in found if end.kind == "launcher-failure"]


def test_a_log_of_its_own_is_its_voice() -> None:
    assert logged([log("rank_1", 1)]) == [True, False]


def test_a_log_that_names_the_rank_of_each_line_is_the_voice_of_all() -> None:
    assert logged([log("all")], fact("progress", "all", 2), fact("hit", "all", 0)) == [False, True]


def test_a_log_that_names_the_process_of_each_line_is_the_voice_of_all() -> None:
    other = Fact("hit", {}, Place(pid=7), Span("all"), "all")
    assert logged([log("all")], fact("progress", "all", 2), other) == [False, True]


def test_a_log_with_lines_of_nobody_is_the_voice_of_none() -> None:
    assert logged([log("all")], fact("world", "all", 2), fact("hit", "all", None)) == [False, False]


def test_noise_of_nobody_is_no_word_of_an_end() -> None:
    noise = Fact("hit", {"pattern": "noise"}, Place(), Span("all"), "all")
    assert logged([log("all")], fact("world", "all", 2), noise) == [False, True]


def test_what_others_say_of_it_is_not_its_voice() -> None:
    assert logged([log("all")], fact("stand", "all", 2)) == [False, False]


def test_nor_is_what_else_the_line_states_that_reports_its_end() -> None:
    assert logged([], fact("identity", "launcher", 1)) == [False, False]
    below = Fact("identity", {}, Place(rank=1), Span("launcher", offset=90), "launcher")
    assert logged([], below) == [True, False]


def test_an_end_of_nobody_knows_nothing() -> None:
    [end] = ends_of([fact("launcher-failure", "launcher", None)], [log("launcher")])
    assert "logged" not in end.data


def end(offset: int, signal: int, rank: int) -> Fact:
    data = {"launcher": "srun", "signal": signal}
    return Fact("launcher-failure", data, Place(rank=rank), Span("srun", offset=offset), "srun")


def first_of(*ends: Fact) -> list[int | None]:
    return [fact.place.rank for fact in ends_of(ends, [log("srun")]) if fact.data.get("first")]


def test_of_those_that_srun_reports_the_one_before_all_that_were_told_to_end_came_first() -> None:
    assert first_of(end(50, 15, 3), end(0, 9, 7), end(90, 15, 4)) == [7]
    assert first_of(end(0, 15, 3), end(50, 9, 7)) == []
    assert first_of(end(0, 9, 7), end(50, 9, 8), end(90, 15, 4)) == []
    assert first_of(end(0, 9, 7)) == []


def other(launcher: str, rank: int, **data: int) -> Fact:
    return Fact("launcher-failure", {"launcher": launcher, **data}, Place(rank=rank), Span(launcher), launcher)


def test_the_only_one_that_nobody_told_to_end_came_first_whatever_the_order_in_which_its_launcher_tells() -> None:
    assert first_of(other("torchrun", 3, exitcode=-15), other("torchrun", 7, exitcode=-9)) == [7]
    assert first_of(other("mpirun", 7, exitcode=1), fact("progress", "all", 2)) == [7]
    assert first_of(other("torchrun", 3, exitcode=1), other("torchrun", 7, exitcode=-9)) == []


def later_of(*ends: Fact) -> list[int | None]:
    return [fact.place.rank for fact in ends_of(ends, [log("srun")]) if fact.data.get("later")]


def test_before_one_another_ended_of_itself_where_srun_reports_that_one_first() -> None:
    assert later_of(end(50, 6, 3), end(0, 9, 7)) == [3]
    assert later_of(end(50, 6, 3), end(0, 15, 7)) == [], "that one was told to"


def test_torchrun_names_the_first_that_it_observed_of_each_host() -> None:
    def row(host: str, rank: int, **data: str) -> Fact:
        told = {"launcher": "torchrun", "exitcode": 1, **data}
        return Fact("launcher-failure", told, Place(host=host, rank=rank), Span("t"), "t")

    rows = [row("a", 1), row("a", 0, message="Root Cause"), row("b", 9)]
    assert later_of(*rows) == [1]
    assert later_of(*rows, row("b", 8, message="Root Cause")) == [1, 9]


def test_a_job_of_one_worker_has_no_first() -> None:
    assert first_of(other("srun", 7, signal=9)) == []


def test_what_srun_kills_after_others_were_told_to_end_was_told_too() -> None:
    def told(*ends: Fact) -> list[int | None]:
        return [fact.place.rank for fact in ends_of(ends, [log("srun")]) if fact.data.get("told")]

    assert told(end(0, 15, 3), end(50, 9, 7)) == [7]
    assert told(end(0, 9, 7), end(50, 15, 3)) == []


def test_all_are_heard_where_as_many_workers_speak_as_the_job_has_ranks() -> None:
    speaks = [Fact("core-layout", {}, Place(host="a", pid=pid), Span("all"), "all") for pid in (11, 12)]
    ends = [*speaks, fact("hit", "all", None), fact("launcher-failure", "launcher", 1)]

    def heard(world_size: int | None) -> list[object]:
        found = ends_of(ends, [log("all"), log("launcher")], world_size)
        return [end.data["logged"] for end in found if end.kind == "launcher-failure"]

    assert [heard(2), heard(3), heard(None)] == [[True], [False], [False]]


def test_what_a_launcher_says_of_its_child_or_is_told_is_no_line_of_nobody() -> None:
    told = Fact("hit", {"child_type": "ChildFailedError"}, Place(), Span("all"), "all")
    begun = Fact("launch", {"nodes": 4}, Place(), Span("all"), "all")
    assert logged([log("all")], fact("hit", "all", 2), told, begun, fact("progress", "all", None)) == [False, True]


def test_a_report_of_nobody_may_be_that_of_the_one_that_ended() -> None:
    speaks = [Fact("core-layout", {}, Place(host="a", pid=pid), Span("all"), "all") for pid in (11, 12)]
    ends = [*speaks, fact("hang-report", "all", None), fact("launcher-failure", "launcher", 1)]
    found = ends_of(ends, [log("all"), log("launcher")], 2)
    assert [end.data["logged"] for end in found if end.kind == "launcher-failure"] == [False]
