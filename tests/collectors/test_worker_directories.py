"""The directories that torchrun makes for workers have local ranks, which are ranks where one host has the whole job."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.worker_directories import placed_by_worker_directories
from neuron_doctor.engine.facts import Collection, Fact, Place, Source, Span

RUN = "logs/none_x1/attempt_0"


def ended(rank: int, local: int | None = None, host: str = "n1") -> Fact:
    """What torchrun reports of a worker."""
    place = Place(rank=rank, local_rank=rank if local is None else local, host=host)
    return Fact("launcher-failure", {"exitcode": 1}, place, Span("out.log"), "out.log")


def ranks(workers: range, told: tuple[Fact, ...], run: str = RUN, more: tuple[str, ...] = ()) -> set[int | None]:
    """The ranks that the logs of these workers, and what they say, have then."""
    paths = (*(f"{run}/{number}/stderr.log" for number in workers), *more)
    sources = tuple(Source(path, path, "log", place=place_of_path(path)) for path in paths)
    facts = tuple(Fact("hit", {}, source.place, Span(source.path), source.id) for source in sources)
    found = placed_by_worker_directories(Collection(sources, (*facts, *told)))
    of_files = {source.place.rank for source in found.sources}
    assert of_files == {fact.place.rank for fact in found.facts if fact.span.path in paths}
    assert all(source.place.local_rank is not None for source in found.sources)
    return of_files


def test_they_are_ranks_where_the_launcher_reports_these_and_no_others() -> None:
    assert ranks(range(4), tuple(map(ended, range(4)))) == {0, 1, 2, 3}
    assert ranks(range(4), (ended(1), ended(2))) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "told",
    [
        (),
        (ended(1),),  # few
        tuple(ended(rank, local=rank - 4) for rank in range(4, 8)),
        (*map(ended, range(4)), ended(4, local=0, host="n2")),
        (*map(ended, range(4)), ended(3, host="n2")),
        (*map(ended, range(4)), Fact("hit", {}, Place(rank=12), Span("out.log"), "out.log")),
        (*map(ended, range(4)), Fact("world", {"size": 16}, Place(), Span("env"), "env")),
    ],
)
def test_they_are_not_where_the_job_may_have_other_hosts(told: tuple[Fact, ...]) -> None:
    assert ranks(range(4), told) == {None}


def test_they_are_not_where_several_agents_or_runs_made_them_or_some_lack() -> None:
    told = tuple(map(ended, range(4)))
    assert ranks(range(4), told, more=("logs/none_x2/attempt_0/0/stderr.log",)) == {None}
    assert ranks(range(1, 4), told) == {None}


def test_attempts_of_one_agent_are_of_the_same_ranks() -> None:
    more = tuple(f"logs/none_x1/attempt_1/{number}/stderr.log" for number in range(4))
    assert ranks(range(4), tuple(map(ended, range(4))), more=more) == {0, 1, 2, 3}
