"""What the flight recorders of all ranks say together: who blocks whom, in which collective, and why.

In: the `fr-rank` facts of a job. Out: `collective` facts, each with one verdict. `place.ranks` are the ranks at fault, ()
where the dumps convict none. The span is the dump of the first rank at fault, else of a rank that waits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.blame import blame
from neuron_doctor.engine.common_member import waits_for_alone
from neuron_doctor.engine.dump_moments import are_of_one_time
from neuron_doctor.engine.dumps import Selection, selections
from neuron_doctor.engine.facts import Fact, Place, Value
from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.gatherings import Waits, waits
from neuron_doctor.engine.late_issues import came_too_late
from neuron_doctor.engine.moving_jobs import TRANSIENT
from neuron_doctor.engine.process_groups import ProcessGroup, process_groups
from neuron_doctor.engine.recorder import (
    GroupRecord,
    Operation,
    RankRecord,
    named_ranks,
    rank_record,
    told_of_collective,
)
from neuron_doctor.engine.recorders import without_those_who_wait
from neuron_doctor.engine.stragglers import stragglers

#: One dump that is older than the others may have been left by a rank that wrote none since.
_TOGETHER = 2


def match_collectives(facts: Sequence[Fact], heard: Iterable[int] = ()) -> tuple[Fact, ...]:
    """The `collective` facts that follow from the `fr-rank` facts: the same whatever their order. `heard`: ranks that the
    job is known to have, with a dump or without.

    Linear in ranks, groups and open operations: a process group is one node, never pairs of its ranks.
    """
    runs: dict[tuple[str | None, int | None], list[tuple[Fact, ...]]] = defaultdict(list)
    for selection in selections(facts):
        if told := tuple(_of_run(selection, heard)):
            runs[told[0].place.job, told[0].place.attempt].append(told)
    found = tuple(fact for recorders in runs.values() for fact in without_those_who_wait(recorders))
    return found if any(fact.data["culprits"] for fact in found) else (*found, *_nameless(facts))


def _nameless(facts: Iterable[Fact]) -> Iterator[Fact]:
    """What dumps of unknown ranks leave open: matched with nothing, they may hold the hang."""
    records = [rank_record(fact, -1) for fact in facts if fact.place.rank is None]
    waiting = [record for record in records if any(map(_may_wait, record.groups))]
    if waiting:
        told = (
            f"neither the names nor the groups of {len(waiting)} dumps with open operations tell which ranks wrote them, so "
            "that they were matched with nothing: put the rank into the name of each (rank_N)"
        )
        first = min(waiting, key=lambda record: (record.fact.span.path, record.fact.source))
        yield _derived(first, told_of_collective("undecided", told), (), None)


def _may_wait(group: GroupRecord) -> bool:
    return bool(group.pending or group.pending_transfers) or (not group.completions and group.last_record() >= 0)


def _of_run(selection: Selection, heard: Iterable[int]) -> Iterator[Fact]:
    dumps = selection.dumps
    if not dumps:
        return
    groups = process_groups(dumps, heard)
    if selection.scattered:
        slow = [
            _fact(one, dumps) for one in _slow(groups)
        ]  # who comes last again and again, whenever dumps were written
        yield from slow or [_moving(dumps) if selection.moving else _scattered(dumps)]
        yield from map(_stale, selection.stale)
        return
    found = waits(groups, dumps)
    blames = blame(groups, dumps, found)
    if len(blames) == 1 and not blames[0].culprits:
        blames = _convicted(blames[0], found, selection)
    if not blames and not found.gatherings:
        blames = _slow(groups) or _too_late(groups) or [_idle(groups, dumps)]
    elif all(one.verdict == "moving" for one in blames) or _are_several_moments(blames):
        whole = {**selection.dumps, **{record.rank: record for record in selection.behind}}
        blames = _slow(process_groups(dict(sorted(whole.items())), heard)) or blames
    blames = _as_of_one_time(blames, selection)
    for one in blames:
        yield _fact(one, dumps)
    yield from map(_stale, selection.stale)


def _are_several_moments(blames: Sequence[Blame]) -> bool:
    """Whether all that stands is several devices that have not begun what others have: so it looks, too, whenever dumps are taken
    of a job in which a rank is slow."""
    return len({rank for one in blames for rank in one.culprits}) > 1 and all(one.momentary for one in blames)


def _as_of_one_time(blames: list[Blame], selection: Selection) -> list[Blame]:
    """The blames, but what may pass is none where dumps that were left out as older were asked for just before the others:
    whoever fetches them from one host after the other does so of a job that moves, or that stopped in just that minute."""
    if len(selection.behind) < _TOGETHER or not are_of_one_time((*selection.dumps.values(), *selection.behind)):
        return blames
    if all(one.verdict in {"moving", "rank-missing"} and not one.culprits for one in blames):
        return blames
    if not all(one.verdict in TRANSIENT for one in blames):
        return blames
    told = (
        f"the job went on since the dumps of {named_ranks(sorted(one.rank for one in selection.behind))} were written, shortly "
        "before the others, which may show a moment of it: take the dumps of all ranks again, at one time"
    )
    return [Blame("undecided", told, members=tuple(selection.dumps))]


def _convicted(one: Blame, found: Waits, selection: Selection) -> list[Blame]:
    """A blame for a rank without a dump, which is convicted where nothing else can hold up all that waits."""
    alone = one.verdict == "rank-missing" and len(one.missing) == 1 and one.missing[0] not in selection.dumps
    if not alone or any(record.rank in one.missing for record in selection.stale):
        return [one]
    if not waits_for_alone(found, one.missing[0], selection.dumps):
        return [one]
    told = "; and so does another group that has no other member in common with it, though neither holds up the other on any rank"
    return [replace(one, culprits=one.missing, told=one.told + told)]


def slow_ranks(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The stragglers that the dumps tell of, whatever is outstanding in them."""
    return tuple(
        _fact(one, selection.dumps) for selection in selections(facts) for one in _slow(process_groups(selection.dumps))
    )


