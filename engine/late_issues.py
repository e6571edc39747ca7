"""Who comes late to the collectives of a job that moves, where recorders tell only when each rank issued them (gloo).

Issue times are compared where nothing says that the ranks are on several hosts, and the clocks agree: other collectives the same
ranks issue within milliseconds of one another, again and again, which clocks that are apart would show only if somebody was late
by just as much. Stages of a pipeline come to a common collective in turn, and nothing shows this pipeline. So one who comes late
is slow only where all others, three or more, come at one time, or where groups of the same sort wait for nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from neuron_doctor.engine.median import median
from neuron_doctor.engine.process_groups import Key, Member, ProcessGroup
from neuron_doctor.engine.recorder import ROOTED
from neuron_doctor.engine.unseen_transfers import takes_part

#: Issued within so long of one another, collectives are issued at one time; so many of them prove that clocks agree.
_LEVEL_NS, _FEWEST_LEVEL = 20_000_000, 5
#: What counts as waiting, and how large a share of the time it must be in all.
FLOOR_US, OF_ALL_TIME = 50_000, 10
#: So many ranks beside the late one show that they come at one time: within this part of its delay.
_FEWEST_OTHERS, _PART = 3, 4
#: In so many of the collectives that wait.
_SHARE = 0.9
#: So many collectives tell what a group of the same sort does.
_FEWEST_ROWS = 5

#: How long each rank waited in one collective for the last one, in microseconds.
Row = dict[int, int]


def waits_by_issue(groups: Sequence[ProcessGroup]) -> Mapping[Key, list[Row]]:
    """By group of which no completion is known: the waits in its collectives, where they tell who is slow."""
    silent = [group for group in groups if not group.completions and _is_whole(group) and _are_seen_whole(group)]
    rows = {group.key: _rows(group) for group in silent}
    return {
        group.key: rows[group.key]
        for group in silent
        if rows[group.key]
        and _is_of_one_clock(group, groups)
        and (_comes_alone(rows[group.key]) or _others_wait_for_nobody(group, silent, rows))
    }


def came_too_late(group: ProcessGroup, groups: Iterable[ProcessGroup]) -> tuple[int, int] | None:
    """The one rank that came to the last collective of a group after the time-out of all others, which had come at one time, and
    by how many milliseconds. None where no rank did, or where it may have waited for another one itself: in another group of
    which it recorded anything, or in a transfer that its dump only counts."""
    last = {member.issued for member in group.members.values()}
    ends = [member.at(min(last)) for member in group.members.values()] if len(last) == 1 else []
    known = sorted((one.created_ns, one.timeout_ms) for one in ends if one and one.created_ns > 0 < one.timeout_ms)
    if not known or len(known) < len(group.ranks) or not _is_whole(group):
        return None
    (begun, _), (*_, (before, _)), (late, _) = known[0], known[:-1], known[-1]
    gap, longest = (late - before) // 1_000_000, max(timeout for _, timeout in known)
    together = (before - begun) * _PART <= late - before
    if gap < longest or not together or not _is_of_one_clock(group, groups):
        return None
    who = next(m for m in group.members.values() if (one := m.at(min(last))) and one.created_ns == late)
    return None if _may_wait_elsewhere(who) else (who.rank, gap)


def _may_wait_elsewhere(member: Member) -> bool:
    """Whether a rank takes part in anything but the collectives of this group."""
    others = (group for group in member.dump.groups if group is not member.record)
    return takes_part(member.dump) or any(group.length or group.last_record() >= 0 for group in others)


def typical_wait(row: Row) -> float:
    """How much longer than the last of them the others wait."""
    return median(sorted(row.values())[1:]) - min(row.values())


def _is_whole(group: ProcessGroup) -> bool:
    """Whether all its members left a dump, and are on one host for all that is known."""
    members = list(group.members.values())
    hosts = {member.dump.fact.place.host for member in members} - {None}
    return len(hosts) <= 1 < len(group.ranks) == len(members) and all(member.window for member in members)


def _are_seen_whole(group: ProcessGroup) -> bool:
    return not any(takes_part(member.dump) for member in group.members.values())


def _rows(group: ProcessGroup) -> list[Row]:
    """Of each collective that all members still describe how long they waited for the last one."""
    members = list(group.members.values())
    found = []
    for times in _issued(members):
        last = max(times.values())
        found.append({rank: (last - at) // 1000 for rank, at in times.items()})
    return found


def _issued(members: Sequence[Member]) -> Iterable[dict[int, int]]:
    """When each of these members of a group issued its collectives that all of them describe, but for those in which not all
    wait for all."""
    first = max(member.base + member.window[0].number for member in members)
    last = min(member.base + member.window[-1].number for member in members)
    for ordinal in range(first, last + 1):
        known = {member.rank: one for member in members if (one := member.at(ordinal)) and one.created_ns > 0}
        if len(known) == len(members) and not any(one.name in ROOTED for one in known.values()):
            yield {rank: one.created_ns for rank, one in known.items()}


def _is_of_one_clock(group: ProcessGroup, groups: Iterable[ProcessGroup]) -> bool:
    level = 0
    for other in groups:
        shared = [other.members[rank] for rank in group.members if rank in other.members and other.members[rank].window]
        if len(shared) == len(group.members):
            level += sum(max(times.values()) - min(times.values()) <= _LEVEL_NS for times in _issued(shared))
    return level >= _FEWEST_LEVEL


def _comes_alone(rows: Iterable[Row]) -> bool:
    """Whether, where anybody is waited for, all others come at one time."""
    telling = [row for row in rows if typical_wait(row) >= FLOOR_US]
    together = 0
    for row in telling:
        others = sorted(row.values())[1:]
        together += len(others) >= _FEWEST_OTHERS and (others[-1] - others[0]) * _PART <= typical_wait(row)
    return bool(telling) and together >= _SHARE * len(telling)


def _others_wait_for_nobody(
    group: ProcessGroup, groups: Iterable[ProcessGroup], rows: Mapping[Key, Sequence[Row]]
) -> bool:
    """Whether groups of the same sort and size, with other members, wait for nobody nearly as long."""
    alike = [
        other
        for other in groups
        if other.desc == group.desc and len(other.ranks) == len(group.ranks) and not set(other.ranks) & set(group.ranks)
    ]
    own = _share_that_waits(rows[group.key])
    return bool(alike) and all(
        len(rows[other.key]) >= _FEWEST_ROWS and _share_that_waits(rows[other.key]) * _PART <= own for other in alike
    )


def _share_that_waits(rows: Sequence[Row]) -> float:
    return sum(typical_wait(row) >= FLOOR_US for row in rows) / len(rows)
