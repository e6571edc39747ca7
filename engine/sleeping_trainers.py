"""That a job stands in a file system, by the kernel's reports of tasks that sleep there: where the job says nothing after them.

A kernel reports a task that has slept for two minutes, and again every two minutes, up to ten times. A stall that got over leaves
the same lines, so the log of the job must have stopped: by one clock, or, as kernels count from their boot, by what it says last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import NOWHERE, Fact, Source, Value
from neuron_doctor.engine.match import canonical
from neuron_doctor.engine.standstill import clock_of, last_steps, ns_of

#: Who sleeps for less may just have much to write (s).
_LEAST_S = 300
_SECOND_NS = 10**9
#: The end of its line.
_LINE_END = 2


def sleeping_trainers(facts: Sequence[Fact], sources: Iterable[Source]) -> Iterator[Fact]:
    """The `sleeping-trainers` fact, at no place. None where a step comes after, or may; nor where all is done."""
    logs = {source.id: source for source in sources if source.kind == "log"}
    steps = last_steps(facts, logs)
    if not steps or any(fact.kind == "completion" for fact in facts):
        return
    by_task: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "blocked-task":
            by_task[fact.place.host, fact.place.pid].append(fact)
    slept = {task: seconds for task, found in by_task.items() if (seconds := _slept_s(found)) >= _LEAST_S}
    last = [max(by_task[task], key=ns_of) for task in slept]
    if not last or not (_are_after(last, steps.values()) or _saves_last(facts, steps, logs)):
        return
    longest = max(slept.values())
    told = (
        f"the kernel reports that {len(slept)} processes of the job sleep in a file system, the longest for {longest // 60} "
        "minutes, and no step of the job is told of after that"
    )
    first = min(last, key=canonical)
    data: dict[str, Value] = {"tasks": len(slept), "seconds": longest, "description": told}
    yield replace(first, kind="sleeping-trainers", place=NOWHERE, repeats=0, data=data)


def _slept_s(reports: Sequence[Fact]) -> int:
    """For how long a task had slept when the last of its reports was written; newer kernels add it up themselves."""
    said = max(int(str(fact.data["waited_s"])) for fact in reports)
    clocks = {clock_of(fact) for fact in reports}
    if len(clocks) > 1 or any(fact.instant is None for fact in reports):
        return said
    first, last = min(reports, key=ns_of), max(reports, key=ns_of)
    return max(said, int(str(first.data["waited_s"])) + (ns_of(last) - ns_of(first)) // _SECOND_NS)


def _are_after(reports: Sequence[Fact], steps: Iterable[Fact]) -> bool:
    """Whether the clock of all steps is the one of a report, and none was made in the last minutes that its task slept."""
    listed = list(steps)
    return any(
        report.instant is not None
        and all(
            clock_of(step) == clock_of(report) and ns_of(step) <= ns_of(report) - _LEAST_S * _SECOND_NS
            for step in listed
        )
        for report in reports
    )


def _saves_last(facts: Iterable[Fact], steps: Mapping[str, Fact], logs: Mapping[str, Source]) -> bool:
    """Whether the last line of a log that tells of steps says that the program begins to save, and none tells of a later step."""
    saves = [
        fact
        for fact in facts
        if fact.kind == "save-begun" and fact.source in steps and _is_last(fact, logs[fact.source])
    ]
    return any(
        save.instant is None
        or all(ns_of(step) <= ns_of(save) for step in steps.values() if clock_of(step) == clock_of(save))
        for save in saves
    )


def _is_last(fact: Fact, log: Source) -> bool:
    return fact.span.offset + fact.span.length + _LINE_END >= log.size
