"""The attempts of a job that Slurm queued anew: its output goes on in the same file, and the controller tells of all of them.

Slurm 23 to 25: with `--open-mode=append` a requeued job writes below what it wrote before, and its script, if it prints its
environment, says `SLURM_RESTART_COUNT=1`. slurmctld logs each allocation of the job (`sched: Allocate JobId=7001`), and
`sacct --duplicates` has a row for each, above those of its steps. Where the script prints nothing, slurmstepd tells by which line
an attempt is over (`*** JOB 7001 ON n1 CANCELLED AT ... DUE TO PREEMPTION ***`), and the steps below it are of the next one if
anything else tells that there was one: the output of a run that was killed may come late. Where each attempt has a log of its own
(`train.r0.log`, `train.r1.log`), the first ends so, and the others begin with the mark, later.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: The pattern by which the script of a job says that it was queued anew.
_RESTARTED = "slurm-restarted"
#: The pattern by which the scheduler says in it that a run is over.
_CANCELLED = "orchestration-slurm-due-to"
#: Another, for what it queues anew as well.
_NODE_FAILED = "orchestration-slurm-due-to-node"
#: After a job's time is over it is not queued anew.
_QUEUED_ANEW = frozenset({"PREEMPTION", "JOB REQUEUE"})
#: The tasks that this kills report their ends so near to one another (bytes).
_NEAR = 16 * 1024
#: SIGKILL and SIGTERM, with which it ends tasks.
_SIGNALS = frozenset({9, 15})
_NUMBER = regex(r"\d+")
#: What only a run says, and no script that prepares one.
_OF_A_RUN = frozenset({"progress", "hang-report", "stand", "status", "launcher-failure", "completion"})


def in_their_attempts(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts of logs that go over several attempts, and of the controller that started these, with the number of theirs. A
    log in which nothing of a run stands before the first mark may begin with that attempt."""
    rows = _rows(facts)
    marks = _ends(facts, _queued_anew(facts, rows)) | _marks(facts)
    apart = _apart([fact for fact in facts if fact.source not in marks])
    if not rows and not marks and not apart:
        return facts
    last = {fact.place.job: len(marks[fact.source]) for fact in facts if fact.source in marks and fact.place.job}
    last = {job: len(begun) - 1 for job, begun in rows.values()} | last
    starts = _starts(facts, last) | rows
    return [_numbered(fact, marks, last, starts, apart) for fact in facts]


def _marks(facts: Sequence[Fact]) -> dict[str, list[int]]:
    """Where each further attempt begins in each log that has some."""
    offsets: dict[str, set[int]] = defaultdict(set)
    ran: dict[str, int] = {}
    for fact in facts:
        if fact.name == _RESTARTED:
            offsets[fact.source].add(fact.span.offset)
        elif fact.kind in _OF_A_RUN or fact.name == _CANCELLED or fact.place.rank is not None:
            ran[fact.source] = min(fact.span.offset, ran.get(fact.source, fact.span.offset))
    return {s: sorted(found) for s, found in offsets.items() if s in ran and ran[s] < min(found)}


def _apart(facts: Sequence[Fact]) -> dict[str, int]:
    """The numbers of the attempts of logs of one each, by their sources: where one log ends with that of an attempt after which
    Slurm queues a job anew, and others, whose paths differ from its own in nothing but numbers, begin with the mark of a further
    one, each at another time after that."""
    marked = {fact.source: fact for fact in reversed(facts) if fact.name == _RESTARTED}
    ended = {fact.source: fact for fact in facts if _has_ended(fact) and fact.source not in marked}
    if len(ended) != 1:
        return {}
    [end] = ended.values()
    called = _NUMBER.sub("#", end.span.path)
    again = [fact for fact in marked.values() if _NUMBER.sub("#", fact.span.path) == called]
    spoke = [fact.instant for fact in facts if fact.source == end.source and fact.instant]
    times = [max(spoke, key=lambda one: one.ns, default=None), *(fact.instant for fact in again)]
    known = [(one.clock, one.ns) for one in times if one is not None]
    if not again or len(known) < len(times) or len({clock for clock, _ in known}) > 1:
        return {}
    order = [ns for _, ns in known]
    if len(set(order)) < len(order) or min(order) != order[0]:
        return {}
    later = sorted(zip(order[1:], again, strict=True), key=lambda one: one[0])
    return {end.source: 0, **{fact.source: number for number, (_, fact) in enumerate(later, 1)}}


