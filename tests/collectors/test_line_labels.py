"""What stands before nearly all lines of a log tells hosts and ranks where the whole of it proves that; else it is a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.engine.facts import Fact
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

LOST = "2023-Nov-16 11:06:53.0101 3310:3477 [0] include/socket.h:541 CCOM WARN RX, connection closed by remote peer"


def lost(folder: Path, lines: list[str], **more: str) -> list[Fact]:
    """The records of lost peers in a log of these lines."""
    folder.mkdir(exist_ok=True)
    (folder / "job.log").write_text("".join(f"{line}\n" for line in lines))
    for name, text in more.items():
        (folder / f"{name}.txt").write_text(text)
    facts = collect(Request((str(folder),)), rulebook()).facts
    return [fact for fact in facts if fact.kind != "line-label" and LOST[-20:] in fact.span.text]


def places(folder: Path, lines: list[str], **more: str) -> set[tuple[str | None, int | None, int | None]]:
    return {(f.place.host, f.place.rank, f.place.local_rank) for f in lost(folder, lines, **more)}


def labelled(*labels: str) -> list[str]:
    return [f"{label} 12:00:0{n} step {n}" for n in range(6) for label in labels] + [f"{labels[-1]} {LOST}"]


RANKS = [(f"lam{n // 2}", n) for n in range(4)]


@pytest.mark.parametrize(
    "form",
    [
        "[{}:{}]",
        "[{}] [{}]",
        "{}: [{}]",
        "{}: [r{:02}]",
        "{}: [rank {}]",
        "{}   | [r{}]",
        "{}|r{:02}>",
        "({}/rank{})",
        "[{}:r{}]",
    ],
)
def test_hosts_and_ranks_are_told_by_labels_in_all_lines(tmp_path: Path, form: str) -> None:
    lines = labelled(*(form.format(host, rank) for host, rank in RANKS))
    assert places(tmp_path, lines) == {("lam1", 3, None)}


def test_a_host_may_stand_bare_before_the_time_of_day(tmp_path: Path) -> None:
    assert places(tmp_path, labelled("node2", "node3")) == {("node3", None, None)}


def test_what_a_domain_is_called_says_nothing_of_its_hosts(tmp_path: Path) -> None:
    lines = labelled("ml5.dc2.example.org |", "ml7.dc2.example.org |")
    assert places(tmp_path, lines) == {("ml7.dc2.example.org", None, None)}


SACCT = "JobID|JobName|State|ExitCode|NodeList\n7|train|FAILED|1:0|{}\n"


def test_numbers_that_each_host_has_are_local_ranks(tmp_path: Path) -> None:
    lines = labelled(*(f"[lam{n // 2}:{n % 2}]" for n in range(4)))
    assert places(tmp_path, lines, sacct=SACCT.format("lam[0-1]")) == {("lam1", None, 1)}


@pytest.mark.parametrize("numbers", [(4101, 4102, 977, 978), (0, 1, 2, 4), (1, 2, 3, 4)])
def test_numbers_of_processes_or_with_gaps_are_no_ranks(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    lines = labelled(*(f"[lam{n // 2}:{number}]" for n, number in enumerate(numbers)))
    assert places(tmp_path, lines, sacct=SACCT.format("lam[0-1]")) == {("lam1", None, None)}


def test_a_worker_that_calls_itself_by_another_rank_has_its_launcher_labelled(tmp_path: Path) -> None:
    lines = labelled(*(f"[lam{n}:{n}]" for n in range(4)))
    assert places(tmp_path, [*lines, f"[lam3:3] [rank31]: {LOST}"]) == {("lam3", None, None), ("lam3", 31, None)}


def test_ranks_alone_are_told_too(tmp_path: Path) -> None:
    assert places(tmp_path, labelled("[r00]", "[r01]", "[r02]")) == {(None, 2, None)}


def test_numbers_that_workers_call_their_ranks_are_ranks_wherever_they_begin(tmp_path: Path) -> None:
    lines = labelled("[8]", "[9]", "[10]", "[11]")
    told = [f"[{number}] 2024-12-05 19:59:21 osprey rank {number}/32 start" for number in (8, 9)]
    assert places(tmp_path, [*told, *lines]) == {(None, 11, None)}
    assert places(tmp_path, [*told[:1], *lines]) == {(None, None, None)}
    assert places(tmp_path, ["[9] rank 1 of group 4 joined", *told, *lines]) == {(None, None, None)}


WORDS = (
    "trial fold expert slot lane microbatch bucket env pod container dataloader loader- group rack shard_ ckpt eval exp"
)


@pytest.mark.parametrize(
    "labels",
    [
        ("[worker1:0]", "[worker2:1]"),
        ("[layer1]", "[layer2]"),
        ("queue0:", "queue1:"),
        ("[lam1:0]", "[kestrel:1]"),  # not alike
        ("[n1:0]", "[n2:1]"),  # too short
        ("[llama2]", "[llama3]"),
        ("[llama2:0]", "[llama2:1]", "[llama3:0]", "[llama3:1]"),
        *((f"[{word}1]", f"[{word}2]") for word in WORDS.split()),
        *((f"{word}1:", f"{word}2:") for word in WORDS.split()),
    ],
)
def test_words_that_programs_number_are_no_hosts(tmp_path: Path, labels: tuple[str, ...]) -> None:
    assert {host for host, _, _ in places(tmp_path, labelled(*labels))} == {None}


def test_short_names_are_hosts_where_something_else_knows_each(tmp_path: Path) -> None:
    sacct = SACCT.format("n[1-2]")
    assert places(tmp_path, labelled("[n1:0]", "[n2:1]"), sacct=sacct) == {("n2", 1, None)}
    assert places(tmp_path, labelled("[n1:0]", "[n2:1]"), sacct=SACCT.format("n1")) == {(None, 1, None)}


def test_a_word_that_nothing_knows_is_a_host_where_something_else_does_or_by_its_shape(tmp_path: Path) -> None:
    lines = labelled("[llama2]", "[llama3]")
    assert places(tmp_path, lines, sacct=SACCT.format("llama[2-3]")) == {("llama3", None, None)}
    assert places(tmp_path, labelled("[node2]", "[node3]")) == {("node3", None, None)}


def test_a_list_of_devices_is_not_taken_for_a_log_of_hosts(tmp_path: Path) -> None:
    listed = [f"[vm{n}] state ok, {n} errors" for n in range(20)]
    assert places(tmp_path, [*listed, f"[vm19] {LOST}"]) == {(None, None, None)}


def test_one_label_among_other_lines_says_nothing(tmp_path: Path) -> None:
    lines = labelled("[lam1:0]", "[lam2:1]") + [f"12:00:00 loaded {n} files" for n in range(9)]
    assert places(tmp_path, lines) == {(None, None, None)}


def test_a_file_that_is_called_after_a_labelled_host_is_of_it(tmp_path: Path) -> None:
    lines = labelled(*(f"[lam{n // 2}:{n}]" for n in range(4)))
    (tmp_path / "lam1.txt").write_text("[ 9120.687627] infiniband efa_0: comp_status 1 err -12\n")
    lost(tmp_path, lines)
    sources = collect(Request((str(tmp_path),)), rulebook()).sources
    assert {Path(source.path).name: source.place.host for source in sources} == {"job.log": None, "lam1.txt": "lam1"}


def test_letters_count_hosts_as_numbers_do_where_one_of_them_is_known(tmp_path: Path) -> None:
    lines = labelled("nlp-trn-a:", "nlp-trn-b:", "nlp-trn-c:")
    assert places(tmp_path, lines) == {(None, None, None)}
    assert places(tmp_path, lines, sacct=SACCT.format("nlp-trn-b")) == {("nlp-trn-c", None, None)}


def bare(*names: str) -> list[str]:
    return [f"{name} step {n} loss 2.1" for n in range(6) for name in names] + [f"{names[-1]}  {LOST[41:]}"]


def test_a_name_that_only_a_blank_follows_is_a_host_by_its_shape_with_a_number(tmp_path: Path) -> None:
    assert places(tmp_path, bare("node2", "node3")) == {("node3", None, None)}


@pytest.mark.parametrize("names", [("node-a", "node-b"), ("llama2", "llama3"), ("kestrel", "merlin")])
def test_else_it_is_one_where_two_of_them_are_known(tmp_path: Path, names: tuple[str, str]) -> None:
    assert places(tmp_path / "none", bare(*names)) == {(None, None, None)}
    assert places(tmp_path / "one", bare(*names), sacct=SACCT.format(names[0])) == {(None, None, None)}
    assert places(tmp_path / "two", bare(*names), sacct=SACCT.format(",".join(names))) == {(names[1], None, None)}


def test_words_that_text_begins_with_are_no_hosts(tmp_path: Path) -> None:
    sacct = SACCT.format("node2,node3,kestrel,merlin")
    told = ["node2 lost", "node3 lost", *bare("Loading", "Saving")]
    assert places(tmp_path / "others", told, sacct=sacct) == {(None, None, None)}
    once = [f"node{n} state ok" for n in range(20)]
    assert places(tmp_path / "list", [*once, f"node19 {LOST[41:]}"]) == {(None, None, None)}
    differ = [f"{name} {verb} {n}" for n in range(6) for name, verb in (("kestrel", "flies"), ("merlin", "casts"))]
    assert places(tmp_path / "differ", [*differ, f"merlin {LOST[41:]}"], sacct=sacct) == {(None, None, None)}


def test_directories_are_hosts_by_the_ranks_that_their_lines_are_labelled_with(tmp_path: Path) -> None:
    for host, first in (("heron", 0), ("osprey", 8), ("merlin", 16)):
        ranks = range(first, first + 8)
        told = [f"[{rank}] 2024-12-05 19:59:21 rank {rank}/24 start" for rank in ranks]
        lines = [*told, *(f"[{rank}] 2024-Dec-05 21:24:41.0483 {7000 + rank}:7100 [0] {LOST}" for rank in ranks)]
        (tmp_path / host).mkdir()
        (tmp_path / host / "out.log").write_text("\n".join(lines) + "\n")
    facts = collect(Request((str(tmp_path),)), rulebook()).facts
    found = {(fact.place.host, fact.place.rank) for fact in facts if fact.kind == "hang-report"}
    assert {("heron", 7), ("osprey", 8), ("merlin", 23)} <= found
