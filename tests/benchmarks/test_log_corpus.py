"""The logs that the benchmarks read: as many hits as they promise, the size that is asked for, the same every time."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from small_packs import rulebook_of

from benchmarks.catalogue_lines import CatalogueLines
from benchmarks.log_corpus import HITS, LogCorpus, write_storm
from benchmarks.log_templates import HOST, MINUTE, RANK, SPACED
from benchmarks.processes import output_of, program
from benchmarks.store import Store, bytes_of, files_of
from benchmarks.stream_inputs import write_monitor, write_trace
from neuron_doctor.engine.loosening import sought


@pytest.fixture(scope="module")
def lines() -> CatalogueLines:
    return CatalogueLines.builtin()


@pytest.fixture(scope="module")
def corpus(lines: CatalogueLines) -> LogCorpus:
    return LogCorpus.drawn(lines, blocks=3)


def test_what_ripgrep_looks_for_over_bytes_has_no_characters_beyond_them(lines: CatalogueLines) -> None:
    """It refuses the whole file else, and most measures have no yardstick."""
    assert not all(one.isascii() for one in lines.expressions)
    for text in (lines.for_ripgrep, lines.whole_for_ripgrep):
        assert text.isascii()
        assert text.count("\n") == len(lines.expressions)
        assert all(text.splitlines()), "an empty one finds every line"


def test_ripgrep_looks_for_what_the_database_does_and_beside_that_for_what_the_rules_say(lines: CatalogueLines) -> None:
    patterns = lines.rulebook.patterns.patterns
    assert any(sought(pattern) != pattern.search for pattern in patterns)
    wanted = [re.sub(r"\(\?P<\w+>", "(?:", pattern.search) for pattern in patterns if pattern.search.isascii()]
    written = lines.whole_for_ripgrep.splitlines()
    assert [one for one in wanted if one.replace("\n", "\\x0a") not in written] == []
    sought_for = [re.sub(r"\(\?P<\w+>", "(?:", sought(pattern)) for pattern in patterns if sought(pattern).isascii()]
    written = lines.for_ripgrep.splitlines()
    assert [one for one in sought_for if one.replace("\n", "\\x0a") not in written] == []


def test_no_class_opens_another_which_it_would_for_ripgrep(lines: CatalogueLines) -> None:
    """Python takes `[` in a class as it is; ripgrep refuses the file, or looks for something else."""
    written = lines.whole_for_ripgrep + lines.for_ripgrep
    found = [one for one in re.findall(r"(?s)\\.|(\[\^?\]?(?:\\.|[^\]\\])*\])", written) if one]
    assert len(found) > 1000
    assert [one for one in found if "[" in re.sub(r"\\.", "", one[1:])] == []


@pytest.mark.skipif(program("rg") is None, reason="ripgrep is not installed")
def test_ripgrep_takes_the_expressions_of_all_rules(lines: CatalogueLines, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"{one}\n" for one in lines.hits), "utf-8")
    found = []
    for text in (lines.whole_for_ripgrep, lines.for_ripgrep):
        (tmp_path / "patterns").write_text(text, "utf-8")
        command = ("rg", "--no-unicode", "-c", "-f", str(tmp_path / "patterns"), str(log))
        found.append(int(output_of(command)))
    assert 0 < found[0] <= found[1] <= len(lines.hits)


@pytest.mark.heavy
def test_a_thousandth_of_the_lines_hits(lines: CatalogueLines, corpus: LogCorpus) -> None:
    text = b"".join(corpus.blocks).decode().splitlines()
    hits = sum(not lines.is_noise(line) for line in text)
    assert 0.3 * HITS < hits / len(text) < 2 * HITS


def test_every_line_of_a_storm_hits_and_no_rule_counts_it(lines: CatalogueLines, tmp_path: Path) -> None:
    write_storm(lines, tmp_path, 100)
    (file,) = files_of(tmp_path)
    assert set(file.read_text("utf-8").splitlines()) <= set(lines.storm)
    assert not any(pattern.counted for line in lines.storm[:20] for pattern in lines._found(line))


def test_files_have_the_size_that_was_asked_for_and_end_with_a_line(corpus: LogCorpus, tmp_path: Path) -> None:
    corpus.write(tmp_path, 4 << 20, 16)
    files = files_of(tmp_path)
    assert len(files) == 16
    assert 4 << 20 <= bytes_of(tmp_path) < (4 << 20) + 16 * 2100
    assert all(file.read_bytes().endswith(b"\n") for file in files)


def test_no_hole_is_left_and_time_goes_on(corpus: LogCorpus) -> None:
    text = b"".join(corpus.text(3, 4 << 20)).decode()
    assert [one for one in (MINUTE, SPACED, HOST, RANK) if one in text] == []
    stamps = [line[:23] for line in text.splitlines() if line.startswith("2026-03-10T06") and "[rank3]" in line]
    assert len(stamps) > 1000
    assert all(earlier <= later for earlier, later in pairwise(stamps))


def test_the_same_rank_writes_the_same_and_another_another(corpus: LogCorpus) -> None:
    first, again, other = (b"".join(corpus.text(rank, 1 << 16)) for rank in (1, 1, 2))
    assert first == again != other


def test_patterns_for_ripgrep_have_no_names_and_are_a_line_each(lines: CatalogueLines) -> None:
    for text in (lines.for_ripgrep, lines.whole_for_ripgrep):
        assert "?P<" not in text
        assert len(text.splitlines()) == len(lines.rulebook.patterns.patterns)


def test_an_input_is_made_once_and_anew_when_what_it_is_made_of_changes(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(to: Path) -> None:
        made.append(to)
        (to / "file").write_text(str(len(made)), "utf-8")

    store = Store(tmp_path / "inputs")
    first = store.input("x", make, recipe="sizes", of="a")
    assert store.input("x", make, recipe="sizes", of="a") == first
    second = store.input("x", make, recipe="sizes", of="b")
    assert [path.name for path in store.directory.iterdir()] == [second.name]
    assert (second / "file").read_text("utf-8") == "2"


def test_an_input_that_was_given_up_half_made_is_made_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "x.half").mkdir()
    assert store.input("x", lambda to: (to / "file").touch(), recipe="sizes").is_dir()


def test_streams_are_of_the_size_that_was_asked_for(tmp_path: Path) -> None:
    write_monitor(tmp_path / "monitor", 1 << 20)
    write_trace(tmp_path / "trace", 1 << 20)
    assert (tmp_path / "monitor").stat().st_size == pytest.approx(1 << 20, rel=0.05)
    assert 1 << 20 <= (tmp_path / "trace").stat().st_size < 2 << 20


def test_the_lines_of_an_example_in_a_directory_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "full" / "host-1").mkdir(parents=True)
    (tmp_path / "full" / "host-1" / "rank_0.log").write_text("acme: no room on /a\n")
    (tmp_path / "full" / "core.1").write_bytes(b"\x7fELF\0\xff")
    (tmp_path / "odd.yaml").write_text(
        "id: odd\ntitle: t\ncause: disk-full\nseverity: error\ntrust: [F]\n"
        "patterns: {odd-text: {regex: 'acme: no room'}}\nwhen: odd-text\nexplanation: e\nreferences: [r]\n"
        "examples: {positive: [{name: a, directory: full}], negative: [{name: b, text: 'acme: room'}]}\n"
    )
    lines = CatalogueLines(rulebook_of(tmp_path))
    assert (lines.hits, lines.near_misses) == (["acme: no room on /a"], ["acme: room"])