def _slow(groups: list[ProcessGroup]) -> list[Blame]:
    return [
        Blame(
            "straggler",
            f"came last to {slow.times} of the last {slow.of} collectives of {slow.group.title} that waited; the others did "
            f"{slow.wait_us / 1000:.0f} ms longer than it did (median)",
            culprits=(slow.rank,),
            waiting=tuple(sorted(set(slow.group.members) - {slow.rank})),
            group=slow.group,
            about_ranks=True,
        )
        for slow in stragglers(groups)
    ]


def _too_late(groups: list[ProcessGroup]) -> list[Blame]:
    """Nothing is outstanding, as what failed is retired, too: who came to the last collective after all others had given up."""
    found = [(group, late) for group in groups if not group.completions and (late := came_too_late(group, groups))]
    return [
        Blame(
            "rank-missing",
            f"came to the last collective of {group.title} {gap_ms / 1000:.0f} s after all others, which had given up by then",
            culprits=(rank,),
            waiting=tuple(sorted(set(group.members) - {rank})),
            group=group,
            about_ranks=True,
        )
        for group, (rank, gap_ms) in found[:1]
    ]


def _idle(groups: list[ProcessGroup], dumps: dict[int, RankRecord]) -> Blame:
    """Nothing is outstanding anywhere: all in step, or apart."""
    missing = tuple(sorted({rank for group in groups if group.proven for rank in group.ranks} - set(dumps)))
    for group in groups:
        if group.proven and group.completions and len({member.issued for member in group.members.values()}) > 1:
            told = f"no collective is outstanding on any rank, and the ranks of {group.title} stand at different ones"
            return Blame("outside", told, group=group, missing=missing)
    if missing and not all(group.completions for group in groups):
        told = (
            "all ranks that left a dump have issued the same collectives; no completion is recorded, so they may wait "
            "in them for those that left none"
        )
        return Blame("undecided", told, missing=missing)
    told = "no collective is outstanding on any rank, and all ranks stand at the same ones"
    return Blame("healthy", told, missing=missing)


def _fact(one: Blame, dumps: dict[int, RankRecord]) -> Fact:
    evidence = next(
        (dumps[rank] for rank in (*one.culprits, *one.waiting) if rank in dumps), next(iter(dumps.values()))
    )
    operation = one.gathering.operation if one.gathering else None
    group = one.gathering.group if one.gathering else one.group
    data = told_of_collective(
        one.verdict,
        _described(one, dumps),
        operation=operation.name if operation else "",
        ordinal=operation.sequence if operation else -1,
        culprits=one.culprits,
        waiting=one.waiting,
        missing_dumps=one.missing,
        members=one.members,
        suspects=one.suspects,
        culprit_frame=_stood_at(one, dumps)[1],
        waiting_frame=_waits_at(one),
        difference=one.difference,
    )
    return _derived(evidence, data, one.culprits, group.title if group else None)


