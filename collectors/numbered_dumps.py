"""Flight-recorder dumps that are called after their host and a number (`ip-10-0-3-7_14.pkl`), as people rename what they fetch.

One such name may tell the rank or the number of the worker on its host. It is the rank where no two dumps have the same number,
nor a dump that states its rank, and each number is one of a member of the groups that its dump knows.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from neuron_doctor.collectors.hints import place_of_path, plain
from neuron_doctor.engine.facts import About, Collection, Fact
from neuron_doctor.engine.recorder import rank_record, ranks_of
from neuron_doctor.engine.regexes import regex

_NUMBERED = regex(r"[-_.][^\d]{0,40}?(\d{1,6})", re.ASCII)


def placed_by_numbers(collection: Collection) -> Collection:
    """The collection in which such numbers are ranks, where they are those of the job."""
    dumps = [fact for fact in collection.facts if fact.kind == "fr-rank"]
    numbers = {fact.source: _number(fact) for fact in dumps if fact.place.rank is None}
    ranks = {source: number for source, number in numbers.items() if number is not None}
    stated = {fact.place.rank for fact in dumps}
    if not ranks or len(ranks) < len(numbers) or len(set(ranks.values())) < len(ranks) or stated & set(ranks.values()):
        return collection
    facts = (
        replace(f, place=replace(f.place, rank=ranks[f.source])) if f.source in ranks else f for f in collection.facts
    )
    sources = (
        replace(
            source,
            place=replace(source.place, rank=ranks[source.id]),
            problems=tuple(problem for problem in source.problems if problem.about is not About.RANK),
        )
        if source.id in ranks
        else source
        for source in collection.sources
    )
    return Collection(tuple(sources), tuple(facts))


def _number(fact: Fact) -> int | None:
    """The one number behind the host in the name of a dump, if that is a member of all its groups."""
    name = re.split(r"[/!]", fact.span.path)[-1]
    host = place_of_path(name).host
    behind = plain(name).partition(host)[2] if host else ""
    found = _NUMBERED.fullmatch(behind)
    members = [ranks_of(group.members) for group in rank_record(fact, -1).groups if group.members]
    fits = found is not None and all(int(found[1]) in some for some in members)
    return int(found[1]) if found and fits else None
