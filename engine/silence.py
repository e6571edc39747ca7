"""The one rank that says nothing while all others whose logs are here say that they wait or lost a peer.

Ranks give up within moments of each other, and who gives up first brings the others down: a rank that its launcher ended
within those moments may only have been slower. So may one beside ranks that only lost those who had given up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place, Source, ranks_of
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


def silent_ranks(
    facts: Sequence[Fact], sources: Sequence[Source], of_logs: frozenset[int] | None, topology: Topology
) -> list[Fact]:
    """The `silent-rank` fact, if there is one: at that rank, on the first report of the others. `of_logs`: the ranks whose
    words were collected, None: everybody's."""
    reports = [fact for fact in facts if fact.kind == "hang-report" and fact.data["what"] in _SAID]
    spoken = {rank for fact in reports for rank in ranks_of(fact.place)}
    gave_up = {rank for fact in reports if fact.data["what"] in _GAVE_UP for rank in ranks_of(fact.place)}
    dumped = {f.place.rank for f in facts if f.kind == "fr-rank"}
    heard = {
        s.place.rank
        for s in sources
        if s.place.rank is not None and s.kind == "log" and (s.records or _wrote_nothing(s.place.rank, spoken, dumped))
    }
    heard |= {f.place.rank for f in facts if f.kind == "progress" and f.place.rank is not None}
    known = set(topology.ranks) if of_logs is None else of_logs
    heard |= known & _beside_reports(facts, reports)
    bereft = _bereft(reports, spoken - gave_up)
    everybody = spoken == set(range(topology.world_size or len(spoken)))
    if bereft is not None and everybody:
        spoken = gave_up
    quiet = quiet_rank(facts, topology.world_size or 1 + max(gave_up, default=0))
    quiet = None if quiet is None or quiet.rank in gave_up else quiet
    if quiet is not None:
        gave_up |= quiet.others
        heard, spoken = heard | {quiet.rank}, spoken | quiet.others
    silent = heard - spoken
    if len(silent) != 1 or len(spoken) < _FEWEST or (quiet is None and logs_of_unnamed(reports)):
        return []
    [rank] = silent
    if gave_up and spoken - gave_up and not _wrote_nothing(rank, spoken, dumped):
        return []
    if quiet is None and _is_incomplete(rank, spoken, sources, reports):
        return []
    host = topology.host_of_rank.get(rank)
    told = [fact for fact in facts if fact.kind == "launcher-failure"]
    if any(not is_told_to_end(end) and not heard | spoken >= set(ranks_of(end.place)) for end in told):
        return []  # a rank of which nothing was collected failed by itself: that may be the one
    ends = [end for end in told if rank in ranks_of(end.place) and is_told_to_end(end)]
    near = [fact for fact in reports if fact.place.host == host]
    outlived = spoken <= {one for end in told for one in ranks_of(end.place)}
    fewest = _FEWEST if ends or outlived or _wrote_nothing(rank, spoken, dumped) else _FEWEST_UNTIMED
    lasting = [
        end for end in ends if end.data.get("told")
    ] or ends  # it lived on for as long as it did not heed SIGTERM
    if (rank != bereft and not all(_is_late(end, near) for end in lasting)) or len(spoken) < fewest:
        return []
    first = min(reports, key=canonical)
    place = Place(job=first.place.job, attempt=first.place.attempt, host=host, rank=rank)
    return [replace(first, kind="silent-rank", data={"others": len(spoken)}, place=place, instant=None, repeats=0)]


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


def _beside_reports(facts: Iterable[Fact], reports: Iterable[Fact]) -> set[int]:
    """The ranks of which a word stands where others report: there they would have reported too."""
    where = {report.source for report in reports}
    return {f.place.rank for f in facts if f.source in where and f.place.rank is not None and f.kind not in _OF_OTHERS}


def _is_incomplete(rank: int, spoken: set[int], sources: Sequence[Source], reports: Iterable[Fact]) -> bool:
    """Whether the rank may have spoken in a log that was not collected, as each of the others has one of its own, or in one
    that ends in the middle of a line."""
    own = {source.place.rank for source in sources if source.kind == "log"}
    if spoken <= own and rank not in own:
        return True
    shared = {report.source for report in reports}
    return any(s.unended and (s.place.rank == rank or (s.place.rank is None and s.id in shared)) for s in sources)


def _wrote_nothing(rank: int, spoken: set[int], dumped: set[int | None]) -> bool:
    """Whether it left no dump either, as all that spoke did: then a log without a line is no accident."""
    return rank not in dumped and spoken <= dumped


def _bereft(reports: Iterable[Fact], only_lost: set[int]) -> int | None:
    """The one rank that never gave up, and only lost peers well after all others of its host had given up: one that was
    slower would have given up by then."""
    lost = _own_words(report for report in reports if only_lost & set(ranks_of(report.place)))
    if len(only_lost) != 1 or not lost:
        return None
    first = min(lost, key=canonical)
    near = [report for report in reports if report.data["what"] in _GAVE_UP and report.place.host == first.place.host]
    enough = len({rank for report in near for rank in ranks_of(report.place)}) >= _FEWEST
    return only_lost.pop() if enough and all(_is_late(one, near) for one in lost) else None


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
