"""Whatever the clocks show, the true difference of two of them lies in the interval that is estimated."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.facts import Clock
from neuron_doctor.engine.moments import Track
from neuron_doctor.engine.offsets import Bounds, Offsets, estimate
from neuron_doctor.engine.orders import Hub, Order

S = 10**9
HOUR = 3600 * S
A, B, C = (Track(name, Clock.UTC) for name in "abc")
BOOT = Track("a", Clock.BOOT)
TRACKS = (A, B, C, BOOT)

shifts = st.fixed_dictionaries({track: st.integers(-(10**6) * HOUR, 10**6 * HOUR) for track in TRACKS})
#: Pairs of events at true times: the first came no later than the second, but for the slack.
pair = st.tuples(
    st.sampled_from(TRACKS), st.sampled_from(TRACKS), st.integers(0, HOUR), st.integers(0, HOUR), st.integers(0, S)
)
meeting = st.tuples(
    st.integers(0, HOUR), st.lists(st.tuples(st.sampled_from(TRACKS), st.integers(0, S), st.integers(0, S)))
)


def between(first: Track, at: int, then: Track, later: int, shift: dict[Track, int], slack: int = 0) -> Order:
    """An order between events at true times."""
    return Order(first, at - shift[first], then, later - shift[then], slack, "test")


def orders_of(pairs: list, meetings: list, shift: dict[Track, int]) -> list[Order]:  # type: ignore[type-arg]
    orders = [
        between(first, at + slack, then, at + lag, shift, slack)
        for first, then, at, lag, slack in pairs
        if first != then
    ]
    for number, (at, members) in enumerate(meetings):
        hub = Hub((number,))
        for track, before, after in members:
            orders.append(Order(track, at - before - shift[track], hub, 0, 0, "meeting"))
            orders.append(Order(hub, 0, track, at + after - shift[track], 0, "meeting"))
    return orders


@given(shifts, st.lists(pair), st.lists(meeting, max_size=4))
def test_the_true_difference_lies_in_the_interval(shift: dict[Track, int], pairs: list, meetings: list) -> None:  # type: ignore[type-arg]
    found = estimate(orders_of(pairs, meetings, shift))
    assert not found.contradictions
    for a in TRACKS:
        for b in TRACKS:
            low, high = found.between(a, b)
            assert low is None or low <= shift[b] - shift[a]
            assert high is None or shift[b] - shift[a] <= high


@given(shifts, st.lists(pair), st.lists(meeting, max_size=4), st.randoms())
def test_the_order_of_the_evidence_changes_nothing(
    shift: dict[Track, int],
    pairs: list,  # type: ignore[type-arg]
    meetings: list,  # type: ignore[type-arg]
    chance: random.Random,
) -> None:
    orders = orders_of(pairs, meetings, shift)
    assert estimate(chance.sample(orders, len(orders))) == estimate(orders)


@given(shifts, shifts, st.lists(pair))
def test_the_intervals_move_with_the_clocks(shift: dict[Track, int], other: dict[Track, int], pairs: list) -> None:  # type: ignore[type-arg]
    a, b = (estimate(orders_of(pairs, [], one)) for one in (shift, other))
    for one in TRACKS:
        for two in TRACKS:
            moved = (other[two] - other[one]) - (shift[two] - shift[one])
            assert b.between(one, two) == Bounds(*(None if x is None else x + moved for x in a.between(one, two)))


def test_one_meeting_bounds_both_sides() -> None:
    hub = Hub(("all_reduce",))
    orders = [
        Order(A, 0, hub, 0, 0, "x"),
        Order(B, 100, hub, 0, 0, "x"),
        Order(hub, 0, A, 5, 0, "x"),
        Order(hub, 0, B, 107, 0, "x"),
    ]
    assert estimate(orders).between(A, B) == Bounds(-107, -95)


def test_a_chain_of_hosts_bounds_its_ends() -> None:
    orders = [
        Order(A, 0, B, 10, 0, "x"),
        Order(B, 10, A, 0, 2, "x"),
        Order(B, 0, C, 5, 0, "x"),
        Order(C, 5, B, 0, 3, "x"),
    ]
    low, high = estimate(orders).between(A, C)
    assert low is not None
    assert high is not None
    assert low <= -15 <= high
    assert high - low <= 5


def test_clocks_that_nothing_joins_are_not_compared() -> None:
    found = estimate([Order(A, 0, B, 10, 0, "x")])
    assert found.between(A, C) == Bounds(None, None)
    assert found.between(A, B) == Bounds(-10, None)


def test_a_contradiction_between_hosts_leaves_what_each_host_knows_of_itself() -> None:
    own = [Order(A, 0, BOOT, 10, 0, "own"), Order(BOOT, 10, A, 0, 4, "own")]
    torn = [Order(A, 0, B, 10, 0, "x"), Order(B, 20, A, 0, 0, "x")]
    found = estimate([*own, *torn])
    assert found.between(A, B) == Bounds(None, None)
    assert found.between(A, BOOT) == Bounds(-10, -6)
    assert [one.tracks for one in found.contradictions] == [(A, B, BOOT)]


def test_a_host_whose_own_clocks_contradict_each_other_is_left_out_alone() -> None:
    wrong = [Order(A, 0, BOOT, 10, 0, "x"), Order(BOOT, 20, A, 0, 0, "x"), Order(A, 0, B, 10, 0, "x")]
    found = estimate([*wrong, Order(B, 0, C, 1, 0, "x")])
    assert found.between(A, BOOT) == found.between(A, B) == Bounds(None, None)
    assert found.between(B, C) == Bounds(-1, None)


def test_what_was_long_before_is_less_sure() -> None:
    found = estimate([Order(BOOT, 400_000 * S, A, 400_000 * S, 0, "x")])
    assert found.drift(BOOT, 400_000 * S) == 0
    assert found.drift(BOOT, 0) == 80 * S


@pytest.mark.parametrize("wrong", [False, True])
def test_a_thousand_hosts_take_seconds(wrong: bool) -> None:
    hosts = [Track(f"h{number}", Clock.UTC) for number in range(1000)]
    orders = [
        order
        for meeting in range(16)
        for host in hosts
        for order in (
            Order(host, meeting * S, Hub((meeting,)), 0, 0, "x"),
            Order(Hub((meeting,)), 0, host, meeting * S + 5, 0, "x"),
        )
    ]
    found: Offsets = estimate([*orders, *([Order(hosts[0], 10 * S, hosts[1], 0, 0, "x")] if wrong else [])])
    assert bool(found.contradictions) is wrong
    assert found.between(hosts[3], hosts[700]) == (Bounds(None, None) if wrong else Bounds(-10, 10))


def test_events_whose_clocks_all_contradict_themselves_leave_no_clock_behind() -> None:
    """A chain of steps joins events of which no clock that counts tells any more."""
    torn = [Order(A, 0, BOOT, 0, 0, "test"), Order(BOOT, HOUR, A, 0, 0, "test")]
    chain = [Order(A, 0, Hub(("step", 1)), 0, 0, "test"), Order(Hub(("step", 1)), 0, Hub(("step", 2)), 0, 0, "test")]
    found = estimate([*torn, *chain])
    assert found.contradictions
    assert found.between(A, BOOT) == Bounds(None, None)
