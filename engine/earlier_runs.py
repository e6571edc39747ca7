"""Logs of an earlier run that lie beside those of the last one: what failed the day before yesterday does not say why the
job fails now, and a compiler that was called then does not run any more.

The logs that tell of processes are put in the order of their times. Where so long nothing was written by any of them, one
run ended and another began: hours by clocks that are proven to be UTC, or more than a day where time zones are not known.
An earlier run is left out only if it is one of the same job for sure: it tells of a rank of which the last run tells too,
or it tells of no rank at all, and how it ended. The last run is one only if its logs tell of the progress or the failure
of a job. Attempts that a launcher numbers are told apart elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Collection, Fact, Instant, Problem, Source, ranks_of

_HOUR = 3600 * 1_000_000_000
#: A job that writes nothing for so long does not run, or has to be started anew.
_PAUSE = 6 * _HOUR
#: The farthest time zones of the world lie so far apart.
_ZONES = 26 * _HOUR
_WALL = frozenset({Clock.UTC, Clock.HOST_LOCAL})
_OF_ENDS = frozenset({"launcher-failure", "completion"})
_OF_A_JOB = frozenset({"progress", "hang-report", "status", *_OF_ENDS})
LEFT_OUT = "it is of an earlier run, and its records were left out"


class _Log(Struct, frozen=True):
    """What one log tells of its run."""

    id: str
    first: Instant
    last: Instant
    ranks: frozenset[int]
    kinds: frozenset[str]


def of_the_last_run(collection: Collection, facts: Sequence[Fact]) -> tuple[tuple[Source, ...], Sequence[Fact]]:
    """The sources, those of earlier runs with a problem that says so, and these facts without theirs."""
    *earlier, last = _runs(_logs(collection.sources, facts)) or [[]]
    ranks = {rank for log in last for rank in log.ranks}
    if not any(log.kinds & _OF_A_JOB for log in last):
        return collection.sources, facts
    out = {log.id for run in earlier if _is_of_the_job(run, ranks) for log in run}
    if not out:
        return collection.sources, facts
    told = (Problem(LEFT_OUT),)
    sources = tuple(replace(s, problems=(*s.problems, *told)) if s.id in out else s for s in collection.sources)
    return sources, tuple(fact for fact in facts if fact.source not in out)


def _logs(sources: Iterable[Source], facts: Iterable[Fact]) -> Iterator[_Log]:
    """The logs that tell of processes of one attempt, by their dated records."""
    of: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        of[fact.source].append(fact)
    for source in sources:
        told = of.get(source.id, [])
        times = [fact.instant for fact in told] + [source.first, source.last]
        dated = sorted((t for t in times if t and t.clock in _WALL), key=lambda t: t.ns)
        numbered = source.place.attempt is not None or any(fact.place.attempt is not None for fact in told)
        ranks = frozenset(rank for fact in told for rank in ranks_of(fact.place))
        ranks |= frozenset(() if source.place.rank is None else (source.place.rank,))
        if source.kind == "log" and dated and not numbered and (ranks or any(f.place.pid is not None for f in told)):
            yield _Log(source.id, dated[0], dated[-1], ranks, frozenset(fact.kind for fact in told))


def _runs(logs: Iterable[_Log]) -> list[list[_Log]]:
    """The logs in groups between which nothing was written for long, the last one last."""
    runs: list[list[_Log]] = []
    end: Instant | None = None
    for log in sorted(logs, key=lambda log: (log.first.ns, log.id)):
        if end is None or log.first.ns - end.ns > _pause(end, log.first):
            runs.append([])
        runs[-1].append(log)
        end = log.last if end is None or log.last.ns > end.ns else end
    return runs


def _pause(end: Instant, begin: Instant) -> int:
    return _PAUSE if end.clock is begin.clock is Clock.UTC else _PAUSE + _ZONES


def _is_of_the_job(run: Sequence[_Log], ranks: set[int]) -> bool:
    """Whether an earlier run is surely one of the job of which these ranks are known."""
    own = {rank for log in run for rank in log.ranks}
    return bool(own & ranks) if own else any(log.kinds & _OF_ENDS for log in run)
