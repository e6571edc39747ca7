"""The rank that its peers wait for by the logs of their steps: all of the proof must be there, and noise convicts nobody."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.slow_ranks import slow_ranks


def told(rank: int, work: float, wait: float, **more: object) -> Fact:
    data = {"form": "f", "first": 100, "step": 170, "lines": 8, "work": work, "wait": wait, **more}
    place = Place(rank=rank, attempt=data.pop("attempt", None))  # type: ignore[arg-type]
    return Fact("step-time", data, place, Span(f"r{rank}", 0, 10, 1, 1, "x"), f"r{rank}")  # type: ignore[arg-type]


def job(*slow: int, ranks: int = 8) -> list[Fact]:
    return [told(rank, 1900, 10) if rank in slow else told(rank, 700, 1210) for rank in range(ranks)]


def slow(facts: list[Fact]) -> list[int | None]:
    return [fact.place.rank for fact in slow_ranks(facts)]


def test_the_one_that_works_long_and_waits_for_nobody_is_it() -> None:
    [found] = slow_ranks(job(5))
    assert found.place.rank == 5
    assert found.data == {"times": 2.71, "peers": 7, "share": 0.63, "step": 170}
    assert slow(job(4, 5)) == [4, 5]


def test_a_third_of_the_ranks_are_no_exception_and_three_ranks_are_too_few() -> None:
    assert slow(job(4, 5, 6)) == []
    assert slow(job(1, ranks=3)) == []


def test_without_work_the_rest_of_the_step_is_it() -> None:
    facts = [told(rank, 0, 10 if rank == 2 else 1210, total=1910) for rank in range(6)]
    for fact in facts:
        del fact.data["work"]  # type: ignore[attr-defined]
    assert slow(facts) == [2]


def of_host(fact: Fact, host: str) -> Fact:
    return replace(fact, place=Place(host=host))


def test_where_one_log_of_each_host_tells_of_steps_hosts_are_compared() -> None:
    logs = [of_host(fact, f"w{number}") for number, fact in enumerate(job(2, ranks=4))]
    assert [fact.place.host for fact in slow_ranks(logs)] == ["w2"]
    assert slow_ranks(logs[:3]) == []
    assert slow_ranks([*logs[:3], replace(logs[3], place=Place(host="w3", pid=7))]) == []
    # of which rank each of two logs of a host tells, nobody knows
    assert slow_ranks([*logs, *(of_host(told(9, *times), "w2") for times in ((700, 1210), (1900, 10)))]) == []


def test_one_peer_that_does_not_wait_and_one_whose_steps_are_of_another_length_acquit() -> None:
    assert slow([*job(5), told(9, 700, 20)]) == []
    assert slow([*job(5), told(9, 700, 2500)]) == []


def test_what_was_before_the_last_attempt_or_before_the_last_steps_does_not_count() -> None:
    before = [told(rank, 1900 if rank == 5 else 700, 10 if rank == 5 else 1210, attempt=0) for rank in range(8)]
    after = [told(rank, 700, 20, attempt=1, step=300, first=200) for rank in range(8)]
    assert slow(before) == [5]
    assert slow([*before, *after]) == []
    assert slow([told(5, 1900, 10, first=10, step=90), *(one for one in job(5) if one.place.rank != 5)]) == []
    assert slow([told(5, 1900, 10, lines=3), *(one for one in job(5) if one.place.rank != 5)]) == []


@given(st.lists(st.tuples(st.floats(600, 800), st.floats(0, 200)), min_size=4, max_size=40))
def test_ordinary_noise_convicts_nobody(times: list[tuple[float, float]]) -> None:
    assert slow([told(rank, work, wait) for rank, (work, wait) in enumerate(times)]) == []


@given(st.permutations(job(5)))
def test_the_order_of_facts_changes_nothing(facts: list[Fact]) -> None:
    assert slow(facts) == [5]
