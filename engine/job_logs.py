"""Which of the collected texts are logs of the job: beside them lie those of other programs of the host, scripts and settings."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_doctor.engine.facts import Fact, Source


def job_logs(sources: Iterable[Source], facts: Iterable[Fact]) -> list[Source]:
    """The logs that are a rank's, or of which anything is understood: a log of which nothing is may be anybody's, and what
    does not stand in it proves nothing."""
    telling = {fact.source for fact in facts}
    return [s for s in sources if s.kind == "log" and s.records and (s.id in telling or s.place.rank is not None)]
