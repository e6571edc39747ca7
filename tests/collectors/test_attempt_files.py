"""Logs whose names state an attempt: whose attempt that is."""

from __future__ import annotations

import pytest

from neuron_doctor.collectors.attempt_files import placed_by_attempts
from neuron_doctor.engine.facts import NOWHERE, Clock, Collection, Fact, Instant, Place, Source, Span


def attempts(*paths: str, place: Place = NOWHERE, said: Place = NOWHERE) -> list[int | None]:
    """The attempts of facts of these sources, which are those of the sources, too."""
    sources = tuple(Source(path, path, "log", place=place) for path in paths)
    facts = tuple(Fact("hit", {"pattern": "p"}, said, Span(path), path) for path in paths)
    placed = placed_by_attempts(Collection(sources, facts))
    if said == NOWHERE:
        assert [s.place.attempt for s in placed.sources] == [f.place.attempt for f in placed.facts]
    return [fact.place.attempt for fact in placed.facts]


@pytest.mark.parametrize(
    "name",
    [
        "w-0.attempt{}.log",
        "w-0-attempt-{}.log.gz",
        "w-0_restart_{}.txt",
        "attempt{}.out",
        "all.tar!w.retry={}.log",
        "w/try{}",
    ],
)
def test_the_logs_of_all_attempts_of_one_worker_state_theirs(name: str) -> None:
    assert attempts(name.format(0), name.format(1), "events.txt") == [0, 1, None]


def test_a_worker_that_came_back_while_others_went_on_makes_no_attempt_of_the_job() -> None:
    assert attempts("w-0.attempt0.log", "w-0.attempt1.log", "w-1.attempt0.log") == [None] * 3
    assert attempts("w-0.attempt0.log", "w-0.attempt1.log", "w-1.attempt1.log") == [0, 1, 1]


@pytest.mark.parametrize(
    "names",
    [
        ("w-0.attempt1.log", "w-1.attempt1.log"),
        ("w-0.log", "w-1.log"),
        ("reattempt0.log", "reattempt1.log"),
        ("entry0.log", "entry1.log"),
        ("attempt.log", "attempts-0-1.log"),
    ],
)
def test_names_that_state_no_two_attempts_state_none(names: tuple[str, ...]) -> None:
    assert attempts(*names) == [None] * len(names)


def dated(path: str, first: int, last: int, clock: Clock = Clock.HOST_LOCAL) -> Source:
    return Source(path, path, "log", records=9, first=Instant(first, clock), last=Instant(last, clock))


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ((dated("w.restart0.log", 1, 5), dated("w.restart1.log", 6, 8), dated("w.log", 9, 20)), [0, 1, 2]),
        ((dated("w.log", 1, 5), dated("w.restart1.log", 6, 8), dated("w.restart2.log", 9, 20)), [0, 1, 2]),
        ((dated("w.restart1.log", 6, 8), dated("w.log", 1, 5)), [1, 0]),
        # it may tell of all of them, or nobody knows which one it is of
        ((dated("w.restart0.log", 1, 5), dated("w.restart1.log", 6, 8), dated("w.log", 1, 20)), [None] * 3),
        ((dated("w.restart0.log", 1, 5), dated("w.restart1.log", 6, 8), dated("w.log", 9, 20, Clock.UTC)), [None] * 3),
        ((dated("w.restart0.log", 6, 8), dated("w.log", 1, 5)), [None] * 2),
        # that of another worker
        ((dated("w.restart0.log", 1, 5), dated("w.restart1.log", 6, 8), dated("v.log", 9, 20)), [None] * 3),
    ],
)
def test_the_log_that_has_no_number_is_of_the_attempt_after_the_others_or_before_them(
    sources: tuple[Source, ...], found: list[int | None]
) -> None:
    facts = tuple(said_in(source.path, "progress") for source in sources)
    placed = placed_by_attempts(Collection(sources, facts))
    assert [source.place.attempt for source in placed.sources] == found
    assert [fact.place.attempt for fact in placed.facts] == found


HELPER = ("download-try1.log", "download-try2.log")


def of_helper_beside(path: str, *facts: Fact, kind: str = "log", place: Place = NOWHERE) -> set[int | None]:
    """The attempts of the logs of a helper that tried twice, beside a source that says these facts."""
    sources = (*(Source(name, name, "log") for name in HELPER), Source(path, path, kind, place=place))
    return {source.place.attempt for source in placed_by_attempts(Collection(sources, facts)).sources[:2]}


def said_in(path: str, kind: str, place: Place = NOWHERE) -> Fact:
    return Fact(kind, {}, place, Span(path), path)


def test_the_tries_of_a_helper_are_no_attempts_of_the_job_whose_logs_have_no_number() -> None:
    assert of_helper_beside("train.log", said_in("train.log", "progress")) == {None}
    assert of_helper_beside("rank_0.log", place=Place(rank=0)) == {None}
    assert of_helper_beside("train.log", said_in("train.log", "hit", Place(rank=3))) == {None}


def test_what_shows_no_work_of_the_job_may_have_a_name_without_a_number() -> None:
    assert of_helper_beside("events.txt", said_in("events.txt", "hit")) == {1, 2}
    assert of_helper_beside("dump", said_in("dump", "hit", Place(rank=3)), kind="fr-dump") == {1, 2}
    assert of_helper_beside("rank0.txt", said_in("rank0.txt", "stack", Place(rank=0)), place=Place(rank=0)) == {1, 2}
    assert of_helper_beside("train.log", said_in("train.log", "progress", Place(attempt=2))) == {1, 2}


def test_what_a_folder_or_a_line_says_of_the_attempt_stays() -> None:
    sources = tuple(Source(path, path, "log", place=Place(attempt=7)) for path in ("a.attempt0.log", "a.attempt1.log"))
    assert placed_by_attempts(Collection(sources, ())).sources == sources
    assert attempts("a.attempt0.log", "a.attempt1.log", said=Place(attempt=7)) == [7, 7]
