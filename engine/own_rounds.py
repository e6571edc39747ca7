"""Ranks whose last round of transfers lacks some that all their earlier rounds had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import RankRecord

#: So many rounds that are alike tell what belongs to one.
_ALIKE = 2

_Round = Counter[tuple[str, str, int, int]]


def short_of_a_round(groups: Iterable[ProcessGroup], dumps: Mapping[int, RankRecord], ranks: Iterable[int]) -> set[int]:
    """Of these ranks, those that issued fewer transfers before their last collective of the largest group than between
    any two earlier ones, which were all alike, and none that these had not."""
    listed = list(groups)
    return {rank for rank in ranks if rank in dumps and _is_short(_rounds(listed, dumps[rank]))}


def _is_short(rounds: list[_Round]) -> bool:
    *earlier, last = rounds or [Counter()]
    return len(earlier) >= _ALIKE and all(one == earlier[0] for one in earlier) and last < earlier[0]


def _rounds(groups: Iterable[ProcessGroup], dump: RankRecord) -> list[_Round]:
    """The transfers of a rank between its collectives of the largest group, those without any left out; a ring may have
    cut the first one short."""
    mine = [(g, m) for g in groups if (m := g.members.get(dump.rank)) and m.window]
    if not mine:
        return []
    _, member = max(mine, key=lambda one: len(one[0].ranks))
    ends = [operation.record for operation in member.window]
    moved = [
        (operation.record, (group.name, operation.kind, operation.source, operation.target))
        for group in dump.groups
        for operation in (*group.transfers, *group.pending_transfers)
    ]
    since = min((record for record, _ in moved), default=0)
    found = [
        Counter(what for record, what in moved if begin < record < end)
        for begin, end in pairwise(ends)
        if begin >= since
    ]
    return [one for one in found if one]
