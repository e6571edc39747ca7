"""What is known of the end of a worker beside what its launcher says: whether its own log was collected, in which it would
have said why it ended, and whether it was the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Source, Value, ranks_of

_SIGKILL, _SIGTERM = 9, 15
#: What the pattern of torchrun's table keeps of the heading above the row of the first that it observed.
_ROOT_ROW = "Root Cause"
_TOLD_TO_END = frozenset({-_SIGTERM, 128 + _SIGTERM})
#: Launchers that report the ends of ranks.
_LAUNCHERS = frozenset({"srun", "mpirun", "torchrun"})
#: What is told of a worker by others.
_OF_OTHERS = frozenset({"launcher-failure", "oom-kill", "attach", "detach", "core-dump", "stand"})
#: What tells why somebody ended.
_OF_ENDS = frozenset({"hang-report", "status"})
#: What the runtime says in every worker, and nowhere else.
_OF_WORKERS = frozenset({"core-layout", "visible-cores"})


def with_logs(facts: Sequence[Fact], sources: Iterable[Source], heard: frozenset[int] | None) -> Iterator[Fact]:
    """The facts; those about the end of a worker of known rank also say whether its words were collected (it is among those
    `heard`), whether it ended of itself, where all others were told to, whether it was killed since it did not heed that it
    was, and whether its launcher saw another end of itself before it."""
    sources = tuple(sources)
    first = {id(fact) for fact in _first(facts, _known(facts, sources))}
    late = {id(fact) for fact in _killed_late(facts)}
    later = {id(fact) for fact in _after_another(facts)}
    for fact in facts:
        if fact.kind == "launcher-failure" and fact.place.rank is not None:
            more: dict[str, Value] = {"first": True} if id(fact) in first else {}
            more |= {"told": True} if id(fact) in late else {}
            more |= {"later": True} if id(fact) in later else {}
            yield replace(fact, data={**fact.data, **more, "logged": heard is None or fact.place.rank in heard})
        else:
            yield fact


def heard_ranks(
    facts: Sequence[Fact],
    sources: Iterable[Source],
    world_size: int | None = None,
    harmless: frozenset[str] = frozenset(),
) -> frozenset[int] | None:
    """The ranks whose words were collected: in a log of their own, or in one of many in which every line has its rank or
    process, but for `harmless` patterns. None: all were, since as many workers speak as the job has ranks."""
    logs = {source.id: source for source in sources if source.kind == "log" and source.records}
    heard = {source.place.rank for source in logs.values() if source.place.rank is not None}
    told = {
        (fact.source, fact.span.offset) for fact in facts if fact.kind in _OF_OTHERS
    }  # and what else those lines state
    spoken = [fact for fact in facts if fact.source in logs and (fact.source, fact.span.offset) not in told]
    unnamed = logs_of_unnamed(fact for fact in spoken if fact.kind == "hang-report" and fact.place.pid is None)
    nobodys = [fact for fact in spoken if _is_of_nobody(fact) and not _is_of_no_end(fact, harmless)]
    anonymous = unnamed | {fact.source for fact in nobodys if fact.kind != "hang-report"}
    heard |= {f.place.rank for f in spoken if f.place.rank is not None and f.source not in anonymous}
    workers = {(f.place.host, f.place.pid) for f in spoken if f.kind in _OF_WORKERS and f.place.pid is not None}
    lost = any(_is_of_nobody(fact) and fact.kind in _OF_ENDS for fact in spoken)
    return None if world_size and len(workers) >= world_size and not lost else frozenset(heard)


def logs_of_unnamed(reports: Iterable[Fact]) -> set[str]:
    """The sources of the `hang-report` facts in which one may be of a rank that no other one there names. What many ranks
    print into one log often has the report of the library without a rank, and with it in the traceback that follows."""
    named: dict[str, set[int]] = defaultdict(set)
    unnamed: dict[str, set[object]] = defaultdict(set)
    for report in reports:
        named[report.source].update(ranks_of(report.place))
        if not ranks_of(report.place):
            unnamed[report.source].add(report.instant or report.span)
    return {source for source, said in unnamed.items() if len(said) > len(named[source])}


def _is_of_nobody(fact: Fact) -> bool:
    return not ranks_of(fact.place) and fact.place.pid is None


def _is_of_no_end(fact: Fact, harmless: frozenset[str]) -> bool:
    """A step that is done, a launcher that tells of its child or is told what to start, or what means nothing."""
    return fact.kind in ("launch", "progress") or "child_type" in fact.data or fact.data.get("pattern") in harmless


def _known(facts: Iterable[Fact], sources: Iterable[Source]) -> frozenset[object]:
    """The workers that the job is known to have: ranks, and processes of no known rank."""
    places = [*(source.place for source in sources), *(fact.place for fact in facts)]
    ranked = {place.pid for place in places if ranks_of(place)}
    processes = {(p.host, p.pid) for p in places if p.pid is not None and p.pid not in ranked}
    return frozenset({*processes, *(rank for place in places for rank in ranks_of(place))})


def _first(facts: Iterable[Fact], known: frozenset[object]) -> Iterator[Fact]:
    """What launchers say of the one rank of a job of several that was not told to end: nobody else ended otherwise, and in
    no report anybody was told to end before it."""
    attempts: dict[int | None, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind == "launcher-failure" and ranks_of(fact.place) and fact.data.get("launcher") in _LAUNCHERS:
            attempts[fact.place.attempt].append(fact)
    for ends in attempts.values():
        told = [end for end in ends if is_told_to_end(end)]
        own = [end for end in ends if not is_told_to_end(end)]
        ranks = {rank for end in own for rank in ranks_of(end.place)}
        if len(ranks) == 1 and len(known) > 1 and not any(map(_after_the_first(told), own)):
            yield from own


def _killed_late(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Workers that srun reports as killed after others that were told to end: it kills those that do not heed that."""
    ends = [fact for fact in facts if fact.kind == "launcher-failure" and fact.data.get("launcher") == "srun"]
    is_late = _after_the_first(filter(is_told_to_end, ends))
    yield from (end for end in ends if end.data.get("signal") == _SIGKILL and is_late(end))


def _after_another(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Workers before which another one ended of itself, by the same launcher's account: srun reports ends as they come, and
    torchrun names the first that it observed among those of its host."""
    ends = [f for f in facts if f.kind == "launcher-failure" and ranks_of(f.place) and not is_told_to_end(f)]
    is_later = _after_the_first(ends)
    observed = {(end.source, end.place.host): end.place.rank for end in ends if end.data.get("message") == _ROOT_ROW}
    for end in ends:
        by_torchrun = end.data.get("launcher") == "torchrun"
        if (
            observed.get((end.source, end.place.host), end.place.rank) != end.place.rank
            if by_torchrun
            else is_later(end)
        ):
            yield end


def _after_the_first(told: Iterable[Fact]) -> Callable[[Fact], bool]:
    """Whether srun, which reports ends as they come, reports one after one of those that were told to."""
    earliest: dict[str, int] = {}
    for end in told:
        if end.data.get("launcher") == "srun":
            earliest[end.source] = min(end.span.offset, earliest.get(end.source, end.span.offset))
    return lambda end: earliest.get(end.source, end.span.offset) < end.span.offset


def is_told_to_end(end: Fact) -> bool:
    """Whether a worker ended by SIGTERM, as launchers end those that run when another one has failed, or was killed since it
    did not heed that."""
    by_signal = end.data.get("signal") == _SIGTERM or end.data.get("exitcode") in _TOLD_TO_END
    return by_signal or end.data.get("told") is True
