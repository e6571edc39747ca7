"""The ranks of a job whose dumps list no members: by their numbers, by what they exchanged, by what is known otherwise."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.facts import Fact, Place, Span
from neuron_doctor.engine.recorder import GroupRecord, Operation, RankRecord
from neuron_doctor.engine.roll_call import roll_of, size_of

FACT = Fact("fr-rank", {}, Place(), Span("x", 0, 1), "x")


def dumps(*ranks: int, peers: str = "") -> dict[int, RankRecord]:
    return {rank: RankRecord(rank, FACT, (), 0, whole=True, issued=0, last_ns=0, peers=peers) for rank in ranks}


@pytest.mark.parametrize(
    ("left", "peers", "heard", "ranks", "whole"),
    [
        ((0, 1, 2, 3), "", (), 4, True),
        ((0, 1, 3), "", (), 4, False),
        ((1, 2, 3), "", (), 4, False),
        ((0, 1, 2), "", (), 3, False),  # an odd number: one may be lost
        ((0, 1, 2), "0-2", (), 3, True),
        ((0, 1, 2), "0-3", (), 4, False),
        ((0, 1), "", (0, 1, 2, 3), 4, False),
        ((0,), "", (), 1, True),
    ],
)
def test_ranks_are_counted_from_0_and_may_be_named_otherwise(
    left: tuple[int, ...], peers: str, heard: tuple[int, ...], ranks: int, whole: bool
) -> None:
    roll = roll_of(dumps(*left, peers=peers), heard)
    assert (roll.ranks, roll.whole) == (tuple(range(ranks)), whole)


def test_of_a_number_that_no_job_has_nothing_is_counted() -> None:
    assert roll_of(dumps(0, 10**25), ()).ranks == (0, 10**25)
    assert not roll_of(dumps(0, 10**25), ()).whole


def group(*operations: tuple[str, int, int]) -> GroupRecord:
    listed = tuple(
        Operation(n, "collective", name, n, n, "scheduled", inputs, outputs, "Float", 0, -1)
        for n, (name, inputs, outputs) in enumerate(operations)
    )
    return GroupRecord(
        "0", "", 0, "", None, None, None, False, False, len(listed), True, False, False, (), listed, (), (), ()
    )


@pytest.mark.parametrize(
    ("operations", "size"),
    [
        ([("all_reduce", 8, 8)], None),
        ([("all_gather", 64, 256)], 4),
        ([("_all_gather_base", 64, 256), ("_reduce_scatter_base", 256, 64)], 4),
        ([("all_gather", 64, 250)], None),  # parts of different sizes
        ([("all_gather", 64, 256), ("reduce_scatter", 64, 32)], None),
        ([("all_gather", 0, 0)], None),
    ],
)
def test_what_is_gathered_or_scattered_tells_how_many_take_part(
    operations: list[tuple[str, int, int]], size: int | None
) -> None:
    assert size_of([group(*operations)]) == size
