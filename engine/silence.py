"""The one rank that says nothing while all others whose logs are here say that they wait or lost a peer.

Ranks give up within moments of each other, and who gives up first brings the others down: a rank that its launcher ended
within those moments may only have been slower. So may one beside ranks that only lost those who had given up.
Before anybody has made a step, a silent rank may still compile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Source, Value, ranks_of
from neuron_doctor.engine.match import canonical
from neuron_doctor.engine.moments import difference_ns, moment_of
from neuron_doctor.engine.quiet_cores import quiet_rank
from neuron_doctor.engine.topology import Topology
from neuron_doctor.engine.worker_ends import is_told_to_end, logs_of_unnamed

_GAVE_UP = frozenset({"collectives", "barrier", "watchdog"})
_SAID = _GAVE_UP | {"lost"}
#: What is told of a rank by others.
_OF_OTHERS = frozenset({"launcher-failure", "oom-kill", "attach", "detach", "core-dump"})
#: So many ranks must speak; and so many where nothing tells when the silent one ended, nor that it outlived the others, nor a
#: dump that is missing.
_FEWEST = 3
_FEWEST_UNTIMED = 4


class _Silence(NamedTuple):
    """The rank that is silent beside those that have `spoken`, of whom these `gave_up`, and all that were `heard`. `bereft`: it
    lost the others well after they had given up. `quiet`: the kernels say that of all cores only its own does not hang."""

    rank: int
    spoken: frozenset[int]
    gave_up: frozenset[int]
    heard: frozenset[int | None]
    wrote_nothing: bool
    bereft: bool = False
    quiet: bool = False


def silent_ranks(
    facts: Sequence[Fact], sources: Sequence[Source], of_logs: frozenset[int] | None, topology: Topology
) -> list[Fact]:
    """The `silent-rank` fact, if there is one: at that rank, on the first report of the others. `of_logs`: the ranks whose
    words were collected, None: everybody's."""
    reports = [fact for fact in facts if fact.kind == "hang-report" and fact.data["what"] in _SAID]
    found = _silence(facts, reports, sources, of_logs, topology) if _has_stepped(facts) else None
    if (
        found is None
        or not _is_telling(found, reports, sources, topology)
        or not _had_its_time(found, facts, reports, topology)
    ):
        return []
    first = min(reports, key=canonical)
    place = Place(
        job=first.place.job,
        attempt=first.place.attempt,
        host=topology.host_of_rank.get(found.rank),
        rank=found.rank,
    )
    data: dict[str, Value] = {"others": len(found.spoken)}
    return [replace(first, kind="silent-rank", data=data, place=place, instant=None, repeats=0)]


def _has_stepped(facts: Iterable[Fact]) -> bool:
    """Whether the job had come further than its start: to a step, or to collectives that were recorded."""
    return any(fact.kind in ("progress", "fr-rank") for fact in facts)


def _silence(
    facts: Sequence[Fact],
    reports: Sequence[Fact],
    sources: Sequence[Source],
    of_logs: frozenset[int] | None,
    topology: Topology,
) -> _Silence | None:
    """The only one of those that were heard who has not spoken."""
    spoken = frozenset(rank for fact in reports for rank in ranks_of(fact.place))
    gave_up = frozenset(rank for fact in reports if fact.data["what"] in _GAVE_UP for rank in ranks_of(fact.place))
    dumped = {f.place.rank for f in facts if f.kind == "fr-rank"}
    heard = _heard(facts, reports, sources, set(topology.ranks) if of_logs is None else of_logs)
    heard |= {s.place.rank for s in sources if s.kind == "log" and _wrote_nothing(s.place.rank, spoken, dumped)}
    bereft = _bereft(reports, spoken - gave_up)
    if bereft is not None and spoken == set(range(topology.world_size or len(spoken))):
        spoken = gave_up
    quiet = quiet_rank(facts, topology.world_size or 1 + max(gave_up, default=0))
    if quiet is not None and quiet.rank not in gave_up:
        gave_up |= quiet.others
        heard, spoken = heard | {quiet.rank}, spoken | quiet.others
    silent = {rank for rank in heard - spoken if rank is not None}
    if len(silent) != 1:
        return None
    [rank] = silent
    return _Silence(
        rank,
        spoken,
        gave_up,
        heard,
        wrote_nothing=_wrote_nothing(rank, spoken, dumped),
        bereft=rank == bereft,
        quiet=quiet is not None and quiet.rank == rank,
    )


