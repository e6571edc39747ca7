"""A rank that left nothing is on the host in whose block of ranks it lies, if blocks are how the ranks were given out."""

from __future__ import annotations

import pytest

from neuron_doctor.engine.rank_blocks import homes_by_blocks


def placed(*blocks: tuple[int, ...]) -> dict[int, str]:
    return {rank: f"n{number}" for number, ranks in enumerate(blocks) for rank in ranks}


@pytest.mark.parametrize("world", [None, 16])
def test_the_rank_within_the_block_of_a_host_is_on_it(world: int | None) -> None:
    assert homes_by_blocks(placed((0, 1, 2, 3), (4, 5, 6), (8, 10, 11), (12, 13, 14, 15)), world) == {7: "n1", 9: "n2"}


@pytest.mark.parametrize(
    ("blocks", "world"),
    [
        (((0, 2, 4), (1, 3, 5)), 8),  # dealt out one by one
        (((0, 1, 2), (4,)), 8),  # of the second host too little is known
        (((0, 1, 2), (4, 5, 6)), 12),  # a host is missing
        (((0, 1, 2),), 4),  # one host
        (((0,), (1,), (2,)), 4),
        (((0, 1, 2, 4), (5, 6, 7)), 8),  # one rank is in the block of another host
        ((), None),
    ],
)
def test_other_layouts_place_nobody(blocks: tuple[tuple[int, ...], ...], world: int) -> None:
    assert homes_by_blocks(placed(*blocks), world) == {}