def _queued_anew(facts: Iterable[Fact], rows: Mapping[str, tuple[str, Sequence[int]]]) -> set[str]:
    """The jobs of which the accounting shows several allocations, or the controller that they were started anew."""
    shown = (fact for fact in facts if fact.kind == "slurm-job" and int(str(fact.data.get("restarts", 0))))
    return {job for job, _ in rows.values()} | {str(fact.data["job_id"]) for fact in shown}


def _ends(facts: Sequence[Fact], jobs: Collection[str]) -> dict[str, list[int]]:
    """Where in each log of these jobs the first step stands below what ended an attempt."""
    told: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts if jobs else ():
        if fact.place.job in jobs and (fact.kind in ("progress", "launcher-failure") or _has_ended(fact)):
            told[fact.source].append(fact)
    found = {source: _begun(sorted(of, key=lambda fact: fact.span.offset)) for source, of in told.items()}
    return {source: begun for source, begun in found.items() if begun}


def _has_ended(fact: Fact) -> bool:
    """Whether Slurm says here that it ends an attempt after which it queues the job anew."""
    by_name = fact.name == _CANCELLED and str(fact.data.get("reason")).upper() in _QUEUED_ANEW
    return by_name or fact.name == _NODE_FAILED


def _begun(told: Sequence[Fact]) -> list[int]:
    """Where the next attempts begin, by what a log tells of steps and ends, in its order."""
    begun: list[int] = []
    end = -1
    for number, fact in enumerate(told):
        if _has_ended(fact) or (end >= 0 and _was_killed(fact) and fact.span.offset - end < _NEAR):
            end = fact.span.offset
        elif end >= 0 and fact.kind == "progress" and not _ends_soon(told[number + 1 :], end):
            begun.append(fact.span.offset)
            end = -1
    return begun


def _ends_soon(told: Iterable[Fact], end: int) -> bool:
    near = (fact for fact in told if fact.span.offset - end < _NEAR)
    return any(_was_killed(fact) for fact in near)


def _was_killed(fact: Fact) -> bool:
    return fact.kind == "launcher-failure" and fact.data.get("signal") in _SIGNALS


def _rows(facts: Sequence[Fact]) -> dict[str, tuple[str, list[int]]]:
    """For each table of the accounting of one job that shows several allocations of it: the job, and where they begin."""
    jobs: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        if fact.kind == "slurm-job" and fact.data.get("step") == "" and "job_id" in fact.data:
            jobs[fact.source][str(fact.data["job_id"])].append(fact.span.offset)
    alone = {source: of for source, of in jobs.items() if len(of) == 1}
    return {s: (job, sorted(begun)) for s, of in alone.items() for job, begun in of.items() if len(begun) > 1}


def _starts(facts: Sequence[Fact], jobs: Mapping[str, int]) -> dict[str, tuple[str, list[int]]]:
    """For each controller's log that tells of one of these jobs alone: the job, and where it starts that."""
    starts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        if fact.kind == "job-event" and fact.data["job_id"] in jobs:
            found = starts[fact.source][str(fact.data["job_id"])]
            found += [fact.span.offset] if fact.data["what"] == "started" else []
    return {s: (job, sorted(of[job])) for s, of in starts.items() if len(of) == 1 for job in of}


def _numbered(
    fact: Fact,
    marks: Mapping[str, Sequence[int]],
    last: Mapping[str, int],
    starts: Mapping[str, tuple[str, Sequence[int]]],
    apart: Mapping[str, int],
) -> Fact:
    if fact.place.attempt is not None:
        return fact
    if fact.source in apart:
        return _at(fact, apart[fact.source])
    if fact.source in marks:
        return _at(fact, bisect_right(marks[fact.source], fact.span.offset))
    job, begun = starts.get(fact.source, ("", ()))
    if not begun or fact.place.job not in (None, job) or fact.data.get("job_id") not in (None, job):
        return fact
    return _at(fact, max(0, last[job] - len(begun) + bisect_right(begun, fact.span.offset)))


def _at(fact: Fact, attempt: int) -> Fact:
    return replace(fact, place=replace(fact.place, attempt=attempt))
