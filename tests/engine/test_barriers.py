"""Who never came to a barrier is known by elimination, or it is said that it is not."""

from __future__ import annotations

from builders import barrier, progress
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.barriers import absences
from neuron_doctor.engine.facts import Fact, Span


def held(ranks: set[int], size: int, joined: int) -> list[Fact]:
    return [barrier("gave-up", rank, at=1800, size=size, joined=joined) for rank in sorted(ranks)]


@given(st.integers(2, 64), st.data())
def test_those_who_are_not_among_all_that_joined_never_came(size: int, data: st.DataObject) -> None:
    came = data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=size - 1))
    [found] = absences(data.draw(st.permutations(held(came, size, len(came)))), size)
    assert found.data["culprits"] == tuple(sorted(set(range(size)) - came))
    assert found.data["waiting"] == tuple(sorted(came))


@given(st.integers(3, 64), st.data())
def test_where_one_that_joined_is_not_here_nobody_is_blamed(size: int, data: st.DataObject) -> None:
    came = data.draw(st.sets(st.integers(0, size - 1), min_size=2, max_size=size - 1))
    [found] = absences(held(came - {min(came)}, size, len(came)), size)
    assert found.data["culprits"] == ()
    assert set(found.data["missing_dumps"]) == set(range(size)) - came | {min(came)}  # type: ignore[arg-type]


def test_a_rank_that_went_on_is_not_held() -> None:
    facts = [*held({0, 1, 2}, 4, 3), progress(at=1900, offset=1900, source="rank0", rank=0)]
    on = [progress(at=1900, offset=1900, source=f"rank{rank}", rank=rank) for rank in range(3)]
    assert absences(facts[:3], 4)
    assert not [fact for fact in absences([*facts, *on], 4) if fact.data["culprits"]]


def test_a_barrier_of_other_ranks_than_those_of_the_job_proves_nothing() -> None:
    assert not absences(held({0, 1, 2}, 4, 3), 8)
    assert not absences(held({0, 1, 2}, 4, 3), None)


def test_a_barrier_that_counted_more_than_there_are_proves_nothing() -> None:
    assert not absences(held({0, 1, 2}, 4, 5), 4)


def test_a_rank_that_another_log_shows_further_on_is_not_held() -> None:
    facts = held({0, 1, 2}, 4, 3)
    on = [replace(fact, source="tee", data={**fact.data, "phase": "passed"}) for fact in facts]
    assert absences(facts, 4)[0].data["culprits"] == (3,)
    assert not absences([*facts, *on], 4)
    cut = [replace(fact, source="tee", data={**fact.data, "phase": "came"}) for fact in facts]
    assert absences([*facts, *cut], 4)[0].data["culprits"] == (3,)


def test_the_last_attempt_decides() -> None:
    def attempt(number: int, came: set[int], phase: str) -> list[Fact]:
        return [
            replace(
                barrier(phase, rank, at=100, size=4, joined=len(came), attempt=number),
                source=f"{9 - number}",
                span=Span(f"{9 - number}/rank{rank}", 100, 10),
            )
            for rank in came
        ]

    [found] = absences([*attempt(0, {0, 1, 2}, "gave-up"), *attempt(1, {1, 2, 3}, "gave-up")], 4)
    assert found.data["culprits"] == (0,)
    assert not absences([*attempt(0, {0, 1, 2}, "gave-up"), *attempt(1, {0, 1, 2, 3}, "passed")], 4)
