"""Which rows of a scheduler's accounting are about other people's jobs. `sacct` of a day lists whatever ran on the cluster;
that another job was cancelled or failed says nothing of the one whose logs were collected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.regexes import regex

_ACCOUNTING = "slurm"
#: The number of a job, without what tells tasks of an array or parts of a heterogeneous job.
_NUMBER = regex(r"\d{1,12}")
#: Whose faults others on the same host share.
_SHARED = frozenset({"host", "hardware", "network"})


class OtherJobs(Struct, frozen=True):
    """The sources that account for jobs, the jobs that anything else tells of too, and the hosts that those tell of. No
    jobs where the accounting has none of them: then nothing is known of whose logs these are."""

    accounting: frozenset[str]
    jobs: frozenset[str]
    hosts: frozenset[str]

    def hold(self, match: Match) -> bool:
        """Whether all of the match is about other jobs, and its fault is none that is surely on one of these hosts."""
        if not self.jobs or not match.facts or not all(self._is_other(fact) for fact in match.facts):
            return False
        return match.rule.cause.by not in _SHARED or self.hosts.isdisjoint(match.hosts)

    def _is_other(self, fact: Fact) -> bool:
        return (
            fact.source in self.accounting and fact.place.job is not None and _number(fact.place.job) not in self.jobs
        )


def other_jobs(facts: Iterable[Fact], sources: Sequence[Source]) -> OtherJobs:
    """What these facts and sources tell of jobs."""
    facts = tuple(facts)
    accounting = frozenset(source.id for source in sources if source.kind == _ACCOUNTING)
    told = [(fact.source, fact.place) for fact in facts] + [(source.id, source.place) for source in sources]
    listed = set(_jobs(place.job for source, place in told if source in accounting))
    named = set(_jobs(place.job for source, place in told if source not in accounting))
    hosts = frozenset(place.host for source, place in told if place.host and source not in accounting)
    return OtherJobs(accounting, frozenset(listed & named), hosts)


def _jobs(names: Iterable[str | None]) -> Iterator[str]:
    return (number for name in names if name and (number := _number(name)))


def _number(name: str) -> str:
    found = _NUMBER.match(name)
    return found[0] if found else ""
