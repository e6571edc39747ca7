"""Flight-recorder dumps that are called after their host and a number (`ip-10-0-3-7_14.pkl`), as people rename what they fetch.

One such name may tell the rank or the number of the worker on its host. It is the rank where no two dumps have the same number,
nor a dump that states its rank, and each number is one of a member of the groups that its dump knows. Where the host is called
as no host is known to be (`h2-11.fr`, `b/5.pkl`), the last number is the rank where all ranks of the groups are there, each once,
and what stands before it changes after equally many of them, as with hosts that have a block of ranks each.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from neuron_doctor.collectors.hints import place_of_path, plain
from neuron_doctor.engine.facts import About, Collection, Fact
from neuron_doctor.engine.recorder import rank_record, ranks_of
from neuron_doctor.engine.regexes import regex

_NUMBERED = regex(r"[-_.][^\d]{0,40}?(\d{1,6})", re.ASCII)
#: What ends with a number, but for what files are called after what they hold.
_ENDS_IN_A_NUMBER = regex(
    r"(?P<before>.{0,400}?)(?<!\d)(?P<number>\d{1,6})(?:\.[A-Za-z]\w{0,9}){0,2}", re.ASCII | re.DOTALL
)


def placed_by_numbers(collection: Collection) -> Collection:
    """The collection in which such numbers are ranks, where they are those of the job."""
    dumps = [fact for fact in collection.facts if fact.kind == "fr-rank"]
    unplaced = [fact for fact in dumps if fact.place.rank is None]
    numbers = _by_blocks(dumps) if len(unplaced) == len(dumps) else {}
    numbers = numbers or {fact.source: _number(fact) for fact in unplaced}
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


def _by_blocks(dumps: Sequence[Fact]) -> dict[str, int | None]:
    """By source: the number with which each name ends, if these are all ranks of the groups, once each, in blocks; else none."""
    found: dict[str, int | None] = {}
    blocks: dict[str, list[int]] = defaultdict(list)
    everyone: set[int] = set()
    for fact in dumps:
        ends = _ENDS_IN_A_NUMBER.fullmatch("/".join(re.split(r"[/!]", fact.span.path)[-2:]))
        members = [set(ranks_of(group.members)) for group in rank_record(fact, -1).groups if group.members]
        if not ends or not members or not all(int(ends["number"]) in some for some in members):
            return {}
        found[fact.source] = int(ends["number"])
        blocks[ends["before"]].append(int(ends["number"]))
        everyone.update(*members)
    listed = sorted(number for block in blocks.values() for number in block)
    sizes = {len(block) for block in blocks.values()}
    are_blocks = all(max(block) - min(block) == len(block) - 1 for block in blocks.values())
    is_proven = len(blocks) > 1 and len(sizes) == 1 and sizes != {1} and are_blocks
    return found if is_proven and listed == sorted(everyone) else {}
