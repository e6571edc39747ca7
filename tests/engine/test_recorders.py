"""Two recorders of one process are told from two dumps of one recorder by the groups that they know."""

from __future__ import annotations

from neuron_doctor.engine.facts import NOWHERE, Fact, Span
from neuron_doctor.engine.recorder import GroupRecord, RankRecord
from neuron_doctor.engine.recorders import by_recorder

SECOND = 10**9
GAP = 600 * SECOND
FACT = Fact("fr-rank", {}, NOWHERE, Span("d", 0, 1, None, None, ""), "d")


def group(name: str) -> GroupRecord:
    return GroupRecord(name, "", 0, "", None, None, None, False, False, 0, True, False, False, (), (), (), (), ())


def dump(rank: int, *groups: str, last: int = 1000) -> RankRecord:
    return RankRecord(rank, FACT, tuple(map(group, groups)), 1, True, 1, last * SECOND)


DEVICES = [dump(rank, "0", f"tp{rank // 2}") for rank in range(4)]
SAVERS = [dump(rank, "7", last=990) for rank in range(4)]


def test_dumps_that_know_other_groups_are_of_another_recorder() -> None:
    assert by_recorder([*DEVICES, *SAVERS], GAP) == [DEVICES, SAVERS]
    mixed = [one for pair in zip(DEVICES, SAVERS, strict=True) for one in pair]
    assert by_recorder(mixed, GAP) == [DEVICES, SAVERS]


def test_a_rank_that_left_one_dump_of_two_is_of_that_recorder() -> None:
    assert by_recorder([*DEVICES, *SAVERS[1:]], GAP) == [DEVICES, SAVERS[1:]]


def test_dumps_of_an_earlier_run_know_the_same_groups() -> None:
    earlier = [dump(rank, "0", last=900) for rank in range(4)]
    assert by_recorder([*DEVICES, *earlier], GAP) == [[*DEVICES, *earlier]]


def test_where_the_parts_end_far_apart_or_are_of_few_ranks_they_are_looked_at_together() -> None:
    old = [dump(rank, "7", last=1) for rank in range(4)]
    for others in (old, SAVERS[:2], [dump(0, "7"), dump(0, "7"), *SAVERS[1:]]):
        assert by_recorder([*DEVICES, *others], GAP) == [[*DEVICES, *others]]


def test_what_knows_no_group_is_among_the_first() -> None:
    empty = dump(0)
    assert by_recorder([*DEVICES, *SAVERS, empty], GAP) == [[*DEVICES, empty], SAVERS]


def test_one_dump_of_each_rank_is_of_one_recorder() -> None:
    halves = [dump(0, "a"), dump(1, "a"), dump(2, "b"), dump(3, "b")]
    assert by_recorder(halves, GAP) == [halves]