def _heard(
    facts: Sequence[Fact], reports: Sequence[Fact], sources: Sequence[Source], known: Set[int]
) -> frozenset[int | None]:
    """The ranks that would have spoken here: in logs of their own, or where others did."""
    where = {report.source for report in reports}
    own = {s.place.rank for s in sources if s.kind == "log" and s.records}
    own |= {f.place.rank for f in facts if f.kind == "progress"}
    own |= {rank for s in sources if s.id in where for rank in s.ranks}
    return frozenset(own | (known & ranks_beside(facts, reports)))


def _is_telling(found: _Silence, reports: Sequence[Fact], sources: Sequence[Source], topology: Topology) -> bool:
    """Whether its silence says something: enough others speak, and it would have been heard."""
    if len(found.spoken) < _FEWEST:
        return False
    world = max(topology.world_size or 0, 1 + max(found.spoken | {found.rank}))
    own = any(s.kind == "log" and s.place.rank == found.rank for s in sources)
    by_itself = found.quiet or found.bereft or found.wrote_nothing
    if not (own or by_itself) and 2 * len(found.spoken) < world:
        return False  # in logs that ranks share, most of the others say nothing either
    if not (found.gave_up or by_itself) and len(found.heard | found.spoken) < world:
        return False  # a connection that was lost may be to those of which nothing was collected
    if found.gave_up and found.spoken - found.gave_up and not found.wrote_nothing:
        return False
    anonymous = logs_of_unnamed(reports) or _is_incomplete(found.rank, found.spoken, sources, reports)
    return found.quiet or not anonymous


def _had_its_time(found: _Silence, facts: Iterable[Fact], reports: Iterable[Fact], topology: Topology) -> bool:
    """Whether it was not merely slower than the others, nor is another one, of which nothing is here, to blame."""
    told = [fact for fact in facts if fact.kind == "launcher-failure"]
    known = found.heard | found.spoken
    if any(not is_told_to_end(end) and not known >= set(ranks_of(end.place)) for end in told):
        return False  # a rank of which nothing was collected failed by itself: that may be the one
    ends = [end for end in told if found.rank in ranks_of(end.place) and is_told_to_end(end)]
    outlived = found.spoken <= {one for end in told for one in ranks_of(end.place)}
    fewest = _FEWEST if ends or outlived or found.wrote_nothing else _FEWEST_UNTIMED
    near = [fact for fact in reports if fact.place.host == topology.host_of_rank.get(found.rank)]
    lasting = [end for end in ends if end.data.get("told")] or ends  # as long as it did not heed SIGTERM, it lived on
    return len(found.spoken) >= fewest and (found.bereft or all(_is_late(end, near) for end in lasting))


