"""Hosts that are called by words, with a number or without, or by their number in the job: what proves it, and what does not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from test_layout import aliases, fact, hosts, ranks, source, together

from neuron_doctor.engine.facts import Fact, Place


def dmesg(name: str, start: int | None = None) -> object:
    return source(f"{name}/dmesg.txt", "kernel", start)


@pytest.mark.parametrize("names", [("kestrel3", "merlin4"), ("apollo", "athena", "hermes")])
def test_directories_called_by_words_are_hosts_where_each_has_what_is_made_once_on_a_host(
    names: tuple[str, ...],
) -> None:
    parts = [source(f"{name}/train.log", start=5000 * n) for n, name in enumerate(names)]
    assert set(hosts(together(*parts, *map(dmesg, names))).values()) == set(names)  # type: ignore[arg-type]


def test_a_rack_and_a_place_in_it_is_no_name_of_one_letter() -> None:
    names = ("r12u3", "r12u11")
    parts = [source(f"{name}/train.log", start=0) for name in names]
    assert set(hosts(together(*parts, dmesg("r12u3"))).values()) == set(names)  # type: ignore[arg-type]


def test_two_words_alone_may_be_before_and_after() -> None:
    names = ("vanilla", "tuned")
    parts = [source(f"{name}/train.log", start=5000 * n) for n, name in enumerate(names)]
    assert set(hosts(together(*parts, *map(dmesg, names))).values()) == {None}  # type: ignore[arg-type]


@pytest.mark.parametrize(("names", "found"), [(("kestrel3", "merlin4"), True), (("actor", "critic"), False)])
def test_ranks_of_their_own_prove_it_only_of_words_with_numbers(names: tuple[str, str], found: bool) -> None:
    parts = [ranks(f"{name}/out.log", 4 * n, start=5000 * n) for n, name in enumerate(names)]
    assert set(hosts(together(*parts)).values()) == (set(names) if found else {None})


def test_the_same_ranks_are_runs() -> None:
    parts = [ranks(f"{name}/out.log", 0) for name in ("llama7", "qwen14")]
    assert set(hosts(together(*parts)).values()) == {None}


def test_logs_of_one_job_without_ranks_prove_nothing_of_words() -> None:
    parts = [source(f"{name}/out.log", start=0) for name in ("kestrel3", "merlin4")]
    assert set(hosts(together(*parts)).values()) == {None}


def reported(path: str, host: str, rank: int) -> Fact:
    return fact(path, "launcher-failure", Place(host=host, rank=rank), launcher="torchrun", exitcode=1)


def test_the_host_in_torchruns_table_is_another_name_of_the_host_on_which_it_runs() -> None:
    parts = [source("logs/node_0.log"), source("logs/node_1.log"), source("kernel/tin-b-7.log", kind="kernel")]
    tables = [reported("logs/node_0.log", "tin-b-7", 3), reported("logs/node_1.log", "tin-b-9", 40)]
    parts = [replace(part, place=Place(host=part.path.rpartition("/")[2].removesuffix(".log"))) for part in parts]
    found = aliases(together(*parts, *tables))
    assert (found["node_0"], found["node_1"]) == ("tin-b-7", "node_1")


def test_tables_of_all_hosts_in_one_log_are_no_names_of_its_host() -> None:
    parts = [source("logs/node_0.log"), source("logs/node_1.log")]
    parts = [replace(part, place=Place(host=part.path.rpartition("/")[2].removesuffix(".log"))) for part in parts]
    tables = [reported("logs/node_0.log", "tin-b-7", 3), reported("logs/node_0.log", "tin-b-9", 40)]
    assert "tin-b-7" not in aliases(together(*parts, *tables))


@pytest.mark.parametrize(
    ("names", "start", "found"),
    [
        (("merlin", "plover"), 0, True),
        (("merlin", "plover"), 90_000, False),  # later: a copy, another night
        (("osprey", "plover"), 0, False),  # nobody states either
    ],
)
def test_beside_a_host_that_content_states_another_word_is_one_that_wrote_the_same_files_at_once(
    names: tuple[str, str], start: int, found: bool
) -> None:
    stated = fact("night1/journal", "attach", Place(host="merlin"))
    parts = [source(f"night2/{name}/train.log", start=start * n) for n, name in enumerate(names)]
    assert (hosts(together(stated, source("night1/journal"), *parts))["night2/plover/train.log"] == "plover") is found


def test_a_name_with_a_number_to_which_somebody_logged_in_is_a_host_if_something_is_called_after_it() -> None:
    apart = [ranks("delta4/train.log", 0), ranks("fjord7/train.log", 32, start=2400), source("fjord7/chronyc.txt")]
    assert hosts(together(*apart, fact("fjord7/chronyc.txt", "login", name="delta4")))["delta4/train.log"] == "delta4"


@pytest.mark.parametrize("word", ["alice", "llama-sft", "cost", "root"])
def test_a_mere_word_may_be_a_user_or_a_directory(word: str) -> None:
    parts = [ranks(f"{word}/train.log", 0), source("x/y.log"), fact(f"{word}/train.log", "login", name=word)]
    assert set(hosts(together(*parts)).values()) == {None}
