"""The ranks of processes, by what both say of one failure: the runtime of a process returns a code and tells the number of the
process, the program that called it raises an exception with this code and tells its rank.

    2026-Jun-12 14:17:35.240000 40021:40321 ERROR  NMGR:dlr_exec_wait   Execution completed with err: 5. mode->h_nn=1007, lnc=21
    [rank341]: RuntimeError: Failed to execute the model status=5 message=Timeout Exceeded

In one log that has the lines of several, a code that one process returned, and below that one rank raised, is of that process, if
as many ranks raised codes there as processes returned some: then no line is missing of which the pair could be. What several
processes returned alike tells of none. A process whose rank something else tells, and a rank whose process, have no part in this.

A label `[r341]` may be that of a local rank. All such labels are of ranks in the job if one is too great for any host, and no
number stands in two logs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: The kind of fact for a code that a call of the runtime returned.
_STATUS = "status"
#: No host has more cores, nor local ranks.
_CORES = 128
_LABEL = regex(r"\[r(?P<number>\d{1,6})\]:? ")


class _Told(Struct):
    """Where in a log, by code and process (or rank), codes are returned first, and raised last."""

    returned: dict[object, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    raised: dict[object, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    #: Processes and ranks that one record names together.
    known: set[tuple[str, int]] = field(default_factory=set)


def with_ranks_that_raised(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts; those of processes whose rank is found so, of that rank."""
    facts = _with_labels(facts)
    if not any(map(_is_raised, facts)):
        return facts
    rank_of = {
        (source, pid): rank
        for source, told in _told(facts).items()
        if _are_complete(told)
        for pid, rank in _pairs(told)
    }
    return [_ranked(fact, rank_of) for fact in facts] if rank_of else facts


def _with_labels(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts; codes behind the label of a rank, of that rank."""
    labels = {n: int(found["number"]) for n, fact in enumerate(facts) if (found := _label(fact))}
    logs: dict[int, set[str]] = defaultdict(set)
    for number, label in labels.items():
        logs[label].add(facts[number].source)
    if max(logs, default=0) < _CORES or any(len(several) > 1 for several in logs.values()):
        return facts
    return [
        replace(fact, place=replace(fact.place, rank=labels[n])) if n in labels else fact
        for n, fact in enumerate(facts)
    ]


def _label(fact: Fact) -> re.Match[str] | None:
    place = fact.place
    alone = fact.kind == _STATUS and place.rank is None and place.pid is None
    return _LABEL.match(fact.span.text) if alone else None


def _is_raised(fact: Fact) -> bool:
    return fact.kind == _STATUS and fact.place.rank is not None and fact.place.pid is None


def _told(facts: Iterable[Fact]) -> dict[str, _Told]:
    found: dict[str, _Told] = defaultdict(_Told)
    for fact in facts:
        pid, rank, offset, told = fact.place.pid, fact.place.rank, fact.span.offset, found[fact.source]
        if pid is not None and rank is not None:
            told.known |= {("pid", pid), ("rank", rank)}
        elif fact.kind == _STATUS and pid is not None:
            first = told.returned[fact.data["code"]]
            first[pid] = min(offset, first.get(pid, offset))
        elif fact.kind == _STATUS and rank is not None:
            last = told.raised[fact.data["code"]]
            last[rank] = max(offset, last.get(rank, offset))
    return found


def _are_complete(told: _Told) -> bool:
    processes = {pid for returned in told.returned.values() for pid in returned}
    ranks = {rank for raised in told.raised.values() for rank in raised}
    return len(processes) == len(ranks)


def _pairs(told: _Told) -> Iterable[tuple[int, int]]:
    for code, returned in told.returned.items():
        raised = told.raised.get(code, {})
        if len(returned) == len(raised) == 1:
            [(pid, begun)], [(rank, ended)] = returned.items(), raised.items()
            if begun < ended and {("pid", pid), ("rank", rank)}.isdisjoint(told.known):
                yield pid, rank


def _ranked(fact: Fact, rank_of: dict[tuple[str, int], int]) -> Fact:
    place = fact.place
    if place.pid is None or place.rank is not None or (fact.source, place.pid) not in rank_of:
        return fact
    return replace(fact, place=replace(place, rank=rank_of[fact.source, place.pid]))
