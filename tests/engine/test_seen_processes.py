"""Processes at the hosts whose kernels and tools saw them: two at least, of numbers that one host alone has."""

from __future__ import annotations

import pytest
from builders import hit, source

from neuron_doctor.engine.facts import Fact, Place, Source, Span
from neuron_doctor.engine.seen_processes import at_hosts_that_saw_them

LOG = source("log")


def attach(host: str, *pids: int) -> list[Fact]:
    return [Fact("attach", {"slot": 0}, Place(host=host, pid=pid), Span(host, pid), host) for pid in pids]


def said(*pids: int, first: int | None = None, source: str = "log") -> list[Fact]:
    ranks = range(first, first + len(pids)) if first is not None else [None] * len(pids)
    return [hit("x", source=source, pid=pid, rank=rank) for pid, rank in zip(pids, ranks, strict=True)]


def hosts(*facts: Fact, sources: tuple[Source, ...] = (LOG,)) -> list[str | None]:
    return [fact.place.host for fact in at_hosts_that_saw_them(facts, sources) if fact.source == "log"]


SEEN = (*attach("a", 11, 12, 13), *attach("b", 21, 22, 23))


def test_processes_of_one_log_are_at_the_hosts_whose_kernels_saw_them_open_the_devices() -> None:
    assert hosts(*SEEN, *said(11, 13, first=0), *said(21, 22, first=8)) == ["a", "a", "b", "b"]
    assert hosts(*SEEN, *said(11, 13, 99)) == ["a", "a", None]


@pytest.mark.parametrize("kind", ["neuron-monitor", "ndet-console", "neuron-ls"])
def test_a_tool_of_the_host_sees_them_as_well(kind: str) -> None:
    tools = tuple(source(host, kind=kind) for host in "ab")
    seen = [hit("counted", source=host, host=host, pid=pid) for host, pid in (("a", 11), ("a", 12), ("b", 21))]
    assert hosts(*seen, *said(11, 12), sources=(LOG, *tools)) == ["a", "a"]
    assert hosts(*seen, *said(11, 12)) == [None, None]


def test_one_process_or_a_few_of_many_may_have_the_number_by_chance() -> None:
    assert hosts(*SEEN, *said(11, 99)) == [None, None]
    assert hosts(*SEEN, *said(11, 21)) == [None, None]
    assert set(hosts(*SEEN, *said(11, 12, *range(100, 110)))) == {None}


def test_a_number_that_two_hosts_have_seen_or_two_ranks_bear_says_nothing() -> None:
    both = (*SEEN, *attach("b", 12))
    assert hosts(*both, *said(11, 12, 13)) == ["a", None, "a"]
    assert hosts(*SEEN, *said(11, 12, first=0), *said(13, first=2), *said(13, first=34)) == ["a", "a", None, None]


def test_where_several_numbers_are_those_of_two_ranks_hosts_number_their_processes_alike() -> None:
    alike = (*said(11, 12, first=0), *said(31, 32, first=4), *said(31, 32, first=8))
    assert hosts(*SEEN, *alike) == [None] * 6
    once = (*said(11, 12, first=0), *said(31, first=4), *said(31, first=8))
    assert hosts(*SEEN, *once)[:2] == ["a", "a"]


def test_where_one_host_alone_was_looked_at_the_processes_of_others_may_have_the_same_numbers() -> None:
    assert hosts(*attach("a", 11, 12, 13), *said(11, 12, 13)) == [None] * 3


def test_ranks_that_are_mixed_among_hosts_prove_nothing() -> None:
    assert hosts(*SEEN, *said(11, 12, first=0), *said(21, 22, first=4), *said(13, first=8)) == [None] * 5


def test_what_says_its_machine_itself_or_is_in_a_container_or_has_a_host_stays() -> None:
    named = Fact("identity", {"hostname": "n9"}, Place(pid=13), Span("log"), "log")
    assert hosts(*SEEN, *said(11, 12), named) == ["a", "a", None]
    inside = [hit("x", source="log", pid=pid, container="w-0") for pid in (11, 12)]
    assert hosts(*SEEN, *inside) == [None, None]
    assert hosts(*SEEN, *said(11, 12), hit("x", source="log", pid=13, host="c")) == ["a", "a", "c"]


def test_the_number_of_a_thread_is_no_process() -> None:
    threads = [hit("x", source="log", pid=pid, data={"thread": pid}) for pid in (11, 12)]
    assert hosts(*SEEN, *threads) == [None, None]


def test_a_rank_that_was_started_again_unseen_may_have_moved() -> None:
    again = [hit("x", source="log", pid=98, rank=0)]
    assert hosts(*SEEN, *said(11, 12, 13, first=0), *again) == [None, "a", "a", None]
    assert hosts(*SEEN, *said(11, 12, first=0), *said(13, first=0)) == ["a", "a", "a"]
