"""Which dumps are of one recorder: a process with two backends has one for each, and both are dumped under the rank's number.

Names of groups are counted over all backends of a process, so that two recorders of one process know none in common, while
every dump of an earlier run of the same program knows the same names. So the dumps fall apart by the groups that they share; if
more than one part has a dump of most ranks, one of each, and all parts end at about the same time, each is a recorder's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neuron_doctor.engine.recorder import RankRecord


def by_recorder(records: Sequence[RankRecord], gap_ns: int) -> list[list[RankRecord]]:
    """The dumps of each recorder; all in one list where nothing shows that there are several. What is of none is among the
    first."""
    ranks = {record.rank for record in records}
    if len(ranks) == len(records):
        return [list(records)]
    parts = _sharing_groups(records)
    large = [part for part in parts if 2 * len({record.rank for record in part}) > len(ranks)]
    once = all(len({record.rank for record in part}) == len(part) for part in large)
    ends = [max(record.last_ns for record in part) for part in large]
    if len(large) == 1 or not once or not ends or not all(ends) or max(ends) - min(ends) > gap_ns:
        return [list(records)]
    rest = [record for part in parts if not any(part is one for one in large) for record in part]
    return [[*large[0], *rest], *large[1:]]


def _sharing_groups(records: Iterable[RankRecord]) -> list[list[RankRecord]]:
    """The dumps that know a group in common, or are joined by others that do, in their order."""
    parts: list[tuple[set[str], list[RankRecord]]] = []
    for record in records:
        names, joined = {group.name for group in record.groups if group.name}, [record]
        apart = []
        for known, part in parts:
            if known & names:
                names, joined = names | known, [*part, *joined]
            else:
                apart.append((known, part))
        parts = [*apart, (names, joined)]
    return [part for _, part in parts]
