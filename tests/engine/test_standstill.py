"""A job that stands still without an error: what its logs, its stacks and the services that it asks say, and what they do not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.facts import NOWHERE, Clock, Fact, Instant, Place, Source, Span
from neuron_doctor.engine.standstill import refusals, stacks_outside, standstills

S = 10**9


def at(seconds: int, clock: Clock = Clock.UTC) -> Instant:
    return Instant(seconds * S, clock)


def fact(
    kind: str, source: str, place: Place = NOWHERE, seconds: int | None = None, line: int = 1, **data: object
) -> Fact:
    instant = None if seconds is None else at(seconds)
    return Fact(kind, data, place, Span(source, 10 * line, 5, line, 1, f"{line}"), source, instant)  # type: ignore[arg-type]


def log(name: str, last: int) -> Source:
    return Source(id=name, path=name, kind="log", place=NOWHERE, first=at(0), last=at(last))


def step(source: str, seconds: int, **more: object) -> Fact:
    return fact("progress", source, seconds=seconds, what="step", value=9.0, **more)


def stack(rank: int, *stands: str) -> list[Fact]:
    told = ("somewhere", *stands)
    return [fact("stack", f"r{rank}", Place(rank=rank), line=n, stands=one) for n, one in enumerate(told)]


def told(facts: list[Fact], *sources: Source) -> list[tuple[object, object]]:
    return [(one.data["told_by"], one.data["seconds"]) for one in standstills(facts, sources)]


def test_a_log_that_goes_on_without_a_step_tells_for_how_long() -> None:
    assert told([step("a", 100)], log("a", 800)) == [("log", 700)]
    assert told([step("a", 100)], log("a", 300)) == []


def test_a_later_step_of_another_log_or_the_end_of_the_work_says_that_it_does_not_stand() -> None:
    assert told([step("a", 100), step("b", 700)], log("a", 800), log("b", 700)) == []
    assert told([step("a", 100), fact("completion", "a")], log("a", 800)) == []


def test_a_server_that_nobody_asks_does_not_stand() -> None:
    assert told([step("a", 100, served=True)], log("a", 8000)) == []


def test_a_log_on_another_clock_than_its_steps_tells_nothing() -> None:
    other = replace(log("a", 800), last=at(800, Clock.HOST_LOCAL))
    assert told([step("a", 100)], other) == []


def test_words_count_until_the_next_step() -> None:
    words = [
        fact("no-step", "a", seconds=700, line=5, waited_s=600),
        fact("no-step", "a", seconds=400, line=4, waited_s=300),
    ]
    assert told(words, log("a", 700)) == [("words", 600)]
    assert told([*words, step("b", 100)], log("a", 700), log("b", 100)) == [("words", 600)]
    assert told([*words, step("b", 720)], log("a", 700), log("b", 720)) == []
    later = replace(step("a", 0), instant=None, span=Span("a", 90, 5, 9, 1, "x"))
    assert told([*words, later], log("a", 700)) == [
        ("words", 600)
    ]  # a step without a time is in no order with the rest


def outside(*stacks: list[Fact]) -> list[tuple[object, object, object]]:
    facts = [one for of_rank in stacks for one in of_rank]
    return [(one.data["known"], one.data["outside"], one.data["stands"]) for one in stacks_outside(facts)]


def test_all_stand_outside_of_collectives() -> None:
    assert outside(*(stack(rank, "data loader") for rank in range(8))) == [(8, 8, "data loader")]
    assert outside(stack(0, "storage"), *(stack(rank, "store") for rank in range(1, 8))) == [(8, 8, "store")]


def test_one_that_waits_in_a_collective_or_compiles_may_be_whom_the_others_wait_for() -> None:
    loading = [stack(rank, "data loader") for rank in range(8)]
    assert outside(*loading, stack(8, "collective")) == []
    assert outside(*loading, stack(8, "compiler")) == []
    # a checkpoint that is written together waits in a collective within it
    assert outside(*loading, stack(8, "storage", "collective")) == []


def test_one_stack_alone_and_stacks_of_which_many_tell_nothing_are_too_little() -> None:
    assert outside(stack(0, "data loader")) == []
    assert outside(*(stack(rank, "data loader") for rank in range(2)), stack(2), stack(3)) == []
    assert outside(*(stack(rank, "data loader") for rank in range(3)), stack(3)) == [(4, 3, "data loader")]


def test_processes_without_a_rank_are_told_apart_by_host_and_number() -> None:
    facts = [
        fact("stack", host, Place(host=host, pid=310), stands=one)
        for host in ("a", "b")
        for one in ("somewhere", "lock")
    ]
    assert outside(facts) == [(2, 2, "lock")]
    assert outside([replace(one, place=NOWHERE) for one in facts]) == []


def test_refusals_are_counted_for_each_service_and_are_at_no_place() -> None:
    told = [fact("refusal", f"r{rank}", Place(rank=rank, host=f"h{rank % 2}"), service="S3") for rank in range(3)]
    [found] = refusals([replace(told[0], repeats=4), *told[1:]])
    assert (found.data["times"], found.data["ranks"], found.data["hosts"], found.place) == (7, 3, 2, NOWHERE)


@given(st.permutations([*stack(0, "data loader"), *stack(1, "storage"), *stack(2, "data loader")]))
def test_the_order_of_stacks_changes_nothing(facts: list[Fact]) -> None:
    assert outside(facts) == [(3, 3, "data loader")]
    assert list(stacks_outside(facts)) == list(
        stacks_outside(sorted(facts, key=lambda one: (one.source, one.span.offset)))
    )


def core(number: int, *, held: int, last: float = 0, most: float = 90) -> Fact:
    data = {"name": "neuroncore_utilization", "last": last, "max": most, "held": held, "period_s": 60.0}
    return fact("level", "monitor", Place(host="a", pid=310, core=number), line=number + 1, **data)


def test_cores_that_went_idle_under_living_processes_tell_for_how_long() -> None:
    steps = step("a", 100)
    assert told([steps, core(0, held=30), core(1, held=20)], log("a", 100)) == [("monitor", 1200)]
    assert told([steps, core(0, held=30), core(1, held=2)], log("a", 100)) == []
    assert told([steps, core(0, held=30), core(1, held=20, last=90)], log("a", 100)) == []
    assert told([steps, core(0, held=30), core(1, held=20, most=0)], log("a", 100)) == []


def test_idle_cores_of_a_server_or_of_a_job_that_made_no_step_are_no_standstill() -> None:
    assert told([step("a", 100, served=True), core(0, held=30)], log("a", 100)) == []
    assert told([core(0, held=30)]) == []


def test_minutes_are_as_good_as_seconds() -> None:
    assert told([fact("no-step", "a", seconds=700, waited_min=45)], log("a", 700)) == [("words", 2700)]


def whole(*facts: Fact) -> list[object]:
    return [one.data["whole"] for one in stacks_outside(facts)]


def test_a_lock_for_which_all_ranks_of_the_world_wait_is_held_by_none_of_them() -> None:
    world = fact("world", "log", size=2)
    assert whole(*stack(0, "lock"), *stack(1, "lock"), world) == [True]
    assert whole(*stack(0, "lock"), *stack(1, "lock")) == [False]
    assert whole(*stack(0, "lock"), *stack(1, "storage"), world) == [False]
    assert whole(*stack(0, "lock"), *stack(1, "lock"), world, fact("progress", "log", Place(rank=2))) == [False]


def test_one_process_in_a_debugger_holds_up_the_others() -> None:
    assert whole(*stack(0, "lock"), *stack(1, "lock"), *stack(2, "lock"), *stack(3, "debugger")) == []


def timer(source: str, seconds: int, minutes: int = 20, line: int = 5) -> Fact:
    at_line = fact("stack-timer", source, seconds=seconds, line=line)
    return replace(at_line, data={"hours": 0, "minutes": minutes, "seconds": 0})


def test_a_timer_with_whose_stacks_all_logs_end_tells_that_no_step_was_made() -> None:
    assert told([step("a", 100), timer("a", 110), timer("b", 110)], log("a", 110), log("b", 110)) == [("timer", 1200)]
    assert told([timer("a", 110), timer("a", 110, line=9)], log("a", 110)) == [("timer", 1200)]


def test_a_timer_that_was_set_once_and_ran_out_in_a_job_that_gets_on_tells_nothing() -> None:
    assert told([timer("a", 110), timer("b", 110)], log("a", 110), log("b", 900)) == []
    assert told([timer("a", 110), step("b", 900)], log("a", 110), log("b", 900)) == []
    assert told([timer("a", 110), step("a", 120, line=9)], log("a", 120)) == []
    assert told([timer("a", 110), fact("completion", "b")], log("a", 110), log("b", 110)) == []
    assert told([timer("a", 110, minutes=2)], log("a", 110)) == []
