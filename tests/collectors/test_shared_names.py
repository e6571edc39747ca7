"""Hosts by names that kernel logs and the logs of programs bear, which lie in different directories; and groups of machines."""

from __future__ import annotations

import pytest
from test_layout import fact, hosts, ranks, source, together

from neuron_doctor.engine.facts import Collection, Source


def logs(*paths: str, later: int = 0) -> list[Source]:
    return [source(path, start=n * later) for n, path in enumerate(paths)]


def kernels(*paths: str, kind: str = "kernel") -> list[Source]:
    return [source(path, kind) for path in paths]


@pytest.mark.parametrize(
    "paths",
    [
        ("process_0_hera.log", "process_1_juno.log"),
        ("logs/hera.log", "logs/juno.log"),
        ("logs/hera/train.log", "logs/juno/train.log"),
        ("out/rank_0_hera.log", "out/rank_8_juno.log"),
        ("train-HERA.0.log", "train-JUNO.1.log"),
        ("hera_worker0.err", "juno_worker1.err"),
    ],
)
@pytest.mark.parametrize("made", [("dmesg/hera", "dmesg/juno"), ("hw/hera/ls.txt", "hw/juno/ls.txt")])
def test_names_of_kernel_logs_that_logs_elsewhere_bear_alike_are_hosts(
    paths: tuple[str, str], made: tuple[str, str]
) -> None:
    found = hosts(together(*logs(*paths), *kernels(*made)))
    assert [str(found[path]).casefold() for path in (*paths, *made)] == ["hera", "juno"] * 2


def test_several_logs_of_one_name_are_all_of_its_host_and_a_name_without_a_log_of_none() -> None:
    files = [*logs("rank_0_hera.log", "rank_1_hera.log", "rank_2_juno-b.log"), *kernels("k/hera", "k/juno-b", "k/kore")]
    assert list(hosts(together(*files)).values()) == ["hera", "hera", "juno-b", "hera", "juno-b", None]


@pytest.mark.parametrize(
    "paths",
    [
        ("process_0_hera.log", "process_1_kore.log"),  # one name of two
        ("process_0_hera.log", "results-juno.log"),  # not alike
        ("hera-to-juno.log", "juno-to-hera.log"),
        ("ping-hera.log", "ping-juno.log"),
        ("processhera.log", "processjuno.log"),
    ],
)
def test_names_that_logs_do_not_bear_alike_prove_nothing(paths: tuple[str, str]) -> None:
    assert set(hosts(together(*logs(*paths), *kernels("dmesg/hera", "dmesg/juno"))).values()) == {None}


@pytest.mark.parametrize(
    "parts",
    [
        together(*logs("process_0_hera.log", "process_1_juno.log", later=500)),  # one run after the other
        together(ranks("process_0_hera.log", 0), ranks("process_1_juno.log", 0)),  # of the same ranks
    ],
)
def test_runs_with_a_kernel_log_each_are_no_hosts(parts: Collection) -> None:
    assert set(hosts(together(parts, *kernels("dmesg/hera", "dmesg/juno"))).values()) == {None}


def test_kernel_logs_of_one_machine_are_of_no_two_hosts() -> None:
    files = [*logs("process_0_hera.log", "process_1_juno.log"), *kernels("dmesg/hera", "dmesg/juno")]
    same = [fact(f"dmesg/{name}", "identity", instance_id="i-0123456789abcdef0") for name in ("hera", "juno")]
    assert set(hosts(together(*files, *same)).values()) == {None}


def test_a_kernel_log_each_of_different_directories_or_kinds_is_no_family() -> None:
    files = logs("process_0_hera.log", "process_1_juno.log")
    assert set(hosts(together(*files, *kernels("a/hera", "b/juno"))).values()) == {None}
    assert set(hosts(together(*files, source("a/hera", "kernel"), source("a/juno", "lspci"))).values()) == {None}


@pytest.mark.parametrize(
    "names", [("before", "after"), ("run1", "run2"), ("new", "other"), ("good", "bad"), ("pool-1", "pool-2")]
)
def test_words_that_never_mean_a_host_are_none_though_kernel_logs_bear_them(names: tuple[str, str]) -> None:
    files = [*logs(*(f"train_{name}.log" for name in names)), *kernels(*(f"dmesg/{name}" for name in names))]
    assert set(hosts(together(*files)).values()) == {None}


@pytest.mark.parametrize(
    "names",
    [("trn-pool-1", "trn-pool-2"), ("rack2-n4", "rack3-n1"), ("zone-a-trn3", "zone-b-trn3"), ("cellhub1", "cellhub2")],
)
def test_what_machines_stand_in_may_be_part_of_their_names_where_each_has_a_file_of_a_host(
    names: tuple[str, str],
) -> None:
    files = [*logs(*(f"{name}/train.log" for name in names)), *kernels(*(f"{name}/dmesg.txt" for name in names))]
    assert set(hosts(together(*files)).values()) == set(names)


@pytest.mark.parametrize(
    "names", [("pool-1", "pool-2"), ("rack-a", "rack-b"), ("az1-row2", "az1-row3"), ("exp-pool-1", "exp-pool-2")]
)
def test_what_machines_stand_in_alone_or_beside_a_word_for_runs_is_no_host(names: tuple[str, str]) -> None:
    files = [*logs(*(f"{name}/train.log" for name in names)), *kernels(*(f"{name}/dmesg.txt" for name in names))]
    assert set(hosts(together(*files)).values()) == {None}


def test_ranks_that_are_shared_out_among_groups_of_machines_make_no_hosts_of_them() -> None:
    names = ("trn-pool-1", "trn-pool-2")
    assert set(hosts(together(*(ranks(f"{name}/train.log", 8 * n, 8) for n, name in enumerate(names)))).values()) == {
        None
    }


def test_a_machine_within_a_group_of_machines_stays_the_host() -> None:
    files = [s for pool in (1, 2) for s in kernels(*(f"trn-pool-{pool}/lyra-{2 * pool + n}/dmesg.txt" for n in (0, 1)))]
    files += [source(f"trn-pool-{pool}/lyra-{2 * pool + n}/train.log", start=0) for pool in (1, 2) for n in (0, 1)]
    assert set(hosts(together(*files)).values()) == {"lyra-2", "lyra-3", "lyra-4", "lyra-5"}


def test_a_name_with_a_group_of_machines_in_it_is_a_host_where_content_names_a_sibling() -> None:
    named = fact("x.log", "identity", hostname="trn-pool-2")
    found = hosts(together(*logs("trn-pool-1/train.log", "trn-pool-2/train.log", "x.log"), named))
    assert found["trn-pool-1/train.log"] == "trn-pool-1"
