"""Which of the collected texts are logs of the job: beside them lie those of other programs of the host, scripts and settings."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.last_words import OF_RUNS

#: What a job alone says, or whoever starts its programs.
_OF_JOBS = OF_RUNS | {
    "stand",
    "barrier",
    "launch",
    "mapping",
    "world",
    "step-time",
    "no-step",
    "graph",
    "cut-traceback",
}
#: What only the kernel says. A log that has some of it, and nothing that a job says, is the system's (syslog, messages): a script
#: may print what the kernel said into the log of its job.
_OF_KERNELS = frozenset({"hw-err", "attach", "detach", "reset", "oom-kill", "memory-holder"})


def job_logs(sources: Iterable[Source], facts: Iterable[Fact]) -> list[Source]:
    """The logs that are a rank's, or of which anything is understood: a log of which nothing is may be anybody's, and what
    does not stand in it proves nothing."""
    telling = {fact.source for fact in facts}
    return [s for s in sources if s.kind == "log" and s.records and (s.id in telling or s.place.rank is not None)]


def system_logs(sources: Iterable[Source], facts: Iterable[Fact]) -> frozenset[str]:
    """The kernel logs, and those of the system that hold what it said."""
    facts = tuple(facts)
    system = {fact.source for fact in facts if fact.kind in _OF_KERNELS}
    system -= {fact.source for fact in facts if fact.source in system and _is_of_a_job(fact)}
    return frozenset(source.id for source in sources if source.kind == "kernel" or source.id in system)


def _is_of_a_job(fact: Fact) -> bool:
    """Whether a job says this. What daemons raise has their number before it in the log of the system."""
    raised = bool(fact.data.get("exception")) and fact.place.pid is None
    return raised or fact.kind in _OF_JOBS or fact.place.rank is not None
