"""Two rounds of dumps: what waits in the second is a moment of a job that moves, where every rank went on since the first."""

from __future__ import annotations

import pytest
from fr_simulator import START_NS, Faults, Mesh, Recorder, facts_of, run
from msgspec.structs import replace
from test_snapshots import dated
from test_snapshots import verdicts as of_all

from neuron_doctor.engine.facts import Fact

MESH = Mesh(4, 2)
RECORDER = Recorder()


def dumps(
    until: int, name: str, recorder: Recorder = RECORDER, without: tuple[int, ...] = (), **faults: int
) -> list[Fact]:
    """Those of a job after so many events; `host=3`: the host of that rank stops at its 30th operation."""
    stops = {faults["host"]: 30} if faults else {}
    programs = {rank: MESH.program(rank) for rank in range(MESH.size)}
    found = facts_of(run(MESH, programs, Faults(host=stops, until=until)), recorder, without)
    return [
        replace(fact, source=f"{name}/{fact.source}", span=replace(fact.span, path=f"{name}/{fact.span.path}"))
        for fact in found
    ]


def earlier(found: list[Fact], seconds: int) -> list[Fact]:
    """The same dumps, of another time."""
    return [
        replace(fact, data={**fact.data, "last_ns": int(str(fact.data["last_ns"])) - seconds * 10**9}) for fact in found
    ]


def verdicts(*facts: Fact, dumps: list[Fact]) -> set[object]:
    """Without any log: of the dumps that are used."""
    return set(of_all(*facts, dumps=dumps, sources=())) - {"stale-dump"}


SECOND = dumps(400, "b")
WAITS = {"transport-stall"}


def test_one_round_of_these_looks_like_a_hang() -> None:
    assert verdicts(dumps=SECOND) == WAITS


def test_what_waits_in_a_second_round_since_which_all_went_on_is_a_moment_of_a_job_that_moves() -> None:
    assert verdicts(dumps=[*dumps(200, "a"), *SECOND]) == {"moving"}
    assert verdicts(dumps=[*SECOND, *dumps(200, "a")]) == {"moving"}
    assert verdicts(dated("hang-report", START_NS, what="watchdog"), dumps=[*dumps(200, "a"), *SECOND]) == WAITS


def test_rounds_that_are_alike_show_that_the_job_stands() -> None:
    assert verdicts(dumps=[*dumps(400, "a"), *SECOND]) == WAITS
    assert verdicts(dumps=[*dumps(200, "a"), *dumps(400, "c"), *SECOND]) == WAITS


def test_rounds_that_are_far_apart_are_two_moments() -> None:
    assert verdicts(dumps=[*earlier(dumps(200, "a"), 90), *SECOND]) == WAITS


def test_dumps_of_another_job_of_the_same_ranks_are_no_round_of_this_one() -> None:
    """It is as far now as this one was before."""
    other = [
        replace(fact, data={**fact.data, "last_ns": int(str(of_this.data["last_ns"])) - 1})
        for fact, of_this in zip(dumps(200, "a"), SECOND, strict=True)
    ]
    assert verdicts(dumps=[*other, *SECOND]) == WAITS


def test_a_rank_that_is_in_one_round_only_may_be_the_one_that_stands() -> None:
    assert verdicts(dumps=[*dumps(200, "a", without=(2,)), *SECOND]) == WAITS


@pytest.mark.parametrize("until", [300, 1 << 60])
def test_who_did_not_go_on_between_the_rounds_holds_the_others_up(until: int) -> None:
    stands = dumps(1 << 60, "b", host=3)
    before = dumps(until, "a", host=3)
    assert verdicts(dumps=[*before, *stands]) == {"rank-missing"}


def test_of_recorders_without_completions_two_rounds_show_no_more_than_that_hosts_issue() -> None:
    issued = Recorder(backend="gloo", completions=False)
    both = [*dumps(200, "a", issued), *dumps(400, "b", issued)]
    assert verdicts(dumps=both) == verdicts(dumps=dumps(400, "b", issued))
