"""Where completions are not recorded: collectives of two groups that ranks issued in different orders, and so wait in."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from neuron_doctor.engine.process_groups import Key, ProcessGroup

#: Of each group so many collectives are looked at: the last that all members issued.
_LOOK_BACK = 16
#: What is found more often than this is how the program always does it.
_SELDOM = 2


def inversions(groups: Iterable[ProcessGroup]) -> dict[Key, int]:
    """By group: the first of its last collectives that some members issued before, and others after, one of another
    group. Only groups of which no completion is known: elsewhere it is seen who waits."""
    silent = [group for group in groups if not group.completions and group.proven]
    issued = _issued(silent)
    found: dict[Key, int] = {}
    for group in silent:
        seen = list(_differing(group, issued))
        often = Counter(other for _, other, _ in seen)
        for ordinal, other, behind in seen:
            if often[other] <= _SELDOM:
                found[group.key] = min(ordinal, found.get(group.key, ordinal))
                found[other] = min(behind, found.get(other, behind))
    return found


_Issued = dict[int, dict[Key, tuple[list[int], int]]]


def _issued(groups: Iterable[ProcessGroup]) -> _Issued:
    """By rank and group: the records of the collectives in its window, and the ordinal of the first of them."""
    found: _Issued = defaultdict(dict)
    for group in groups:
        for rank, member in group.members.items():
            if member.window:
                records = [operation.record for operation in member.window]
                found[rank][group.key] = records, member.base + member.window[0].number
    return found


def _differing(group: ProcessGroup, issued: _Issued) -> Iterator[tuple[int, Key, int]]:
    """Collectives of a group by ordinal, another group, and the first collective of that one which some members issued
    before and some after it."""
    joined = min((member.issued for member in group.members.values()), default=-1)
    for ordinal in range(max(0, joined - _LOOK_BACK + 1), joined + 1):
        counts: dict[Key, set[int]] = defaultdict(set)
        for rank, member in group.members.items():
            operation = member.at(ordinal)
            for other, (records, first) in issued[rank].items() if operation else ():
                if operation and other != group.key and records[0] < operation.record:
                    counts[other].add(first + bisect_left(records, operation.record))
        for other, before in counts.items():
            if len(before) > 1:
                yield ordinal, other, min(before)
