"""The number of a directory below `ranks` is the rank in the job, unless something shows that each host has its own."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.rank_directories import placed_by_rank_directories
from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span


def placed(*paths: str, states: int | None = None, world: int | None = None) -> set[str]:
    """What the numbers of these files are; each has one fact, of the rank that it states."""
    sources = tuple(Source(path, path, "log", place=place_of_path(path)) for path in paths)
    facts = tuple(
        Fact("hit", {}, Place(rank=states).over(source.place), Span(source.path), source.id) for source in sources
    )
    told = () if world is None else (Fact("world", {"size": world}, Place(), Span("train.log"), "train.log"),)
    found = placed_by_rank_directories(Collection(sources, (*facts, *told)))
    of_files = {"rank" if s.place.rank is not None else "local" for s in found.sources}
    of_facts = {"local" if f.place.local_rank is not None else "rank" for f in found.facts if f.kind == "hit"}
    assert of_files == of_facts
    assert all(s.place.rank is None or f"ranks/{s.place.rank}/" in s.path for s in found.sources)
    return of_files


def ranks(above: str, *numbers: int) -> list[str]:
    return [f"{above}ranks/{number}/stderr.log" for number in numbers]


@pytest.mark.parametrize(
    "paths",
    [
        ranks("", 0, 1, 12, 63),
        ranks("job/saved/", 3),
        ranks("run1/", 0, 1) + ranks("run2/", 0, 1),
        ranks("alpha/", 0, 1) + ranks("bravo/", 2, 3),
        ranks("node1/", 0, 1, 3) + ranks("node2/", 4, 7),
    ],
)
def test_they_are_ranks_of_the_job_where_nothing_shows_that_each_host_has_its_own(paths: list[str]) -> None:
    assert placed(*paths) == {"rank"}


@pytest.mark.parametrize(
    "paths",
    [
        ranks("alpha/", 0, 1) + ranks("bravo/", 0, 1),
        ranks("run1/alpha/", 2) + ranks("run1/bravo/", 3) + ranks("run1/charlie/", 2),
        ranks("node1/", 0, 1) + ranks("node2/", 0, 1),
        ranks("node1/", 0, 5) + ranks("node2/", 2, 7),  # who knows
        ranks("node1/", 0, 1),
        [path.replace("ranks/", "local_ranks/") for path in ranks("", 0, 1)],
        [path.replace("ranks/", "attempt_0/") for path in ranks("", 0, 1)],
    ],
)
def test_they_are_ranks_of_a_host_where_numbers_come_again_in_what_may_be_hosts(paths: list[str]) -> None:
    assert placed(*paths) == {"local"}


def test_what_a_file_states_of_itself_decides() -> None:
    assert placed(*ranks("danube/", 2), states=66) == {"local"}
    assert placed(*ranks("danube/", 2), states=2) == {"rank"}


def test_a_job_of_more_ranks_has_them_on_several_hosts() -> None:
    assert placed(*ranks("", 0, 1, 2, 3), world=16) == {"local"}
    assert placed(*ranks("", 0, 1, 2, 3), world=4) == {"rank"}
    assert placed(*ranks("", 0, 1, 9), world=16) == {"rank"}, "somebody picked them"
    assert placed(*ranks("", 0, 1, 2), world=16) == {"rank"}, "no host has three of sixteen"