def silent_in_dumps(
    collectives: Iterable[Fact],
    facts: Sequence[Fact],
    sources: Sequence[Source],
    heard: frozenset[int] | None,
    topology: Topology,
) -> Iterator[Fact]:
    """The `collective` facts; those that say that all wait for one rank without a dump convict it where all others gave up
    waiting in so many words and it, whose words were collected (`heard`, None: everybody's), did not. That its dump lacks
    alone proves nothing: it may have been lost."""
    reports = [fact for fact in facts if fact.kind == "hang-report" and fact.data["what"] in _GAVE_UP]
    spoken = {rank for fact in reports for rank in ranks_of(fact.place)}
    anonymous = bool(logs_of_unnamed(reports))
    for fact in collectives:
        missing, waiting = (
            {rank for rank in listed if isinstance(rank, int)}
            if isinstance(listed := fact.data.get(name), tuple)
            else set()
            for name in ("missing_dumps", "waiting")
        )
        alone = len(missing) == 1 and len(spoken) >= _FEWEST and not missing & spoken and waiting <= spoken
        open_verdict = fact.data.get("verdict") == "rank-missing" and not fact.data.get("culprits")
        collected = (heard is None or missing <= heard) and not any(
            _is_incomplete(rank, spoken, sources, reports) for rank in missing
        )
        if alone and open_verdict and not anonymous and collected and waiting:
            [rank] = missing
            told = f"{fact.data['description']}; all others gave up waiting, and its log says nothing"
            data = {**fact.data, "culprits": (rank,), "description": told, "witness": "silence"}
            place = replace(fact.place, rank=rank, ranks=(rank,), host=topology.host_of_rank.get(rank))
            yield replace(fact, data=data, place=place, instant=None)  # the instant is of a peer's clock
        else:
            yield fact


def ranks_beside(facts: Iterable[Fact], reports: Iterable[Fact]) -> set[int]:
    """The ranks of which a word stands where others report: there they would have reported too."""
    where = {report.source for report in reports}
    return {f.place.rank for f in facts if f.source in where and f.place.rank is not None and f.kind not in _OF_OTHERS}


def _is_incomplete(rank: int, spoken: Set[int], sources: Sequence[Source], reports: Iterable[Fact]) -> bool:
    """Whether the rank may have spoken in a log that was not collected, as each of the others has one of its own, or in one
    that ends in the middle of a line."""
    own = {source.place.rank for source in sources if source.kind == "log"}
    if spoken <= own and rank not in own:
        return True
    shared = {report.source for report in reports}
    return any(s.unended and (s.place.rank == rank or (s.place.rank is None and s.id in shared)) for s in sources)


def _wrote_nothing(rank: int | None, spoken: Set[int], dumped: Set[int | None]) -> bool:
    """Whether it left no dump either, as all that spoke did: then a log without a line is no accident."""
    return rank not in dumped and spoken <= dumped


def _bereft(reports: Iterable[Fact], only_lost: Set[int]) -> int | None:
    """The one rank that never gave up, and only lost peers well after all others of its host had given up: one that was
    slower would have given up by then."""
    lost = _own_words(report for report in reports if only_lost & set(ranks_of(report.place)))
    if len(only_lost) != 1 or not lost:
        return None
    first = min(lost, key=canonical)
    near = [report for report in reports if report.data["what"] in _GAVE_UP and report.place.host == first.place.host]
    enough = len({rank for report in near for rank in ranks_of(report.place)}) >= _FEWEST
    return min(only_lost) if enough and all(_is_late(one, near) for one in lost) else None


def _own_words(reports: Iterable[Fact]) -> list[Fact]:
    """Without what a program repeats of its runtime's report: a traceback is dated by the line before it, if at all."""
    reports = list(reports)
    dated = {ranks_of(report.place) for report in reports if report.place.pid is not None}
    return [r for r in reports if r.place.pid is not None or ranks_of(r.place) not in dated]


def _is_late(end: Fact, reports: Iterable[Fact]) -> bool:
    """Whether it came for sure after the first report of every rank of its host, by more than these lie apart."""
    told = moment_of(end)
    longest: dict[tuple[int, ...], int] = {}
    for report in _own_words(reports):
        at = moment_of(report)
        gap = difference_ns(at, told) if at and told else None
        if gap is None:
            return False
        ranks = ranks_of(report.place)
        longest[ranks] = max(gap, longest.get(ranks, gap))
    gaps = longest.values()
    return bool(gaps) and min(gaps) > max(gaps) - min(gaps)
