"""Ranks that a recorder without completions leaves in doubt: convicted where all watchdogs but theirs gave up."""

from __future__ import annotations

import pytest
from builders import source

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.recorder import told_of_collective
from neuron_doctor.engine.watchdogs import convicted_by_watchdogs

RANKS = range(8)
HOSTS = {rank: "n1" if rank < 4 else "n2" for rank in RANKS}


def about(kind: str, rank: int, host: str | None, **data: str) -> Fact:
    return Fact(kind, dict(data), Place(rank=rank, host=host), Span(f"{kind}{rank}"), f"{kind}{rank}")


def in_doubt(*suspects: int, verdict: str = "undecided", missing: tuple[int, ...] = ()) -> Fact:
    told = "never issued all_reduce of tp; no completion is recorded, so the wait may be in what it issued last"
    waiting = tuple(rank for rank in RANKS if rank not in suspects)
    said = {"operation": "all_reduce", "ordinal": 7, "members": suspects, "waiting": waiting, "missing_dumps": missing}
    data = told_of_collective(verdict, told, witness="recorder", **said)  # type: ignore[arg-type]
    return Fact("collective", data, Place(group="tp"), Span("d"), "d")


def outcome(suspected: Fact, *gave_up: int, hosts: dict[int, str | None] | None = None) -> tuple[object, object]:
    dumps = [about("fr-rank", rank, (hosts or HOSTS)[rank]) for rank in RANKS]
    reports = [about("hang-report", rank, (hosts or HOSTS)[rank], what="watchdog") for rank in gave_up]
    [found] = convicted_by_watchdogs([suspected], [*dumps, *reports], (source("n1.log"), source("n2.log")))
    return found.data["verdict"], found.place.ranks


@pytest.mark.parametrize("suspects", [(5,), (1, 5)])
def test_a_rank_whose_watchdog_alone_said_nothing_never_came(suspects: tuple[int, ...]) -> None:
    others = [rank for rank in RANKS if rank not in suspects]
    assert outcome(in_doubt(*suspects), *others) == ("rank-missing", suspects)


def test_where_it_gave_up_too_or_another_one_was_silent_nobody_is_convicted() -> None:
    others = [rank for rank in RANKS if rank != 5]
    assert outcome(in_doubt(5), *RANKS)[0] == "undecided"
    assert outcome(in_doubt(5), *others[1:])[0] == "undecided"
    assert outcome(in_doubt(5, 6, 7), 0, 1, 2, 3, 4)[0] == "undecided"  # three of eight: any of them


def test_the_silence_of_a_rank_proves_something_only_where_its_log_is_there() -> None:
    others = [rank for rank in RANKS if rank != 5]
    alone: dict[int, str | None] = {**HOSTS, 5: "n3"}
    assert outcome(in_doubt(5), *others, hosts=alone)[0] == "undecided"


def test_other_verdicts_and_ranks_without_a_dump_are_left_as_they_are() -> None:
    others = [rank for rank in RANKS if rank != 5]
    assert outcome(in_doubt(5, verdict="transport-stall"), *others)[0] == "transport-stall"
    assert outcome(in_doubt(5, missing=(6,)), *others)[0] == "undecided"
