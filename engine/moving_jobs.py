"""Whether dumps are of a job that moves rather than of one that hangs, by the faults that they seem to show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.fault import Blame
from neuron_doctor.engine.idle_ranks import show_ends
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import ROOTED, RankRecord, named_ranks

#: What a collective looks like that runs, or ends, when the dumps are taken.
_RUNNING = frozenset({"transport-stall", "partial-completion"})
#: What may look so for a moment in a job that moves.
TRANSIENT = _RUNNING | {"device-stuck", "rank-missing", "p2p-missing", "undecided", "moving"}
#: So many groups that show one thing, each by itself, prove it.
_SEVERAL = 2
#: So many devices get stuck at once by themselves: one holds up all others.
_STUCK = 2
#: At least one in so many dumps shows completions that were just seen, where a job moves.
_FRESH = 2
#: So many groups are named in a sentence.
_SHOWN = 4


def of_a_hang(blames: list[Blame], groups: Sequence[ProcessGroup], dumps: Mapping[int, RankRecord]) -> list[Blame]:
    """The faults that dumps seem to show; one that says so instead, where they are of a job that moves, or may be."""
    moving = [one for one in blames if one.verdict == "moving"]
    if len(moved := [group for group in groups if group.went_on()]) >= _SEVERAL:
        return [_seen_going_on(moved)]
    blames = _without_what_just_moved(blames, dumps)
    if moving and not any(one.culprits for one in blames):
        return moving
    if lags := _lags(blames, dumps):
        return _seen_lagging(blames, lags, dumps)
    if _moves(blames, dumps):
        ending = _end_in_several([one for one in blames if one.verdict == "partial-completion"]) or any(
            group.has_outdated() for group in groups
        )
        return [_seen_moving(blames, seen_ending=ending)]
    return [_seen_several(blames)] if _are_several_stalls(blames) else blames


def _without_what_just_moved(blames: list[Blame], dumps: Mapping[int, RankRecord]) -> list[Blame]:
    """Without devices that are said to be stuck while the dumps of their own ranks show that they had just completed something,
    or are older than those of their peers. Where most dumps show completions, those of all whom anything is blamed on among
    them, the hang would be no older than that."""
    fresh = {rank for rank, dump in dumps.items() if dump.fresh}
    if _FRESH * len(fresh) >= len(dumps) and all(
        fresh.issuperset(one.culprits) or _has_just_ended(one, fresh) for one in blames
    ):
        lasting = [one for one in blames if one.verdict not in TRANSIENT]
        told = "had seen collectives complete in the moment before their dumps were written: the job moved"
        moving = Blame("moving", told, members=tuple(sorted(fresh)), about_ranks=True)
        return lasting or ([moving] if blames else [])
    stuck = [one for one in blames if one.verdict == "device-stuck"]
    moved = {id(one) for one in stuck if not fresh.isdisjoint(one.culprits) or _is_older(one)}
    return [_just_moved(one) if id(one) in moved else one for one in blames]


def _has_just_ended(one: Blame, fresh: Collection[int]) -> bool:
    """Whether most of those on whom a collective completed had just seen something complete: the others are about to see it."""
    over = set(one.gathering.group.members) - set(one.gathering.waiting) if one.gathering else set()
    return one.verdict == "partial-completion" and bool(over) and _FRESH * len(over.intersection(fresh)) >= len(over)


def _is_older(one: Blame) -> bool:
    """Whether a device had not even started, while it worked on an earlier collective, what peers completed, which they cannot
    have before it starts: then its dump shows a moment before that."""
    group = one.gathering.group if one.gathering and not one.momentary else None
    members = [group.members[rank] for rank in one.culprits if rank in group.members] if group else []
    top = max((member.done for member in group.members.values()), default=-1) if group else -1
    pending = [(member.at(top), member.record.pending) for member in members if member.record]
    return any(
        last is not None and last.state == "scheduled" and last.name not in ROOTED and waits[0].state == "started"
        for last, waits in pending
        if waits
    )


def _just_moved(one: Blame) -> Blame:
    """What is said instead of a device of which one dump shows that it is stuck, and another that it was not."""
    told = (
        "seems to lag behind its peers, by a dump that shows a moment in which its device still moved: it was written before "
        "theirs, or the hang was that young; take the dumps of all ranks again, at one time"
    )
    return replace(one, verdict="undecided", told=told, culprits=(), members=one.culprits)


def _lags(blames: Sequence[Blame], dumps: Mapping[int, RankRecord]) -> list[Blame]:
    """The devices that did not complete what their peers did, where these are more than get stuck at once by themselves, and no
    host has them all: who looks for completions does so now and then, and of a job that moves they are seen on some ranks
    before others."""
    lags = [one for one in blames if one.verdict == "device-stuck" and not one.momentary]
    hosts = _hosts(lags, dumps)
    return lags if len(_culprits(lags)) > _STUCK and (len(hosts) > 1 or None in hosts) else []


def _culprits(blames: Iterable[Blame]) -> list[int]:
    return sorted({rank for one in blames for rank in one.culprits})


def _hosts(blames: Iterable[Blame], dumps: Mapping[int, RankRecord]) -> set[str | None]:
    """The hosts of the ranks at fault, None among them where one is not known."""
    return {dumps[rank].fact.place.host for rank in _culprits(blames)}


def _seen_lagging(blames: Sequence[Blame], lags: Sequence[Blame], dumps: Mapping[int, RankRecord]) -> list[Blame]:
    """What is said where so many lag. Faults that time does not heal hold. That the job moves is sure if collectives run
    meanwhile in other groups, and what holds up one host, in a way that no dump shows, cannot be the reason."""
    if lasting := [one for one in blames if one.verdict not in TRANSIENT]:
        return lasting
    told = (
        f"{named_ranks(_culprits(lags))} have not seen completed what their peers did, which are more than get stuck at once: "
        "so it looks when the dumps are taken of a job that moves; take them again a minute later"
    )
    runs = any(one.verdict in _RUNNING for one in blames)
    apart = len(_hosts(lags, dumps) - {None}) > 1
    verdict = "moving" if runs and apart and _end_in_several(lags) else "undecided"
    return [Blame(verdict, told, members=tuple(sorted(dumps)), gathering=lags[0].gathering)]


def _are_several_stalls(blames: Sequence[Blame]) -> bool:
    """Whether collectives of several groups stand at once that have nothing to do with one another, where the recorders
    do not learn of completions: a hang has one reason, and what holds them all is not in the dumps."""
    stalls = {id(one.gathering.group): one.gathering.group for one in blames if one.gathering}
    unseen = not any(group.completions for group in stalls.values())
    return len(stalls) > 1 and unseen and all(one.verdict == "transport-stall" for one in blames)


def _seen_several(blames: Sequence[Blame]) -> Blame:
    titles = sorted({one.gathering.group.title for one in blames if one.gathering})
    told = (
        f"all ranks have come to collectives of {len(titles)} groups ({', '.join(titles[:_SHOWN])}) that do not wait for "
        "one another, and these recorders learn of no completion: the dumps were taken of a job that moves, or all groups "
        "wait in transfers that no dump shows, or nothing carries any of them; record completions (a backend with completion "
        "hooks, or NCCL), or take the dumps again a minute later"
    )
    members = tuple(sorted({rank for one in blames for rank in one.members}))
    return Blame("undecided", told, members=members, gathering=blames[0].gathering)


def _moves(blames: Sequence[Blame], dumps: Mapping[int, RankRecord]) -> bool:
    """Whether the job seems to go on: in one place a rank is still to come, and in another all have come to a collective
    that just runs, or ends; or a device is still to come, and elsewhere it just ends. A hang has one of these reasons, a snapshot
    of a moving job has both. Where transfers are not recorded, those who have come may wait in one."""
    stalls = [one for one in blames if one.verdict in _RUNNING and one.gathering and not one.gathering.is_transfer]
    runs = [one for one in stalls if (one.gathering and one.gathering.group.completions) or not show_ends(dumps)]
    late = any(one.verdict in {"rank-missing", "p2p-missing"} and one.culprits for one in blames)
    stuck = [one for one in blames if one.verdict == "device-stuck"]
    ends = [one for one in runs if one.verdict == "partial-completion"]
    unstarted = any(one.momentary for one in stuck)
    apart = any(set(one.culprits).isdisjoint(end.culprits) and end.culprits for one in stuck for end in ends)
    return bool(runs) and (late or (bool(ends) and unstarted) or apart)


def _end_in_several(ending: Sequence[Blame]) -> bool:
    """Whether the collectives that are over on some ranks and not on others are of several places, of which none waits for
    another."""
    return len({id(one.gathering) for one in ending}) >= _SEVERAL


def _seen_going_on(moved: Sequence[ProcessGroup]) -> Blame:
    """What is said of a job of which several groups went on while their dumps were written: what stands in one of them may be
    over in the next moment."""
    titles = ", ".join(sorted({group.title for group in moved})[:_SHOWN])
    told = f"while the dumps were written {len(moved)} groups went on ({titles}): they show no one state of the job"
    return Blame(
        "moving", told, members=tuple(sorted({rank for group in moved for rank in group.members})), group=moved[0]
    )


def _seen_moving(blames: Sequence[Blame], *, seen_ending: bool) -> Blame:
    """What is said of a job that seems to go on; for sure where dumps show the end of what others
    lack, or of what others are still in, in several groups."""
    late = tuple(sorted({rank for one in blames for rank in (one.culprits or one.missing)}))
    told = (
        f"one place still waits for {named_ranks(late)} while in another all have come to a collective that has not "
        "completed on all: so it looks when the dumps are taken of a job that moves; take them again a minute later"
    )
    told += "; it did move between them, as some show the end of what others lack" if seen_ending else ""
    return Blame("moving" if seen_ending else "undecided", told, members=late, gathering=blames[0].gathering)
