"""Directories of any name are hosts by even blocks of a few ranks, as launchers deal them out."""

from __future__ import annotations

import pytest
from test_layout import fact, hosts, ranks, source, together

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


def launched(name: str, node: int, first: int, count: int = 3, start: int = 0) -> Collection:
    """A log of a node, some of whose ranks speak."""
    path = f"{name}/train.log"
    return together(ranks(path, first, count, start), fact(path, "node-rank", number=node))


def test_directories_are_hosts_if_launchers_say_that_they_are_of_another_node_each() -> None:
    told = [launched("cronus", 2, 70, start=9000), launched("athena", 0, 3), launched("boreas", 1, 40, 1)]
    assert hosts(together(*told)) == {f"{name}/train.log": name for name in ("cronus", "athena", "boreas")}


@pytest.mark.parametrize(
    "told",
    [
        [launched("monday", 0, 0), launched("tuesday", 0, 32)],  # the first node of two runs
        [launched("monday", 0, 0), launched("tuesday", 1, 2)],  # a rank of both
        [launched("monday", 0, 0), fact("monday/train.log", "node-rank", number=1), launched("tuesday", 2, 64)],
        [launched("monday", 0, 0), ranks("tuesday/train.log", 64, 3, 9000)],
    ],
)
def test_directories_of_the_same_node_or_of_several_are_none(told: list[Collection]) -> None:
    assert set(hosts(together(*told)).values()) == {None}


@pytest.mark.parametrize("name", ["n0106", "n0106x"])
def test_a_host_at_which_launchers_meet_is_known_by_its_name(name: str) -> None:
    files = [source(f"{name}.dmesg", "kernel"), source("n0107.dmesg", "kernel"), source("slurm.out")]
    met = hosts(together(*files, fact("slurm.out", "meeting-host", name=name)))
    assert met[f"{name}.dmesg"] == name


@pytest.mark.parametrize("name", ["sft-worker-0", "sft-leader-0", "rdzv", "job-0"])
def test_a_pod_or_a_service_is_no_host_at_which_launchers_meet(name: str) -> None:
    files = [source(f"{name}.log"), source("run.out")]
    assert hosts(together(*files, fact("run.out", "meeting-host", name=name)))[f"{name}.log"] is None
