"""Directories of any name are hosts by even blocks of a few ranks, as launchers deal them out."""

from __future__ import annotations

import pytest
from test_layout import hosts, ranks, together

from neuron_doctor.engine.facts import Collection


def test_directories_of_any_name_with_even_blocks_of_ranks_are_hosts() -> None:
    dealt = [ranks(f"{name}/log", 2 * n, 2) for n, name in enumerate(("cedar", "alder", "birch"))]
    assert hosts(together(*dealt)) == {f"{name}/log": name for name in ("cedar", "alder", "birch")}


@pytest.mark.parametrize(
    "parts",
    [
        [ranks("stuck/log", 0, 2), ranks("fine/log", 2, 2)],  # two alone
        [ranks("stuck/log", 4, 1), ranks("fine/log", 0, 4), ranks("unknown/log", 5, 3)],  # as a person sorts them
        [ranks("actor/log", 0, 2), ranks("critic/log", 0, 2), ranks("rollout/log", 2, 2)],  # a rank of two jobs
        [ranks("a/log", 0, 1), ranks("b/log", 1, 1), ranks("c/log", 2, 1)],  # a directory for each rank
        [ranks("mon/log", 0, 2), ranks("tue/log", 2, 2, 9000), ranks("wed/log", 4, 2, 90000)],  # one after the other
        [ranks("alder/log", 0, 2), ranks("birch/log", 2, 2), ranks("cedar/log", 6, 2)],  # a gap: another order may hold
    ],
)
def test_directories_of_any_name_with_other_ranks_are_none(parts: list[Collection]) -> None:
    assert set(hosts(together(*parts)).values()) == {None}


def sampled(stems: dict[str, tuple[int, ...]]) -> set[str | None]:
    files = [ranks(f"{stem}/rank{rank:03}.csv", rank, 1) for stem, wrote in stems.items() for rank in wrote]
    return set(hosts(together(*files)).values())


def test_directories_of_any_name_are_hosts_if_only_every_eighth_rank_writes() -> None:
    assert sampled({"bravo": (0, 8), "delta": (16, 24), "echo": (32, 40)}) == {"bravo", "delta", "echo"}


@pytest.mark.parametrize(
    "stems",
    [
        {"bravo": (0, 8), "delta": (16, 24)},  # two: that may be what a person sorted
        {"bravo": (0, 8), "delta": (16, 32), "echo": (24, 40)},  # not in a row
        {"bravo": (0, 8), "delta": (16, 24), "echo": (40, 48)},  # a gap
        {"bravo": (0, 2), "delta": (4, 6), "echo": (8, 10)},  # too few for a host
    ],
)
def test_but_not_if_what_they_write_is_no_even_share(stems: dict[str, tuple[int, ...]]) -> None:
    assert sampled(stems) == {None}
