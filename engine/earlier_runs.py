"""Logs of an earlier run that lie beside those of the last one: what failed the day before yesterday does not say why the
job fails now, and a compiler that was called then does not run any more.

The logs that tell of processes are put in the order of their times. Where so long nothing was written by any of them, one
run ended and another began: hours by clocks that are proven to be UTC, or more than a day where time zones are not known;
those of one host differ by no more than a zone does from UTC. An earlier run is left out only if it is one of the same job
for sure: it tells of a rank of which the last run tells too, or it tells of no rank at all, and how it ended. Of one that
somebody ended, before anything failed, no pause must be seen: it is earlier if what follows is later in any zone in which a host
of the job may show its time, its own or UTC. The last run is one only if its logs tell of the progress or the failure of a job.
Attempts that a launcher numbers are told apart elsewhere.

Slurm knows more: a job that was cancelled, or completed, before the one began that runs, both by one table, is not asked about if
the logs of that one tell that it does badly. And a job of which logs are here and which does not run is over, so nothing of it
comes after a pause. Where another one runs, and the last run is of that one by its number or because it lasts as long, that is
the job that is asked about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection as Sized
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import DATED, About, Clock, Collection, Fact, Instant, Problem, Source, ranks_of
from neuron_doctor.engine.regexes import regex

_SECOND = 1_000_000_000
_HOUR = 3600 * _SECOND
#: A job that writes nothing for so long does not run, or has to be started anew.
_PAUSE = 6 * _HOUR
#: The farthest time zones of the world lie so far apart, and so far from UTC, in which containers write.
_ZONES, _FROM_UTC = 26 * _HOUR, 14 * _HOUR
_OF_ENDS = frozenset({"launcher-failure", "completion"})
#: The patterns by which launchers, shells and schedulers say that somebody ends them.
_TOLD_TO_END = frozenset(
    {"launcher-interrupt", "launcher-interrupt-slurm", "orchestration-closing-sigterm"}
    | {"orchestration-shell-terminated", "orchestration-shell-killed"}
    | {"orchestration-slurm-job-cancelled", "orchestration-slurm-due-to", "orchestration-batch-timeout"}
)
#: The pattern by which a program says that it calls the compiler.
_COMPILES = "compile-call"
#: A job that goes on well, and what shows that one does not.
_GOES_ON, _TROUBLE = frozenset({"progress", "completion"}), frozenset({"hang-report", "status", "launcher-failure"})
#: What may be a failure of any sort: of whom there is such a record nobody knows that nothing failed before somebody ended it.
_MAY_FAIL = _TROUBLE | {"hit", "hw-err", "oom-kill", "blocked-task"}
#: States of jobs of which nobody asks why they ended, where a later one does badly.
_DONE_WITH = frozenset({"CANCELLED", "COMPLETED"})
_OF_A_JOB = frozenset({"progress", "hang-report", "status", *_OF_ENDS})
#: Of the time that a job runs, its logs cover this part at least, and no more of the time before than this; and what is
#: shorter than that may be anything.
_COVERED, _SLACK = 0.5, _HOUR // 6
_NUMBER = regex(r"\d{1,12}")
LEFT_OUT = "it is of an earlier run, and its records were left out"


class _Log(Struct, frozen=True):
    """What one log tells of its run."""

    id: str
    first: Instant
    last: Instant
    ranks: frozenset[int]
    kinds: frozenset[str]
    jobs: frozenset[str]
    hosts: frozenset[str]


def of_the_last_run(collection: Collection, facts: Sequence[Fact]) -> tuple[tuple[Source, ...], Sequence[Fact]]:
    """The sources, those of earlier runs with a problem that says so, and these facts without theirs."""
    running = _running(facts)
    logs = list(_logs(collection.sources, facts))
    before = _of_ended_jobs(logs, facts, running.keys() & {job for log in logs for job in log.jobs})
    *earlier, last = _runs((log for log in logs if log.id not in before), running) or [[]]
    ranks = {rank for log in last for rank in log.ranks}
    asked = _is_running(last, running)
    told = asked or any(log.kinds & _OF_A_JOB for log in last)
    over = [run for run in earlier if told and (_is_of_the_job(run, ranks) or (asked and _is_over(run, running)))]
    out = before | {log.id for run in over for log in run}
    if not out:
        return collection.sources, facts
    problem = Problem(LEFT_OUT, about=About.EARLIER_RUN)
    sources = tuple(replace(s, problems=(*s.problems, problem)) if s.id in out else s for s in collection.sources)
    return sources, tuple(fact for fact in facts if fact.source not in out)


def is_left_out(source: Source) -> bool:
    """Whether it is of an earlier run, so that its records were left out."""
    return any(problem.about is About.EARLIER_RUN for problem in source.problems)


def _logs(sources: Iterable[Source], facts: Iterable[Fact]) -> Iterator[_Log]:
    """The logs that tell of processes of one attempt, by their dated records."""
    of: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        of[fact.source].append(fact)
    for source in sources:
        told = of.get(source.id, [])
        times = [fact.instant for fact in told] + [source.first, source.last]
        dated = sorted((t for t in times if t and t.clock in DATED), key=lambda t: t.ns)
        numbered = source.place.attempt is not None or any(fact.place.attempt is not None for fact in told)
        ranks = frozenset(rank for fact in told for rank in ranks_of(fact.place))
        ranks |= frozenset(() if source.place.rank is None else (source.place.rank,))
        if source.kind == "log" and dated and not numbered and (ranks or any(f.place.pid is not None for f in told)):
            places = [source.place, *(fact.place for fact in told)]
            yield _Log(
                source.id,
                dated[0],
                dated[-1],
                ranks,
                frozenset(map(_sort_of, told)),
                frozenset(number for place in places if (number := _number(place.job))),
                frozenset(place.host for place in places if place.host),
            )


def _sort_of(fact: Fact) -> str:
    """The kind of a fact; what says that somebody ended a run by its name, and that a compiler was called is no failure."""
    if fact.name in _TOLD_TO_END:
        return fact.name
    return "compile" if fact.name == _COMPILES else fact.kind


def _runs(logs: Iterable[_Log], running: Mapping[str, int]) -> list[list[_Log]]:
    """The logs in groups between which nothing was written for long, the last one last."""
    runs: list[list[_Log]] = []
    end: Instant | None = None
    for log in sorted(logs, key=lambda log: (log.first.ns, log.id)):
        since = 0 if end is None else log.first.ns - end.ns
        # Nearly all logs follow at once: what must be known of a run to end it is not asked for each of thousands.
        if end is None or (since > _PAUSE and since > _pause(runs[-1], end, log, running)):
            runs.append([])
        runs[-1].append(log)
        end = log.last if end is None or log.last.ns > end.ns else end
    return runs


def _pause(run: Sequence[_Log], end: Instant, log: _Log, running: Mapping[str, int]) -> int:
    """How long nothing may have been written in a run before this log; never shorter than `_PAUSE`."""
    if end.clock is log.first.clock is Clock.UTC:
        return _PAUSE
    if (_is_over(run, running) and log.jobs <= running.keys()) or all(map(_was_ended, run)):
        return _FROM_UTC
    if any(one.hosts & log.hosts for one in run):
        return _PAUSE + _FROM_UTC
    return _PAUSE + _ZONES


def _running(facts: Iterable[Fact]) -> dict[str, int]:
    """The jobs that Slurm shows as running, and for how long, in nanoseconds."""
    rows = [fact for fact in facts if fact.kind == "slurm-job" and fact.data.get("state") == "RUNNING"]
    known = {_number(row.place.job): row.data.get("elapsed_s") for row in rows}
    return {job: s * 1_000_000_000 if isinstance(s, int) else -1 for job, s in known.items() if job}


def _ended_before(facts: Iterable[Fact], running: Sized[str]) -> set[str]:
    """The jobs that were cancelled or completed before all these began, which run, as one table of Slurm shows both."""
    rows = defaultdict[str, list[Fact]](list)
    for fact in facts:
        if fact.kind == "slurm-job" and not fact.data.get("step") and _number(fact.place.job):
            rows[fact.source].append(fact)
    found, other = set[str](), set[str]()
    for told in rows.values():
        starts = [fact.data.get("start_s") for fact in told if _number(fact.place.job) in running]
        begun = min((start for start in starts if isinstance(start, int) and start >= 0), default=0) * _SECOND
        for fact in told:
            over = fact.data["state"] in _DONE_WITH and fact.instant is not None and fact.instant.ns <= begun
            (found if over else other).add(_number(fact.place.job))
    return found - other


def _of_ended_jobs(logs: Sequence[_Log], facts: Iterable[Fact], running: frozenset[str] | set[str]) -> set[str]:
    """The logs of such jobs, if those of the ones that run tell of trouble, or of nothing that goes on."""
    kinds = frozenset(kind for log in logs if log.jobs and log.jobs <= running for kind in log.kinds)
    if not kinds or (kinds & _GOES_ON and not kinds & _TROUBLE):
        return set()
    ended = _ended_before(facts, running)
    return {log.id for log in logs if log.jobs and log.jobs <= ended}


def _is_over(run: Sequence[_Log], running: Mapping[str, int]) -> bool:
    """Whether the logs of a run name jobs, and none of them runs while others do."""
    jobs = {job for log in run for job in log.jobs}
    return bool(jobs) and bool(running) and jobs.isdisjoint(running)


def _is_running(run: Sequence[_Log], running: Mapping[str, int]) -> bool:
    """Whether a run is of a job that Slurm shows as running: it names that one, or no job, and lasts as long."""
    jobs = {job for log in run for job in log.jobs}
    if jobs or not run:
        return bool(jobs) and jobs <= running.keys()
    took = max(log.last.ns for log in run) - min(log.first.ns for log in run)
    return took > _SLACK and any(_COVERED * elapsed <= took <= elapsed + _SLACK for elapsed in running.values())


def _number(job: str | None) -> str:
    """The number of a job, without what tells tasks of an array apart."""
    found = _NUMBER.match(job or "")
    return found[0] if found else ""


def _is_of_the_job(run: Sequence[_Log], ranks: set[int]) -> bool:
    """Whether an earlier run is surely one of the job of which these ranks are known."""
    own = {rank for log in run for rank in log.ranks}
    return bool(own & ranks) if own else any(log.kinds & _OF_ENDS or _was_ended(log) for log in run)


def _was_ended(log: _Log) -> bool:
    """Whether somebody ended what a log is of, which had told of no trouble."""
    return bool(log.kinds & _TOLD_TO_END) and not log.kinds & _MAY_FAIL
