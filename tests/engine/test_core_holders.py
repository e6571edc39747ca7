"""Who held the cores that another process was refused: by the driver, the kernel log, another log; nobody where it is open."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.core_holders import core_holders
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span, Value

S = 10**9


def fact(
    kind: str, pid: int | None, at: float | None, *, host: str | None = "a", source: str = "log", **data: Value
) -> Fact:
    clock = Clock.BOOT if source == "dmesg" else Clock.HOST_LOCAL
    instant = None if at is None else Instant(round(at * S), clock)
    offset = round((at or 0) * 10)
    return Fact(kind, data, Place(host=host, pid=pid), Span(source, offset, 9, 1, 1, kind), source, instant)


def refused(pid: int = 500, at: float = 10_000, host: str | None = "a", **data: Value) -> Fact:
    return fact("hit", pid, at, host=host, source=f"run{host}", pattern="p", refused="cores", **data)


def kernel(kind: str, pid: int, at: float, *, host: str = "a", line: float | None = None) -> Fact:
    """A line of the kernel log, at `at` seconds since the boot; further lines stand further down, as `line` may say."""
    told = fact(kind, pid, at, host=host, source="dmesg")
    return told if line is None else replace(told, span=replace(told.span, offset=round(line * 10)))


def found(*facts: Fact) -> list[tuple[int | None, str]]:
    return [(one.place.pid, str(one.data["description"])) for one in core_holders(facts)]


def test_the_driver_names_it_and_the_process_table_describes_it() -> None:
    table = fact("process", 9, None, host=None, source="ps", command="serve.py", started="Mon")
    assert found(refused(holder=9, pid=9), table) == [
        (9, "process 9 (serve.py), started Mon, holds devices: the driver names it")
    ]


def test_who_opened_a_device_long_before_the_others_and_has_not_closed_it() -> None:
    opened = [kernel("attach", 7, 100), kernel("attach", 500, 9000), kernel("attach", 501, 9001)]
    assert [pid for pid, _ in found(refused(), *opened)] == [7]
    assert found(refused(), *opened, kernel("detach", 7, 8000)) == []


def test_ranks_that_open_their_devices_together_hold_nothing_from_one_another() -> None:
    assert found(refused(), *(kernel("attach", pid, 9000 + pid / 10) for pid in range(500, 516))) == []


def test_what_was_opened_before_the_host_was_booted_anew_is_closed() -> None:
    facts = (kernel("attach", 7, 100), kernel("attach", 8, 50, line=2000), kernel("attach", 500, 9000, line=9000))
    assert [pid for pid, _ in found(refused(), *facts)] == [8]


def test_another_log_that_goes_on_names_its_process_if_it_is_the_only_one() -> None:
    serving = [fact("version", 7, 100, source="serve"), fact("version", 7, 11_000, source="serve")]
    assert found(refused(), *serving) == [(7, "process 7 holds devices: its own log goes on")]
    ended, late = serving[:1], [fact("version", 7, 9_990, source="serve"), serving[1]]
    other = [fact("version", 8, 100, source="b"), fact("version", 8, 11_000, source="b")]
    assert found(refused(), *ended) == found(refused(), *late) == found(refused(), *serving, *other) == []


@pytest.mark.parametrize(
    "spoiled",
    [
        [fact("device-user", 7, None, source="neuron-ls")],
        [],
    ],
    ids=["neuron-ls tells", "nobody was refused"],
)
def test_where_neuron_ls_tells_or_nobody_was_refused_nothing_is_said(spoiled: list[Fact]) -> None:
    opened = [kernel("attach", 7, 100), kernel("attach", 500, 9000)]
    assert found(*opened, *([refused(), *spoiled] if spoiled else [])) == []


def test_hosts_are_apart() -> None:
    other = [kernel("attach", 7, 100, host="b"), kernel("attach", 8, 9000, host="b")]
    assert found(refused(), *other) == []


EVENTS = st.lists(
    st.tuples(st.sampled_from(["attach", "detach"]), st.integers(1, 6), st.integers(0, 20_000)), max_size=12
)


@given(EVENTS, st.randoms(use_true_random=False))
def test_the_order_of_facts_changes_nothing_and_the_refused_is_never_named(
    events: list[tuple[str, int, int]], draw: random.Random
) -> None:
    facts = [refused(pid=3), *(kernel(kind, pid, at) for kind, pid, at in dict.fromkeys(events))]
    shuffled = draw.sample(facts, len(facts))
    assert sorted(found(*facts)) == sorted(found(*shuffled))
    assert 3 not in {pid for pid, _ in found(*facts)}