def _described(one: Blame, dumps: dict[int, RankRecord]) -> str:
    """The fault in one sentence, with the call sites where the culprit stood and where the others wait."""
    (how, stood), waits_at = _stood_at(one, dumps), _waits_at(one)
    operation = one.gathering.operation if one.gathering else None
    number = f" (number {operation.sequence} of its group)" if operation else ""
    parts = [one.description + number]
    if stood and stood == waits_at:
        parts.append(f"rank {one.culprits[0]} {how} at the call site where the others wait, {stood}")
    else:
        parts += [f"rank {one.culprits[0]} {how} in {stood}"] if stood else []
        parts += [f"the others wait in {waits_at}"] if waits_at and one.waiting else []
    parts += [_would_show(one, dumps)] if one.verdict == "undecided" else []
    return "; ".join(parts)


def _would_show(one: Blame, dumps: dict[int, RankRecord]) -> str:
    """What to collect, or to set for the next run, so that the same fault shows its culprit."""
    group = one.gathering.group if one.gathering else one.group
    wanted = [f"the dump of {named_ranks(one.missing)}"] if one.missing else []
    if group is None or not group.completions:
        wanted.append("a backend whose completions are recorded (NCCL, or a backend with completion hooks)")
    if not all(dump.whole for dump in dumps.values()):
        wanted.append("more of the past (TORCH_FR_BUFFER_SIZE=20000, before torch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE)")
    if not any(record.starts for dump in dumps.values() for record in dump.groups):
        wanted.append("what has started (TORCH_NCCL_ENABLE_TIMING=1)")
    return f"what would show the culprit: {', '.join(wanted) or 'a stack of every rank (py-spy dump)'}"


def _stood_at(one: Blame, dumps: dict[int, RankRecord]) -> tuple[str, str]:
    """How and where the first culprit stood: in the first operation that is open there, else where it issued the last one that
    its dump describes. The place is empty without culprit, dump or stacks."""
    record = dumps.get(one.culprits[0]) if one.culprits else None
    if record is None:
        return "", ""
    told = (group for group in record.groups if group.completions)
    waits_in = (operation for group in told for operation in (*group.pending, *group.pending_transfers))
    first = min(waits_in, key=lambda operation: operation.record, default=None)
    if first is not None and first.frames:
        return "waits", first.frames[0]
    return "issued its last operation", _latest_frame(record)


def _waits_at(one: Blame) -> str:
    operation = one.gathering.operation if one.gathering else None
    return operation.frames[0] if operation and operation.frames else ""


def _scattered(dumps: dict[int, RankRecord]) -> Fact:
    told = (
        "the dumps were written at different moments, between which the job went on: they show no one state of it, and who seems "
        "to wait may have been waited for; take the dumps of all ranks again, at one time"
    )
    data = told_of_collective("undecided", told, members=tuple(dumps), scattered=True)
    return _derived(next(iter(dumps.values())), data, (), None)


def _moving(dumps: dict[int, RankRecord]) -> Fact:
    told = (
        "the dumps were written one after the other, and each shows that the job went on since the one before: no hang is shown; "
        "if it has stopped since, take the dumps of all ranks again, at one time"
    )
    return _derived(next(iter(dumps.values())), told_of_collective("moving", told, members=tuple(dumps)), (), None)


def left_out(facts: Iterable[Fact]) -> Iterator[Fact]:
    """What is said of dumps that take no part: those of earlier attempts."""
    yield from (_stale(rank_record(fact, fact.place.rank)) for fact in facts if fact.place.rank is not None)


def _stale(record: RankRecord) -> Fact:
    told = f"the dump of rank {record.rank} is of another run, or was written earlier: it was left out"
    return _derived(record, told_of_collective("stale-dump", told, members=(record.rank,)), (), None)


def _derived(evidence: RankRecord, data: dict[str, Value], ranks: tuple[int, ...], group: str | None) -> Fact:
    """A fact that stands on one dump: of its run, and on its host if it is about its rank alone."""
    source = evidence.fact
    alone = ranks == (evidence.rank,)
    place = Place(
        job=source.place.job,
        attempt=source.place.attempt,
        host=source.place.host if alone else None,
        rank=evidence.rank if alone else None,
        group=group,
        ranks=ranks,
    )
    return Fact("collective", data, place, source.span, source.source, source.instant)


def _latest_frame(record: RankRecord) -> str:
    """Where the rank's program stood when it issued the last operation that its dump describes."""
    operations: Iterable[Operation] = (
        operation
        for group in record.groups
        for operations in (group.recent, group.pending, group.transfers, group.pending_transfers)
        for operation in operations
        if operation.frames
    )
    latest = max(operations, key=lambda operation: operation.record, default=None)
    return latest.frames[0] if latest else ""
