"""What ranks can only do together orders the clocks of their hosts, whatever these show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from builders import barrier, progress
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span
from neuron_doctor.engine.meetings import (
    orders_of_barriers,
    orders_of_collectives,
    orders_of_steps,
    orders_of_transfers,
)
from neuron_doctor.engine.moments import Track
from neuron_doctor.engine.offsets import Bounds, Offsets, estimate
from neuron_doctor.engine.recorder import GroupRecord, Operation, Pair

S = 10**9
START = 1_700_000_000 * S
HOSTS = ("a", "b", "c")
SKEWS = st.fixed_dictionaries({host: st.integers(-300, 300).map(lambda s: s * S) for host in HOSTS})
#: For each collective and rank: how long after the one before it is issued, how long after all have joined it is seen done.
TIMES = st.lists(
    st.tuples(*[st.tuples(st.integers(0, 3 * S), st.integers(1, S))] * 6),  # type: ignore[arg-type]
    min_size=1,
    max_size=12,
)


def operation(number: int, created: int, completed: int, name: str = "all_reduce") -> Operation:
    state = "completed" if completed else "scheduled"
    done = {"completed_ns": completed}
    return Operation(number, "collective", name, number, number, state, 8, 8, "Float", created, -1, **done)


def dump(rank: int, host: str | None, operations: list[Operation], skew: int = 0) -> Fact:
    """The dump of a rank of a world of six."""
    moved = [
        one._replace(created_ns=one.created_ns + skew, completed_ns=one.completed_ns and one.completed_ns + skew)
        for one in operations
    ]
    group = GroupRecord(
        "0", "default_pg", 0, "0-5", None, None, None, True, False, len(moved), True, False, False,
        tuple(moved), (), (), (), (),
    )  # fmt: skip
    last = moved[-1].created_ns
    data = {
        "version": "2.10", "dialect": "pickle", "entries": len(moved), "whole": True, "issued": len(moved),
        "first_ns": moved[0].created_ns, "last_ns": last, "groups": (group,),
    }  # fmt: skip
    path = f"trace_{rank}"
    return Fact("fr-rank", data, Place(rank=rank, host=host), Span(path), path, Instant(last, Clock.UTC))


def history(times: list, name: str = "all_reduce") -> dict[int, list[Operation]]:  # type: ignore[type-arg]
    """Six ranks that do collectives together, by the true time."""
    now = dict.fromkeys(range(6), START)
    done: dict[int, list[Operation]] = {rank: [] for rank in now}
    for number, of_ranks in enumerate(times):
        issued = {rank: now[rank] + wait for rank, (wait, _) in enumerate(of_ranks)}
        joined = max(issued.values())
        for rank, (_, lag) in enumerate(of_ranks):
            now[rank] = joined + lag
            done[rank].append(operation(number, issued[rank], now[rank], name))
    return done


def dumps(done: Mapping[int, list[Operation]], skews: Mapping[str, int]) -> list[Fact]:
    return [dump(rank, HOSTS[rank // 2], operations, skews[HOSTS[rank // 2]]) for rank, operations in done.items()]


def difference(found: Offsets, a: str, b: str) -> Bounds:
    return found.between(Track(a, Clock.UTC), Track(b, Clock.UTC))


@given(TIMES, SKEWS)
def test_collectives_bound_the_difference_of_any_two_hosts(times: list, skews: dict[str, int]) -> None:  # type: ignore[type-arg]
    found = estimate(orders_of_collectives(dumps(history(times), skews)))
    assert not found.contradictions
    for a in HOSTS:
        for b in HOSTS:
            low, high = difference(found, a, b)
            assert low is not None
            assert high is not None
            assert low <= skews[a] - skews[b] <= high  # a clock that is ahead has the smaller shift


def test_an_exchange_that_waits_for_nobody_orders_nothing() -> None:
    done = history([[(0, 1)] * 6] * 3, "broadcast")
    assert not list(orders_of_collectives(dumps(done, dict.fromkeys(HOSTS, 0))))


def test_a_recorder_without_completions_orders_nothing() -> None:
    done = {rank: [operation(0, START, 0)] for rank in range(6)}
    assert not list(orders_of_collectives(dumps(done, dict.fromkeys(HOSTS, 0))))


def test_ranks_of_unknown_hosts_order_nothing() -> None:
    facts = dumps(history([[(0, 1)] * 6] * 3), dict.fromkeys(HOSTS, 0))
    assert not list(orders_of_collectives([replace(fact, place=replace(fact.place, host=None)) for fact in facts]))


def test_numbers_under_which_ranks_did_different_things_order_nothing() -> None:
    facts = dumps(history([[(0, 1)] * 6]), dict.fromkeys(HOSTS, 0))
    other = dump(0, "a", [operation(0, START, START + 1, "all_gather")])
    assert not list(orders_of_collectives([other, *facts[1:]]))


# --- transfers -----------------------------------------------------------------------------------------------------


def relayed(times: list[tuple[int, int]], *, back: bool = True) -> dict[int, list[Operation]]:
    """Rank 0 sends to rank 1, which receives and (`back`) sends on, each so long after the one before it."""
    now, done = START, {0: [], 1: []}  # type: dict[int, list[Operation]]
    for number, (wait, lag) in enumerate(times):
        source = number % 2 if back else 0
        issued, arrived = now + wait, now + wait + lag
        for rank, kind in ((source, "send"), (1 - source, "recv")):
            ends = {"source": source, "target": 1 - source, "completed_ns": arrived}
            done[rank].append(Operation(number, kind, kind, number, -1, "completed", 8, 8, "Float", issued, -1, **ends))
        now = arrived
    return done


def transfer_dump(rank: int, operations: list[Operation], skew: int, *, whole: bool = True, described: int = 8) -> Fact:
    moved = [one._replace(created_ns=one.created_ns + skew, completed_ns=one.completed_ns + skew) for one in operations]
    counts = Counter((one.kind, one.source, one.target) for one in moved)
    group = GroupRecord(
        "1", "pipe", 1, "0-1", None, None, None, True, False, 0, True, False, True, (), (),
        tuple(moved[-described:]), (), tuple(Pair(*ends, times) for ends, times in counts.items()),
    )  # fmt: skip
    data = {
        "version": "2.10", "dialect": "pickle", "entries": len(moved), "whole": whole, "issued": len(moved),
        "first_ns": moved[0].created_ns, "last_ns": moved[-1].created_ns, "groups": (group,),
    }  # fmt: skip
    path = f"trace_{rank}"
    instant = Instant(moved[-1].created_ns, Clock.UTC)
    return Fact("fr-rank", data, Place(rank=rank, host=HOSTS[rank]), Span(path), path, instant)


WAITS = st.lists(st.tuples(st.integers(1, 3 * S), st.integers(1, S)), min_size=2, max_size=30)


@given(WAITS, st.integers(-300, 300), st.integers(1, 8), st.integers(1, 8))
def test_transfers_both_ways_bound_the_difference(times: list[tuple[int, int]], skew: int, a: int, b: int) -> None:
    done = relayed(times)
    facts = [transfer_dump(0, done[0], 0, described=a), transfer_dump(1, done[1], skew * S, described=b)]
    found = estimate(orders_of_transfers(facts))
    assert not found.contradictions
    low, high = difference(found, "a", "b")
    assert low is None or low <= -skew * S
    assert high is None or high >= -skew * S
    if min(a, b) > 1:
        assert low is not None or high is not None


def test_transfers_one_way_bound_it_from_one_side() -> None:
    done = relayed([(S, S)] * 4, back=False)
    low, high = difference(estimate(orders_of_transfers([transfer_dump(r, done[r], 0) for r in done])), "a", "b")
    assert (low is None) != (high is None)


def test_a_recorder_that_lost_its_beginning_numbers_no_transfers() -> None:
    done = relayed([(S, S)] * 4)
    facts = [transfer_dump(0, done[0], 0, whole=False), transfer_dump(1, done[1], 0)]
    assert not list(orders_of_transfers(facts))


# --- barriers ------------------------------------------------------------------------------------------------------


def barriers(lags: list[tuple[float, float]], skews: list[int], job: str | None = None) -> list[Fact]:
    """Ranks that come to a barrier so late, and leave it so long after the last came; the clock of each is off."""
    opened = 1000 + max(late for late, _ in lags)
    came = [barrier("came", r, at=1000 + late + skews[r], host=HOSTS[r], job=job) for r, (late, _) in enumerate(lags)]
    passed = [
        barrier("passed", r, at=opened + lag + skews[r], host=HOSTS[r], size=len(lags), job=job)
        for r, (_, lag) in enumerate(lags)
    ]
    return [*came, *passed]


LAGS = st.lists(st.tuples(st.floats(0, 60), st.floats(0, 5)), min_size=3, max_size=3)


@given(LAGS, st.lists(st.integers(-900, 900), min_size=3, max_size=3))
def test_barriers_bound_the_difference_of_any_two_hosts(lags: list[tuple[float, float]], skews: list[int]) -> None:
    found = estimate(orders_of_barriers(barriers(lags, skews)))
    assert not found.contradictions
    for a in range(3):
        for b in range(3):
            low, high = difference(found, HOSTS[a], HOSTS[b])
            assert low is not None
            assert high is not None
            assert low <= (skews[a] - skews[b]) * S <= high


def test_a_barrier_of_which_a_rank_is_not_here_orders_nothing() -> None:
    whole = barriers([(0, 1)] * 3, [0] * 3)
    assert list(orders_of_barriers(whole))
    assert not list(orders_of_barriers([fact for fact in whole if fact.place.rank != 1]))


def test_a_name_that_is_used_again_orders_nothing() -> None:
    again = barrier("came", 0, at=5000, host="a")
    assert not list(orders_of_barriers([*barriers([(0, 1)] * 3, [0] * 3), again]))


def test_barriers_of_two_jobs_are_two() -> None:
    facts = [*barriers([(0, 1)] * 3, [0] * 3, job="7"), *barriers([(500, 1)] * 3, [0] * 3, job="8")]
    assert len(list(orders_of_barriers(facts))) == 12


# --- steps ---------------------------------------------------------------------------------------------------------


def stepped(rank: int, step: float, at: float, attempt: int | None = None) -> Fact:
    fact = progress(at=at, rank=rank, host=HOSTS[rank], attempt=attempt, offset=int(step))
    return replace(fact, data={"what": "step", "value": float(step)})


def world(size: int) -> Fact:
    return Fact("world", {"size": size}, Place(), Span("w"), "w")


def ended(skew: float, *, ranks: int = 2, last: int = 6) -> list[Fact]:
    """The ends of steps, ten seconds apart, of ranks whose clocks are so much apart."""
    return [stepped(rank, step, 1000 + 10 * step + skew * rank) for rank in range(ranks) for step in range(1, last)]


@given(st.integers(-10_000, 10_000), st.integers(2, 3), st.floats(0, 9))
def test_steps_bound_the_difference_of_hosts(skew: int, ranks: int, lag: float) -> None:
    facts = [stepped(rank, s, 1000 + 10 * s + (skew + lag) * rank) for rank in range(ranks) for s in range(1, 8)]
    low, high = estimate(orders_of_steps([*facts, world(ranks)])).between(
        Track("a", Clock.HOST_LOCAL), Track("b", Clock.HOST_LOCAL)
    )
    assert low is not None
    assert high is not None
    assert low <= -skew * S <= high
    assert high - low <= 41 * S


def test_ranks_that_end_at_different_steps_are_not_synchronous() -> None:
    assert not list(orders_of_steps([*ended(0), stepped(1, 9, 2000), world(2)]))


def test_without_a_job_that_both_are_of_steps_prove_nothing() -> None:
    assert not list(orders_of_steps(ended(0)))


def test_a_rank_that_took_a_step_twice_was_started_again() -> None:
    assert not list(orders_of_steps([*ended(0), stepped(0, 2, 5000), world(2)]))


def test_attempts_are_kept_apart() -> None:
    first = [stepped(0, step, 10 * step, attempt=0) for step in range(1, 6)]
    second = [stepped(1, step, 10 * step, attempt=1) for step in range(1, 6)]
    assert not list(orders_of_steps([*first, *second, world(2)]))
