"""What people wrote down (tickets, runbooks, talks) is no evidence where anything else tells of a run: it quotes other days and
other hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection as Sized
from collections.abc import Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import DATED, SETTINGS, Collection, Fact, Problem
from neuron_doctor.engine.last_words import OF_RUNS

#: Processes of containers have such numbers.
_FIRST = 100
_DAYS_NS = 2 * 86_400 * 10**9

LEFT_OUT = "it reads like notes of people, and its records were left out"


def without_notes(collection: Collection) -> Collection:
    """The collection without the facts of notes, each with a problem that says so. A ticket into which somebody pasted the log
    of the job, steps and all, is that log, if none was collected; so is one with how the job ended, where no log has a time, and
    one with a process of which something else tells, too."""
    notes = {source.id for source in collection.sources if source.kind == "notes"}
    if not notes:
        return collection
    telling = {fact.source for fact in collection.facts if fact.kind not in SETTINGS}
    run = [s for s in collection.sources if s.records and (s.first is not None or s.id in telling)]
    if not any(source.kind == "log" for source in run):
        notes -= {fact.source for fact in collection.facts if fact.kind == "progress"}
    if not any(fact.kind in OF_RUNS and fact.source not in notes for fact in collection.facts):
        dated = any(source.kind == "log" and source.first for source in run)
        notes -= _of_known_processes(collection.facts, notes)
        notes -= set() if dated else {fact.source for fact in collection.facts if fact.kind in OF_RUNS}
    if all(source.id in notes for source in run):
        return collection
    told = (Problem(LEFT_OUT),)
    sources = (replace(s, problems=(*s.problems, *told)) if s.id in notes & telling else s for s in collection.sources)
    return Collection(tuple(sources), tuple(fact for fact in collection.facts if fact.source not in notes))


def _of_known_processes(facts: Sequence[Fact], notes: Sized[str]) -> set[str]:
    """The notes with records of a process that other sources name, within days: in containers the first numbers are anybody's,
    and any number comes again."""
    processes = [fact for fact in facts if fact.place.pid is not None and fact.place.pid > _FIRST]
    named: dict[int | None, list[Fact]] = defaultdict(list)
    for fact in processes:
        if fact.source not in notes:
            named[fact.place.pid].append(fact)
    return {
        fact.source
        for fact in processes
        if fact.source in notes and any(_are_near(fact, other) for other in named[fact.place.pid])
    }


def _are_near(one: Fact, other: Fact) -> bool:
    """Whether two dates are no more than days apart, in whatever zones; what has none may be of any day."""
    told = [fact.instant for fact in (one, other) if fact.instant and fact.instant.clock in DATED]
    return len(told) < 2 or abs(told[0].ns - told[1].ns) <= _DAYS_NS  # noqa: PLR2004 - both
