"""Convicts ranks that dumps without completions leave in doubt, where the watchdogs of all others gave up and theirs did not.

A recorder that knows only what was issued cannot tell a rank that never came from one whose device still works on what it
issued last. The watchdog of a process group can: it looks after each operation of its own rank, and gives up on it after the
same time everywhere. A rank of which no watchdog says so, in a log in which it would have done, waits in nothing. A rank that
says in other words that it waits, or lost a peer, and a watchdog that does not say of which rank it is, leave it in doubt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Clock, Fact, Source, ranks_of
from neuron_doctor.engine.moments import Track, moment_of
from neuron_doctor.engine.recorder import most_alone, named_ranks
from neuron_doctor.engine.silence import ranks_beside

#: So many ranks at least gave up.
_WITNESSES = 3
#: So many neighbours report in a log that ranks share: in one with a single rank's words it may be that rank's alone.
_NEIGHBOURS = 2
#: A watchdog gives up so long after its rank issued the last operation, at most, and all of a host so near to one another.
_LONGEST_NS, _TOGETHER_NS = 6 * 3600 * 10**9, 3600 * 10**9
#: Clocks of hosts differ by so much.
_SLACK_NS = 10 * 10**9


def convicted_by_watchdogs(
    collectives: Iterable[Fact], facts: Sequence[Fact], sources: Iterable[Source]
) -> Iterator[Fact]:
    """The `collective` facts; those that suspect ranks that way name them as missing."""
    collectives = tuple(collectives)
    if not any(_suspects(fact) for fact in collectives):
        yield from collectives
        return
    dumps = {fact.place.rank: fact for fact in facts if fact.kind == "fr-rank"}
    reports = _of_this_hang([fact for fact in facts if fact.kind == "hang-report"], dumps)
    watchdogs = [fact for fact in reports if fact.data.get("what") == "watchdog"]
    own = [fact for fact in watchdogs if fact.data.get("own") is True]
    gave_up = {rank for fact in own for rank in ranks_of(fact.place)}
    complain = {rank for fact in reports for rank in ranks_of(fact.place)}
    heard = _heard(dumps, own, facts, sources)
    known = len(gave_up) >= _WITNESSES and all(ranks_of(fact.place) for fact in watchdogs)
    for fact in collectives:
        suspects = _suspects(fact)
        few = suspects and len(suspects) <= most_alone(len(dumps))
        silent = few and suspects <= heard and suspects.isdisjoint(complain)
        yield _missing(fact, suspects) if known and silent and gave_up == set(dumps) - suspects else fact


def _suspects(fact: Fact) -> frozenset[int]:
    """The ranks that may have come to an operation or not, with a dump of each: others wait in it."""
    told = fact.data
    suspects, waiting = told.get("suspects"), told.get("waiting")
    in_doubt = told.get("verdict") == "undecided" and told.get("witness") == "recorder" and told.get("operation")
    if not in_doubt or told.get("missing_dumps") or not isinstance(suspects, tuple) or not isinstance(waiting, tuple):
        return frozenset()
    ranks = frozenset(rank for rank in suspects if isinstance(rank, int))
    return ranks if ranks.isdisjoint(waiting) else frozenset()


def _of_this_hang(reports: Sequence[Fact], dumps: Mapping[int | None, Fact]) -> list[Fact]:
    """Those that may be of the hang in which the dumps were written: not before the last operation of their rank, not long after
    it, nor long before the last report of their host. What has no time may be."""
    latest: dict[Track, int] = {}
    for report in reports:
        if moment := moment_of(report):
            latest[moment.track] = max(moment.instant.ns, latest.get(moment.track, moment.instant.ns))

    def is_near(report: Fact) -> bool:
        moment, dump = moment_of(report), dumps.get(report.place.rank)
        if moment is None:
            return True
        issued = dump.data.get("last_ns") if dump else None
        if moment.instant.clock is Clock.UTC and isinstance(issued, int) and issued > 0:
            return -_SLACK_NS <= moment.instant.ns - issued <= _LONGEST_NS
        return latest[moment.track] - moment.instant.ns <= _TOGETHER_NS

    return [report for report in reports if is_near(report)]


def _heard(
    dumps: Mapping[int | None, Fact], reports: Sequence[Fact], facts: Iterable[Fact], sources: Iterable[Source]
) -> set[int | None]:
    """The ranks that would have been heard: in logs of their own, which do not break off, or in one that ranks share, in which
    several neighbours report that are of their host, or of whatever host if they say anything in it themselves."""
    whole = {source.id: source for source in sources if source.kind == "log" and source.records and not source.unended}
    own = {source.place.rank for source in whole.values()}
    told: dict[str, set[int]] = defaultdict(set)
    near: dict[tuple[str, str | None], set[int]] = defaultdict(set)
    for report in reports:
        told[report.source].update(ranks_of(report.place))
        near[report.source, report.place.host].update(ranks_of(report.place))
    shared = {name for name, ranks in told.items() if name in whole and len(ranks) >= _NEIGHBOURS}
    speak = ranks_beside(facts, (report for report in reports if report.source in shared))
    hosts = {host for (name, host), ranks in near.items() if name in shared and len(ranks) >= _NEIGHBOURS and host}
    beside = {rank for rank, dump in dumps.items() if dump.place.host in hosts}
    return own | speak | beside


def _missing(fact: Fact, ranks: Collection[int]) -> Fact:
    culprits = tuple(sorted(ranks))
    told, group = fact.data, f" of {fact.place.group}" if fact.place.group else ""
    described = (
        f"{named_ranks(culprits)} never issued {told['operation']}{group} (number {told['ordinal']} of its group), in which "
        f"others wait: the watchdogs of all others gave up, and {named_ranks(culprits)} waited in nothing"
    )
    data = {
        **told,
        "verdict": "rank-missing",
        "culprits": culprits,
        "members": (),
        "suspects": (),
        "description": described,
    }
    rank = culprits[0] if len(culprits) == 1 else None
    return replace(fact, data=data, place=replace(fact.place, rank=rank, ranks=culprits))
