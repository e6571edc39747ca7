"""Dumps called after their host and a number: the number is the rank where it cannot be that of a worker on its host."""

from __future__ import annotations

import pickle

import pytest
from msgspec.structs import replace
from test_flight_recorder import USUAL, facts_of

from neuron_doctor.collectors.numbered_dumps import placed_by_numbers
from neuron_doctor.engine.facts import Collection, Source


def ranks_by_name(*names: str) -> list[int | None]:
    """The rank of each such dump, of a group of ranks 0 to 3; no problem is left of one that has a rank."""
    facts, sources = [], []
    for name in names:
        (read,), inp = facts_of(pickle.dumps(USUAL, 2), name, None)
        facts.append(fact := replace(read, source=name))
        problems = tuple(inp.problems.values())
        sources.append(Source(fact.source, fact.span.path, "flight-recorder", place=fact.place, problems=problems))
    placed = placed_by_numbers(Collection(tuple(sources), tuple(facts)))
    assert [source.place.rank for source in placed.sources] == [fact.place.rank for fact in placed.facts]
    assert all(bool(source.problems) is (source.place.rank is None) for source in placed.sources)
    return [fact.place.rank for fact in placed.facts]


@pytest.mark.parametrize("name", ["ip-10-0-3-{}_{}.pkl", "ip-10-0-3-{}-trace-{}", "d/ip-10-0-3-{}_r{}.pickle"])
def test_numbers_that_no_two_share_are_ranks(name: str) -> None:
    assert ranks_by_name(*(name.format(7 + rank // 2, rank) for rank in range(4))) == [0, 1, 2, 3]


def test_some_of_the_ranks_may_be_away() -> None:
    assert ranks_by_name("ip-10-0-3-7_1.pkl", "ip-10-0-3-8_3.pkl") == [1, 3]


@pytest.mark.parametrize(
    "names",
    [
        ["ip-10-0-3-7_0.pkl", "ip-10-0-3-7_1.pkl", "ip-10-0-3-8_0.pkl", "ip-10-0-3-8_1.pkl"],  # each host's own
        ["ip-10-0-3-7_0.pkl", "ip-10-0-3-7_9.pkl"],  # in none of the groups
        ["ip-10-0-3-7_0.pkl", "ip-10-0-3-8.pkl"],
        ["ip-10-0-3-7_0_1.pkl", "ip-10-0-3-7_0_2.pkl"],
    ],
)
def test_else_nothing_tells_the_ranks(names: list[str]) -> None:
    assert ranks_by_name(*names) == [None] * len(names)


@pytest.mark.parametrize("name", ["h{}-{}.fr", "d/{}_{:05}.pkl", "box{}/{}", "b{}/fr-{}.json"])
def test_of_hosts_whatever_they_are_called_blocks_of_all_ranks_tell_the_rank(name: str) -> None:
    assert ranks_by_name(*(name.format(rank // 2, rank) for rank in range(4))) == [0, 1, 2, 3]
    assert ranks_by_name(*(name.format("ab"[rank // 2], rank) for rank in (2, 0, 3, 1))) == [2, 0, 3, 1]


@pytest.mark.parametrize(
    "names",
    [
        ["h0-0.fr", "h0-1.fr", "h1-2.fr"],  # one of the ranks is away
        ["h0-0.fr", "h0-2.fr", "h1-1.fr", "h1-3.fr"],  # no blocks
        ["h0-0.fr", "h0-1.fr", "h1-0.fr", "h1-1.fr"],
        ["h0-1.fr", "h0-2.fr", "h1-3.fr", "h1-4.fr"],
        ["h0-0.fr", "h0-1.fr", "h0-2.fr", "h1-3.fr"],
    ],
)
def test_where_they_are_no_blocks_of_all_ranks_nothing_does(names: list[str]) -> None:
    assert ranks_by_name(*names) == [None] * len(names)
