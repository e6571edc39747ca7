"""Which flight-recorder dumps belong together: one for each rank, of one run; stale and foreign ones are set apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from neuron_doctor.engine.dump_moments import (
    Stand,
    are_of_one_time,
    moments,
    moved_to_the_end,
    progress,
    retirements,
    stands,
)
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.recorder import RankRecord, rank_record, ranks_of
from neuron_doctor.engine.recorders import by_recorder

#: Dumps of one hang end within the run-ahead of the hosts; those of another attempt, a time-out and a restart away.
GAP_NS = 600 * 10**9

#: Dumps at so many places, of which one in so many at most is not behind: no two of them need to be of one moment.
_STAGES, _AHEAD = 4, 4
#: A clock may be off by so much; a recorder that began later than that after the last entry of another dump is of a later run.
_CLOCKS_NS = 60 * 10**9
#: Two moments may be that of an old dump and that of a hang.
_MOMENTS = 3

_Key = tuple[str, str]


class Selection(Struct, frozen=True):
    """The dumps of one run and recorder, by rank, and those that lay beside them and are not of it. `scattered`: most were
    written at so different moments that they show no one state of the job; `moving`: and went on from each to the next.
    `behind`: those that were left out because they were written before the others."""

    dumps: dict[int, RankRecord]
    stale: tuple[RankRecord, ...]
    scattered: bool = False
    moving: bool = False
    behind: tuple[RankRecord, ...] = ()


def of_last_attempts(facts: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """The dumps of the last attempt of each job, with those of which no attempt is known; and those of earlier attempts."""
    listed = list(facts)
    last: dict[str | None, int] = {}
    for fact in listed:
        if fact.place.attempt is not None:
            last[fact.place.job] = max(fact.place.attempt, last.get(fact.place.job, 0))
    over = [fact for fact in listed if fact.place.attempt is not None and fact.place.attempt < last[fact.place.job]]
    dropped = set(map(id, over))
    return [fact for fact in listed if id(fact) not in dropped], over


def selections(facts: Iterable[Fact]) -> Iterator[Selection]:
    """The dumps of each (job, attempt) and recorder, whatever the order of `facts`. Dumps of an unknown rank are in none."""
    runs: dict[tuple[str, int], list[RankRecord]] = defaultdict(list)
    for fact in sorted(facts, key=lambda fact: (fact.span.path, fact.source)):
        if fact.place.rank is not None:
            run = (fact.place.job or "", -1 if fact.place.attempt is None else fact.place.attempt)
            runs[run].append(rank_record(fact, fact.place.rank))
    for run in sorted(runs):
        yield from map(_selection, by_recorder(runs[run]))


def _selection(records: list[RankRecord]) -> Selection:
    main, rest = _by_time(records)
    before = _ended_before(main)
    run = [record for record in main if id(record) not in before]
    reach = _reach(run)
    run += [record for record in main if id(record) in before and not _is_of_larger_run(record, run, reach)]
    kept = run + [record for record in rest if not record.last_ns or _stands(record, reach)]
    dumps = _newest(_domestic(kept) or kept)
    behind, places = _left_behind(stands(dumps))
    few = 2 * len(behind) <= len(dumps)
    # Where most are behind, and at one place, the few that are ahead of them may be the strange ones.
    early = tuple(dumps[rank] for rank in sorted(behind)) if few else ()
    dumps = {rank: record for rank, record in dumps.items() if not few or rank not in behind}
    chosen = {id(record) for record in dumps.values()}
    twins = {rank: _signature(record) for rank, record in dumps.items()}
    stale = (r for r in records if id(r) not in chosen and twins.get(r.rank) != _signature(r))
    scattered = not few and places > 1
    moving = scattered and (moved_to_the_end(dumps, behind) or _are_of_many_moments(dumps, behind, places))
    if are_of_one_time(dumps.values()) and moments(retirements(dumps)) >= _MOMENTS:
        scattered = moving = True
    return Selection(dict(sorted(dumps.items())), tuple(stale), scattered, moving, early)


def _are_of_many_moments(dumps: dict[int, RankRecord], behind: set[int], places: int) -> bool:
    """Whether few dumps are of the last moment, and the others of more than those of old dumps that lie beside: of many, or of
    some within the time that it takes to ask all hosts."""
    several = are_of_one_time(dumps.values()) and moments(stands(dumps)) >= _MOMENTS
    return _AHEAD * (len(dumps) - len(behind)) <= len(dumps) and (places >= _STAGES or several)


def _signature(record: RankRecord) -> tuple[int, int, int]:
    return record.rank, record.entries, record.last_ns


def _by_time(records: list[RankRecord]) -> tuple[list[RankRecord], list[RankRecord]]:
    """The largest set of dumps that end without a gap between them (the latest of equals), and all others."""
    timed = sorted((record for record in records if record.last_ns), key=lambda record: record.last_ns)
    clusters: list[list[RankRecord]] = []
    for record in timed:
        if clusters and record.last_ns - clusters[-1][-1].last_ns <= GAP_NS:
            clusters[-1].append(record)
        else:
            clusters.append([record])
    if not clusters:
        return records, []
    main = max(reversed(clusters), key=lambda cluster: len({record.rank for record in cluster}))
    chosen = {id(record) for record in main}
    return main, [record for record in records if id(record) not in chosen]


def _ended_before(records: Iterable[RankRecord]) -> set[int]:
    """The dumps, by identity, that ended before the recorders of more others began: they are of an earlier run, or of a host
    whose clock is behind."""
    timed = sorted((record for record in records if record.last_ns), key=lambda record: record.last_ns)
    began = _began_after(timed)
    ended = next((at for at in range(len(timed) - 1, 0, -1) if began[at] - timed[at - 1].last_ns > _CLOCKS_NS), 0)
    return {id(record) for record in timed[:ended]} if 2 * ended < len(timed) else set()


def _is_of_larger_run(record: RankRecord, run: Sequence[RankRecord], reach: dict[_Key, tuple[int, int]]) -> bool:
    """Whether a dump that ended before is of none of the ranks of a run that left the dumps of all, and stands elsewhere."""
    ranks = {one.rank for one in run}
    return record.rank >= len(ranks) == max(ranks) + 1 and _stands(record, reach) is False


def _began_after(timed: Sequence[RankRecord]) -> list[int]:
    """For each of these dumps when the first recorder began of it and all later ones; 0 where a ring has lost that."""
    found: list[int] = []
    for record in reversed(timed):
        began = record.first_ns if record.whole else 0
        found.append(min(began, found[-1]) if found else began)
    return found[::-1]


def _reach(records: Iterable[RankRecord]) -> dict[_Key, tuple[int, int]]:
    """By group: the lowest number up to which a rank has completed, and the highest that one has issued."""
    found: dict[_Key, tuple[int, int]] = {}
    for record in records:
        for group in record.groups:
            done, issued = progress(group)
            if issued >= 0:
                low, high = found.get((group.name, group.members), (done, issued))
                found[group.name, group.members] = min(low, done), max(high, issued)
    return found


def _stands(record: RankRecord, reach: dict[_Key, tuple[int, int]]) -> bool | None:
    """Whether a dump that ends at another time stands where its peers do: then only its clock is wrong. None where it shares no
    collectives with them."""
    shared = [
        (group, reach[group.name, group.members]) for group in record.groups if (group.name, group.members) in reach
    ]
    known = [(progress(group)[1], low, high) for group, (low, high) in shared if progress(group)[1] >= 0]
    return all(low - 1 <= issued <= high + 1 for issued, low, high in known) if known else None


def _domestic(records: list[RankRecord]) -> list[RankRecord]:
    """Without the dumps of another job: the members of its groups left dumps here, and none of them knows the groups."""
    groups = [{group.members for group in record.groups if len(ranks_of(group.members)) > 1} for record in records]
    listed = Counter(members for mine in groups for members in mine)
    ranks = {record.rank for record, mine in zip(records, groups, strict=True) if mine}

    def is_foreign(rank: int, mine: set[str]) -> bool:
        alone = bool(mine) and all(listed[members] == 1 for members in mine)
        return alone and any(peer in ranks for members in mine for peer in ranks_of(members) if peer != rank)

    return [record for record, mine in zip(records, groups, strict=True) if not is_foreign(record.rank, mine)]


def _newest(records: Iterable[RankRecord]) -> dict[int, RankRecord]:
    best: dict[int, RankRecord] = {}
    for record in records:
        held = best.get(record.rank)
        if held is None or (record.last_ns, record.entries) > (held.last_ns, held.entries):
            best[record.rank] = record
    return best


def _left_behind(standing: Iterable[Stand]) -> tuple[set[int], int]:
    """Ranks whose dump was written earlier than the others': peers completed two collectives that it never issued. And at
    how many different places they stand, at most, in one group."""
    furthest: dict[_Key, int] = defaultdict(lambda: -1)
    for one in standing:
        furthest[one.group] = max(furthest[one.group], one.over)
    late = [one for one in standing if one.issued < furthest[one.group]]
    places = Counter(group for group, _ in {(one.group, one.issued) for one in late} if any(group))
    return {one.rank for one in late}, max(places.values(), default=0)
