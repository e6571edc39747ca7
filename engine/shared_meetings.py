"""Two jobs that meet at one address: the ranks of a job find each other through a port that its first rank listens on, and a job
that is given the port of one that runs there finds the other's ranks, which know nothing of it. So it waits without limit, while
its processes live, nothing compiles and every connection that it asks for is made.

That is told of a job which began while another one with the same address and port ran, waits, and never made a step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.engine.facts import DATED, NOWHERE, Fact, Instant, Source
from neuron_doctor.engine.match import canonical
from neuron_doctor.engine.relations import are_two_jobs


class _Run(Struct):
    """What the logs of a job tell of it."""

    meetings: dict[str, Fact] = field(default_factory=dict)
    spans: list[tuple[Instant, Instant]] = field(default_factory=list)
    running: bool = False  # by the scheduler, when it was asked
    waits: bool = False
    steps: bool = False


def shared_meetings(facts: Sequence[Fact], sources: Iterable[Source]) -> Iterator[Fact]:
    """The `meeting-clash` facts: of each job that waits at an address at which an older one meets, that one."""
    runs = _runs(facts, sources)
    for job, run in sorted(runs.items()):
        if not run.waits or run.steps:
            continue
        others = sorted(other for other in runs if are_two_jobs(job, other) and _was_there(runs[other], run))
        for other in others:
            for address in sorted(run.meetings.keys() & runs[other].meetings.keys()):
                data = {"address": address, "other": other}
                place = replace(NOWHERE, job=job)
                yield replace(run.meetings[address], kind="meeting-clash", place=place, repeats=0, data=data)


def _runs(facts: Sequence[Fact], sources: Iterable[Source]) -> dict[str, _Run]:
    """The jobs that tell at which address they meet."""
    runs: dict[str, _Run] = defaultdict(_Run)
    job_of = {}
    for fact in sorted((fact for fact in facts if fact.kind == "meeting" and fact.place.job), key=canonical):
        job_of[fact.source] = str(fact.place.job)
        runs[str(fact.place.job)].meetings.setdefault(str(fact.data["address"]), fact)
    for source in sources:
        if source.id in job_of and source.first and source.last:
            runs[job_of[source.id]].spans.append((source.first, source.last))
    for fact in facts:
        if fact.place.job in runs:
            run = runs[str(fact.place.job)]
            run.waits |= fact.kind == "hang-report" and fact.data["what"] in ("retry", "bootstrap")
            run.steps |= fact.kind == "progress"
            run.running |= fact.kind == "slurm-job" and fact.data["state"] == "RUNNING"
    return dict(runs)


def _was_there(older: _Run, run: _Run) -> bool:
    """Whether a job had begun, by a clock that both have, and had not ended when another one began."""
    return any(
        a.clock is first.clock and first.clock in DATED and a.ns < first.ns and (older.running or _is_before(first, b))
        for a, b in older.spans
        for first, _ in run.spans
    )


def _is_before(first: Instant, last: Instant) -> bool:
    return first.clock is last.clock and first.ns <= last.ns
