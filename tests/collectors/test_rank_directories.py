"""The number of a directory below `ranks` is the rank in the job, unless something shows that each host has its own."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.rank_directories import placed_by_rank_directories
from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span


def beside(kind: str, place: Place | None = None, **data: int) -> Fact:
    """What another file says."""
    return Fact(kind, {**data}, place or Place(), Span("train.log"), "train.log")


def placed(*paths: str, states: int | None = None, told: tuple[Fact, ...] = (), log: int | None = None) -> set[str]:
    """What the numbers of these files are; each has one fact, of the rank that it states."""
    sources = tuple(Source(path, path, "log", place=place_of_path(path)) for path in paths)
    others = () if log is None else (Source("train.log", "train.log", "log", place=Place(rank=log)),)
    facts = tuple(
        Fact("hit", {}, Place(rank=states).over(source.place), Span(source.path), source.id) for source in sources
    )
    found = placed_by_rank_directories(Collection((*sources, *others), (*facts, *told)))
    own = [source for source in found.sources if source.path in paths]
    of_files = {"rank" if s.place.rank is not None else "local" for s in own}
    of_facts = {"local" if f.place.local_rank is not None else "rank" for f in found.facts if f.span.path in paths}
    assert of_files == of_facts
    assert all(s.place.rank is None or f"ranks/{s.place.rank}/" in s.path for s in own)
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


@pytest.mark.parametrize(
    ("told", "numbers"),
    [
        ((beside("world", size=16),), (0, 1, 2, 3)),
        ((beside("launch", nodes=2),), (0, 1, 2, 3)),
        ((beside("node-rank", number=1),), (0, 1, 2, 3)),
        ((beside("launch", nodes=2), beside("node-width", processes=8)), (0, 1, 2, 3)),
        ((beside("hit", Place(rank=9, local_rank=1)),), (0, 1, 2, 3)),
        ((beside("launcher-failure", Place(rank=9, local_rank=1)),), (1, 3)),
    ],
)
def test_a_job_of_more_ranks_has_them_on_several_hosts(told: tuple[Fact, ...], numbers: tuple[int, ...]) -> None:
    assert placed(*ranks("", *numbers), told=told) == {"local"}


@pytest.mark.parametrize(
    ("told", "numbers"),
    [
        ((beside("world", size=4),), (0, 1, 2, 3)),
        ((beside("launch", nodes=1),), (0, 1, 2, 3)),
        ((beside("node-rank", number=0),), (0, 1, 2, 3)),
        ((beside("world", size=16),), (0, 1, 9)),  # somebody picked them
        ((beside("launch", nodes=2),), (0, 1, 9)),
        ((beside("world", size=16),), (0, 1, 2)),  # no host has three of sixteen
        ((beside("hit", Place(rank=9, local_rank=1)),), (0, 1, 9)),
        ((beside("launch", nodes=2), beside("world", size=4)), (0, 1, 2, 3)),
        ((beside("launch", nodes=2), beside("node-width", processes=2)), (0, 1, 2, 3)),
    ],
)
def test_what_fits_the_ranks_of_the_job_is_no_sign_of_several_hosts(
    told: tuple[Fact, ...], numbers: tuple[int, ...]
) -> None:
    assert placed(*ranks("", *numbers), told=told) == {"rank"}


def test_a_rank_that_has_a_log_elsewhere_is_not_that_of_such_a_directory() -> None:
    assert placed(*ranks("", 0, 1), log=1) == {"local"}
    assert placed(*ranks("", 0, 1), log=2) == {"rank"}
