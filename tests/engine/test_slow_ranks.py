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
    assert found.data == {"part": "own", "times": 2.71, "peers": 7, "share": 0.63, "step": 170}
    assert slow(job(4, 5)) == [4, 5]


def test_a_third_of_the_ranks_are_no_exception_and_three_ranks_are_too_few() -> None:
    assert slow(job(4, 5, 6)) == []
    assert slow(job(1, ranks=3)) == []


def test_of_eight_ranks_whose_waits_prove_it_one_that_works_somewhat_longer_is_it() -> None:
    def lasting(work: float, *late: int, ranks: int = 8) -> list[Fact]:
        return [told(r, work, 1240 - work) if r in late else told(r, 850, 390) for r in range(ranks)]

    assert slow(lasting(1210, 5)) == [5]
    assert slow(lasting(1210, 5, ranks=7)) == []
    assert slow(lasting(1210, 3, 7)) == [], "two may be the last stage of a pipeline, which has more to do"
    assert slow(lasting(1000, 5)) == [], "nobody waits long enough for it"
    assert slow([*lasting(1210, 5), told(9, 850, 30)]) == [], "not all of them wait"


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


def parted(rank: int, data: float, work: float, total: float, **place: object) -> Fact:
    fact = told(rank, work, 0, data=data, total=total)
    del fact.data["wait"]  # type: ignore[attr-defined]
    return replace(fact, place=Place(rank=rank, **place))  # type: ignore[arg-type]


def test_where_no_wait_is_told_the_one_that_loads_its_data_long_is_it_and_not_those_that_wait_within_their_work() -> (
    None
):
    facts = [parted(rank, 4.6, 2.1, 6.9) if rank == 32 else parted(rank, 0.03, 7.0, 7.1) for rank in (0, 16, 32, 48)]
    [found] = slow_ranks(facts)
    assert (found.place.rank, found.data["part"], found.data["share"]) == (32, "data", 0.67)


def test_where_no_wait_is_told_the_one_that_works_long_is_it_and_not_those_that_wait_for_their_next_data() -> None:
    facts = [parted(rank, 0.1, 6.5, 6.8) if rank == 5 else parted(rank, 4.4, 2.2, 6.8) for rank in range(8)]
    [found] = slow_ranks(facts)
    assert (found.place.rank, found.data["part"]) == (5, "work")


def test_data_that_take_long_on_all_or_make_no_step_longer_convict_nobody() -> None:
    assert slow([parted(rank, 4.6, 2.1, 6.9) for rank in range(8)]) == []
    assert slow([parted(rank, 0.3 if rank == 5 else 0.03, 2.1, 2.4) for rank in range(8)]) == []
    # its step alone is longer: they do not meet
    assert slow([parted(rank, 4.6 if rank == 5 else 0.03, 2.1, 6.9 if rank == 5 else 2.3) for rank in range(8)]) == []


def on_hosts(slow_host: str, hosts: int, ranks: int = 4) -> list[Fact]:
    places = [(f"h{rank // ranks}", rank) for rank in range(hosts * ranks)]
    times = {True: (1900.0, 10.0), False: (700.0, 1210.0)}
    return [replace(told(rank, *times[host == slow_host]), place=Place(rank=rank, host=host)) for host, rank in places]


def test_all_ranks_of_one_host_of_three_are_it_and_of_one_of_two_are_not() -> None:
    assert slow(on_hosts("h1", 3)) == [4, 5, 6, 7]
    assert slow(on_hosts("h1", 2)) == []
    # one of them works on another host: that the host is slow is not told
    apart = [
        replace(fact, place=Place(rank=7, host="h2")) if fact.place.rank == 7 else fact for fact in on_hosts("h1", 3)
    ]
    assert slow(apart) == []
