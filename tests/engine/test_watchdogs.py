"""Ranks that a recorder without completions leaves in doubt: convicted where all watchdogs but theirs gave up."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from builders import source

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Source, Span, Value
from neuron_doctor.engine.recorder import told_of_collective
from neuron_doctor.engine.watchdogs import convicted_by_watchdogs

RANKS = range(8)
OTHERS = [rank for rank in RANKS if rank != 5]
HOSTS: dict[int, str | None] = {rank: "n1" if rank < 4 else "n2" for rank in RANKS}
ISSUED = 1_000_000


def about(
    kind: str, rank: int | None, host: str | None, *, log: str = "", at: float | None = None, **data: Value
) -> Fact:
    instant = None if at is None else Instant(round(at * 1e9), Clock.UTC)
    return Fact(kind, data, Place(rank=rank, host=host), Span(f"{kind}{rank}"), log or f"{kind}{rank}", instant)


def dumps(hosts: dict[int, str | None] = HOSTS) -> list[Fact]:
    return [about("fr-rank", rank, hosts[rank], last_ns=ISSUED * 10**9) for rank in RANKS]


def gave_up(*ranks: int | None, hosts: dict[int, str | None] = HOSTS, at: float | None = ISSUED + 600) -> list[Fact]:
    """What watchdogs say in a log that the ranks of a host share."""
    return [
        about("hang-report", rank, host, log=f"{host}.log", at=at, what="watchdog", own=True)
        for rank in ranks
        for host in [hosts.get(rank, "n1") if rank is not None else "n1"]
    ]


def in_doubt(*suspects: int, verdict: str = "undecided", missing: tuple[int, ...] = ()) -> Fact:
    told = "never issued all_reduce of tp; no completion is recorded, so the wait may be in what it issued last"
    waiting = tuple(rank for rank in RANKS if rank not in suspects)
    said: dict[str, Value] = {"operation": "all_reduce", "ordinal": 7, "waiting": waiting, "missing_dumps": missing}
    data = told_of_collective(verdict, told, witness="recorder", members=suspects, suspects=suspects, **said)
    return Fact("collective", data, Place(group="tp"), Span("d"), "d")


def found(suspected: Fact, facts: Iterable[Fact], *sources: Source) -> tuple[Value, tuple[int, ...]]:
    logs = sources or (source("n1.log"), source("n2.log"))
    [told] = convicted_by_watchdogs([suspected], [*facts], logs)
    return told.data["verdict"], told.place.ranks


def outcome(suspected: Fact, *ranks: int) -> Value:
    return found(suspected, [*dumps(), *gave_up(*ranks)])[0]


@pytest.mark.parametrize("suspects", [(5,), (1, 5)])
def test_a_rank_whose_watchdog_alone_said_nothing_never_came(suspects: tuple[int, ...]) -> None:
    others = [rank for rank in RANKS if rank not in suspects]
    assert found(in_doubt(*suspects), [*dumps(), *gave_up(*others)]) == ("rank-missing", suspects)


def test_what_is_said_of_it_is_made_of_fields() -> None:
    suspected = in_doubt(5)
    [told] = convicted_by_watchdogs([suspected], [*dumps(), *gave_up(*OTHERS)], (source("n1.log"), source("n2.log")))
    assert "rank 5 never issued all_reduce of tp (number 7" in str(told.data["description"])
    assert "no completion" not in str(told.data["description"])


def test_where_it_gave_up_too_or_another_one_was_silent_nobody_is_convicted() -> None:
    assert outcome(in_doubt(5), *RANKS) == "undecided"
    assert outcome(in_doubt(5), *OTHERS[1:]) == "undecided"
    assert outcome(in_doubt(5, 6, 7), 0, 1, 2, 3, 4) == "undecided"  # three of eight: any of them


def test_the_silence_of_a_rank_proves_something_only_where_its_log_is_there() -> None:
    alone: dict[int, str | None] = {**HOSTS, 5: "n3"}
    assert found(in_doubt(5), [*dumps(alone), *gave_up(*OTHERS, hosts=alone)])[0] == "undecided"


def test_logs_of_neighbours_do_not_stand_in_for_its_own() -> None:
    own = [about("hang-report", rank, HOSTS[rank], log=f"r{rank}", what="watchdog", own=True) for rank in OTHERS]
    logs = [source(f"r{rank}", rank=rank, host=HOSTS[rank]) for rank in RANKS]
    assert found(in_doubt(5), [*dumps(), *own], *logs)[0] == "rank-missing"
    assert found(in_doubt(5), [*dumps(), *own], *(log for log in logs if log.id != "r5"))[0] == "undecided"


def test_one_neighbour_alone_makes_no_log_of_several_ranks() -> None:
    hosts: dict[int, str | None] = {rank: "n2" if rank in (4, 5) else "n1" for rank in RANKS}
    assert found(in_doubt(5), [*dumps(hosts), *gave_up(*OTHERS, hosts=hosts)])[0] == "undecided"


def test_whoever_speaks_in_the_log_of_a_job_would_have_spoken_there() -> None:
    nowhere: dict[int, str | None] = dict.fromkeys(RANKS)
    facts = [*dumps(nowhere), *gave_up(*OTHERS, hosts=nowhere)]
    assert found(in_doubt(5), facts, source("None.log"))[0] == "undecided"
    step = about("progress", 5, None, log="None.log")
    assert found(in_doubt(5), [*facts, step], source("None.log"))[0] == "rank-missing"


@pytest.mark.parametrize("what", ["lost", "watchdog", "retry"])
def test_a_rank_that_waits_in_other_words_is_left_in_doubt(what: str) -> None:
    facts = [*dumps(), *gave_up(*OTHERS), about("hang-report", 5, "n2", what=what)]
    assert found(in_doubt(5), facts)[0] == "undecided"


def test_a_watchdog_of_nobody_may_be_its() -> None:
    assert found(in_doubt(5), [*dumps(), *gave_up(*OTHERS, None)])[0] == "undecided"


def test_to_be_asked_for_a_dump_is_no_timeout_of_ones_own() -> None:
    asked = about("hang-report", 7, "n2", log="n2.log", what="watchdog")
    assert found(in_doubt(5), [*dumps(), *gave_up(*OTHERS[:-1]), asked])[0] == "undecided"


def test_what_was_said_in_another_hang_does_not_count() -> None:
    before, after = gave_up(0, at=ISSUED - 3600), gave_up(0, at=ISSUED + 86400)
    facts = [*dumps(), *gave_up(*OTHERS[1:])]
    assert found(in_doubt(5), [*facts, *before])[0] == "undecided"
    assert found(in_doubt(5), [*facts, *after])[0] == "undecided"
    assert found(in_doubt(5), [*facts, *gave_up(0), *gave_up(5, at=ISSUED - 3600)])[0] == "rank-missing"


def test_other_verdicts_and_ranks_without_a_dump_are_left_as_they_are() -> None:
    assert outcome(in_doubt(5, verdict="transport-stall"), *OTHERS) == "transport-stall"
    assert outcome(in_doubt(5, missing=(6,)), *OTHERS) == "undecided"
