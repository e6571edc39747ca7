"""Ranks with a broken device at the host on which alone this device is broken."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Span, Value
from neuron_doctor.engine.faulty_devices import at_hosts_of_their_devices
from neuron_doctor.engine.topology import survey


def made(kind: str, at: float | None = None, source: str = "log", *, data: dict[str, Value], **place: object) -> Fact:
    instant = None if at is None else Instant(round(at * 1e9), Clock.HOST_LOCAL)
    return Fact(kind, data, Place(**place), Span(source), source, instant)  # type: ignore[arg-type]


def report(rank: int, device: int = 5, code: int = 1205, **place: object) -> list[Fact]:
    text = made("hit", 1e6, data={"pattern": "broken"}, rank=rank, device=device, **place)
    return [text, made("status", 1e6, data={"api": "nrt_execute", "code": code}, rank=rank, **place)]


def kernel(host: str, device: int = 5, name: str = "HBM_UNCORRECTABLE_ERROR", at: float | None = 1e6) -> Fact:
    return made("hw-err", at, host, data={"name": name}, host=host, device=device)


def counter(host: str, last: int, name: str = "mem_ecc_repairable_uncorrected", device: int = 5) -> Fact:
    return made("counter", None, host, data={"name": name, "last": last}, host=host, device=device)


def found(*facts: Fact) -> set[str | None]:
    placed = at_hosts_of_their_devices(facts, survey(facts, ()))
    return {fact.place.host for fact in placed if fact.source == "log"}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (1201, "HBM_UNCORRECTABLE_ERROR"),
        (1205, "HBM_UNCORRECTABLE_ERROR"),
        (1202, "SRAM_UNCORRECTABLE_ERROR"),
        (1203, "DMA_ERROR"),
    ],
)
def test_a_rank_is_at_the_host_whose_kernel_log_alone_has_its_fault(code: int, name: str) -> None:
    assert found(*report(85, code=code), kernel("b", name=name), kernel("a", device=4, name=name)) == {"b"}


def test_several_ranks_of_one_device_are_at_its_host() -> None:
    assert found(*report(84), *report(85), kernel("b")) == {"b"}


def test_a_counter_tells_it_where_those_of_all_other_hosts_are_zero() -> None:
    assert found(*report(85), counter("a", 0), counter("b", 1)) == {"b"}
    assert found(*report(85), counter("a", 0), counter("b", 1), made("hit", data={}, source="c", host="c")) == {None}
    assert found(*report(85), counter("b", 1)) == {None}
    assert found(*report(85), counter("a", 1), counter("b", 1)) == {None}


@pytest.mark.parametrize(
    "others",
    [
        [kernel("b", device=4)],
        [kernel("b", name="DMA_ERROR")],
        [kernel("a"), kernel("b")],
        [kernel("b", at=1e6 + 200_000)],  # days later
        [kernel("b"), *report(5)],  # of two devices
        [counter("a", 0), counter("b", 1, "sram_ecc_uncorrected")],
        [],
    ],
)
def test_another_fault_device_or_day_or_two_of_them_place_no_rank(others: list[Fact]) -> None:
    assert found(*report(85), *others) == {None}


def test_a_rank_that_is_known_to_run_elsewhere_stays_there() -> None:
    assert found(*report(85, host="a"), kernel("b")) == {"a"}
    elsewhere = made("hit", data={}, source="x", rank=85, host="a")
    assert found(*report(85), elsewhere, kernel("b")) == {None}


def test_where_there_are_several_attempts_a_rank_may_have_run_on_several_hosts() -> None:
    later = made("hit", data={}, source="x", rank=3, attempt=1)
    assert found(*report(85, attempt=0), kernel("b")) == {"b"}
    assert found(*report(85, attempt=0), later, kernel("b")) == {None}
