"""Logs of one process each are of the rank that they state, where their siblings are so as well."""

from __future__ import annotations

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.one_process import placed_by_one_process
from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span


def log(name: str, ranks: list[int], pids: list[int]) -> Collection:
    said = [Place(rank=rank) for rank in ranks] + [Place(pid=pid) for pid in pids]
    facts = tuple(Fact("hit", {}, place, Span(name, n), name) for n, place in enumerate(said))
    return Collection((Source(name, name, "log", place=place_of_path(name)),), facts)


def ranks(*logs: Collection) -> list[int | None]:
    whole = Collection(tuple(s for c in logs for s in c.sources), tuple(f for c in logs for f in c.facts))
    placed = placed_by_one_process(whole)
    of_pids = {fact.place.rank for fact in placed.facts if fact.place.pid is not None}
    found = [source.place.rank for source in placed.sources]
    assert of_pids <= set(found)
    return found


def test_a_log_that_states_one_rank_and_one_process_is_of_that_rank() -> None:
    assert ranks(*(log(f"task-0{n}.out", [40 + n], [900 + n]) for n in range(3))) == [40, 41, 42]


def test_a_log_without_a_process_is_of_the_rank_that_it_states_and_is_called_after() -> None:
    assert ranks(*(log(f"rank-logs/0{n}.log", [n], []) for n in (17, 18, 20))) == [17, 18, 20]
    assert ranks(*(log(f"rank-logs/0{n}.log", [n + 8], []) for n in (17, 18, 20))) == [None] * 3
    assert ranks(*(log(f"{n}.log", [n], []) for n in (0, 8, 16))) == [None] * 3
    assert ranks(*(log(f"node-{n}.log", [n], []) for n in (1, 2, 3))) == [None] * 3
    assert ranks(*(log(f"0{n}.log", [n, n + 1] if n == 18 else [n], []) for n in (17, 18, 20))) == [None] * 3


def test_a_sibling_that_states_no_rank_stays_without_one() -> None:
    assert ranks(*(log(f"t-{n}.out", [n] if n else [], [90 + n]) for n in range(4))) == [None, 1, 2, 3]


def test_logs_of_hosts_whose_first_ranks_alone_log_are_of_no_rank() -> None:
    assert ranks(*(log(f"n{n}.out", [8 * n], [90 + n, 190 + n]) for n in range(3))) == [None] * 3
    mixed = [log(f"n{n}.out", [8 * n], [90 + n] if n else [90, 91]) for n in range(4)]
    assert ranks(*mixed) == [None] * 4


def test_the_same_rank_in_two_logs_or_too_few_logs_prove_nothing() -> None:
    assert ranks(*(log(f"t-{n}.out", [min(n, 1)], [90 + n]) for n in range(3))) == [None] * 3
    assert ranks(*(log(f"t-{n}.out", [n], [90 + n]) for n in range(2))) == [None] * 2
