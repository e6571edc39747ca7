"""The hosts of ranks that no record names: by the blocks in which launchers number ranks, and only where these are seen."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.rank_blocks import hosts_by_block


def blocks(size: int, hosts: int, without: Iterable[int] = ()) -> dict[int, str]:
    left_out = set(without)
    return {rank: f"h{rank // size}" for rank in range(size * hosts) if rank not in left_out}


def test_a_rank_that_nothing_names_is_on_the_host_that_has_its_block() -> None:
    assert hosts_by_block(blocks(4, 4, {9}), range(16)) == {9: "h2"}
    assert hosts_by_block(blocks(4, 4, {8, 11}), range(16)) == {8: "h2", 11: "h2"}


def test_a_block_of_which_nobody_is_known_has_no_host() -> None:
    assert hosts_by_block(blocks(4, 4, {8, 9, 10, 11}), range(16)) == {}


def test_ranks_that_were_dealt_out_in_turn_or_moved_prove_nothing() -> None:
    dealt = {rank: f"h{rank % 4}" for rank in range(16) if rank != 9}
    assert hosts_by_block(dealt, range(16)) == {}
    assert hosts_by_block({**blocks(4, 4, {9}), 10: "spare"}, range(16)) == {}
    # hosts that are known with one rank each, and a single one that is known with all, show no size
    assert hosts_by_block({0: "h0", 8: "h1", 16: "h2"}, range(24)) == {}
    assert hosts_by_block({0: "h0", 1: "h0", 2: "h0", 3: "h0", 5: "h1"}, range(8)) == {}
    assert hosts_by_block({}, range(8)) == {}


@given(st.integers(2, 8), st.integers(2, 6), st.data())
def test_what_is_told_is_always_right_where_ranks_were_numbered_host_by_host(
    size: int, hosts: int, data: st.DataObject
) -> None:
    whole = blocks(size, hosts)
    without = data.draw(st.sets(st.sampled_from(sorted(whole))))
    told = hosts_by_block(blocks(size, hosts, without), range(size * hosts))
    assert told.items() <= whole.items()
    assert told.keys() <= without


def test_where_the_launcher_was_told_the_width_one_rank_of_each_host_is_enough() -> None:
    assert hosts_by_block({0: "h0", 9: "h1"}, range(24), 8) == {
        **dict.fromkeys(range(1, 8), "h0"),
        **dict.fromkeys((8, *range(10, 16)), "h1"),
    }
    # another width than they show, or two hosts in one block
    assert hosts_by_block({0: "h0", 9: "h0"}, range(24), 8) == {}
    assert hosts_by_block({0: "h0", 7: "h1"}, range(24), 8) == {}


def test_local_ranks_tell_what_lies_between_them() -> None:
    local_of_rank = {2: 2, 6: 6, 10: 2, 15: 7, 17: 1}
    found = hosts_by_block({1: "h0", 12: "h1"}, range(24), None, local_of_rank)
    assert found == {rank: "h0" if rank < 7 else "h1" for rank in (*range(7), *range(8, 16)) if rank not in (1, 12)}
    assert hosts_by_block({1: "h0"}, range(24), None, {**local_of_rank, 9: 7}) == {}  # blocks would overlap
    assert hosts_by_block({1: "h0"}, range(24), None, {**local_of_rank, 3: 6}) == {}  # several cores to a rank
