"""What the log of Slurm's controller tells of nodes before it starts the job. It starts jobs on nodes that answer only, so a node
that was away before is back, or has no part in the job.

That holds where the first that this log tells of the job is its start. A job that is queued anew was told of before, and one of
which anything says that it was is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from neuron_doctor.engine.facts import Fact, Source
from neuron_doctor.engine.match import Match
from neuron_doctor.engine.regexes import regex

#: The number of a job, without what tells tasks of an array or parts of a heterogeneous job.
_NUMBER = regex(r"\d{1,12}")
#: Whose failures are over when the node is back: a device that broke is still broken.
_AWAY = "host"


class BeforeStart(Struct, frozen=True):
    """Where in the logs of controllers the first word of the job stands."""

    starts: Mapping[str, int] = field(default_factory=dict)

    def holds(self, match: Match) -> bool:
        """Whether all of the match is about a node, and was before."""
        return (
            bool(match.facts)
            and match.rule.cause.by == _AWAY
            and all(fact.span.offset < self.starts.get(fact.source, 0) for fact in match.facts)
        )


def before_start(facts: Sequence[Fact], sources: Iterable[Source]) -> BeforeStart:
    """What these facts tell of the start of the one job that these sources, or facts of others than controllers, are of."""
    told = [fact for fact in facts if fact.kind == "job-event"]
    if not told:
        return BeforeStart()
    controllers = {fact.source for fact in told}
    places = [source.place for source in sources if source.id not in controllers]
    places += [fact.place for fact in facts if fact.source not in controllers]
    jobs = {found[0] for place in places if place.job and (found := _NUMBER.match(place.job))}
    again = any(place.attempt for place in places) or any(fact.data.get("restarts") for fact in facts)
    if len(jobs) != 1 or again:
        return BeforeStart()
    first: dict[str, Fact] = {}
    for fact in told:
        if fact.data["job_id"] in jobs:
            first[fact.source] = min(first.get(fact.source, fact), fact, key=_offset)
    return BeforeStart({source: fact.span.offset for source, fact in first.items() if fact.data["what"] == "started"})


def _offset(fact: Fact) -> int:
    return fact.span.offset
