"""Text of logs is harmless wherever it is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from neuron_doctor.reports.escape import LONGEST_PROSE, code_block, code_span, prose, shortened, table_cell, visible

ANY_TEXT = st.text(st.characters(), max_size=200)
NASTY = st.text(st.sampled_from(list("`~*_#@<>[]()!|\\&:/.-+=\"' \t\nabcw1\x1b\u202e")), max_size=60)


def inline_kinds(markdown: str) -> set[str]:
    """The kinds of inline token that CommonMark with tables sees in `markdown`."""
    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse("# " + markdown)
    return {child.type for token in tokens for child in token.children or ()}


def test_control_characters_and_direction_overrides_are_written_out() -> None:
    assert visible("a\x1b[31mb\x00\x9b\x7f\u202ec\u2028\u200b\n\r\t") == (
        "a\\x1b[31mb\\x00\\x9b\\x7f\\u202ec\\u2028\\u200b\\n\\r\\t"
    )


def test_printable_text_of_any_script_stays_as_it_is() -> None:
    assert visible("rank 3: Speicher voll — 内存不足 🙂") == "rank 3: Speicher voll — 内存不足 🙂"


def test_undecodable_bytes_of_a_path_can_be_written_to_a_terminal() -> None:
    assert visible(b"logs/\xff.log".decode("utf-8", "surrogateescape")).encode() == b"logs/\\udcff.log"


@given(ANY_TEXT)
def test_visible_text_is_printable_and_is_left_alone_the_second_time(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert visible(shown) == shown


@given(ANY_TEXT, st.integers(3, 50))
def test_shortened_text_never_exceeds_the_limit(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= limit
    assert short == text or (short.endswith("...") and text.startswith(short[:-3]))


@given(NASTY | ANY_TEXT)
def test_a_code_span_is_one_code_span_to_a_renderer_and_nothing_else(text: str) -> None:
    kinds = inline_kinds(f"x {code_span(text)} y")
    assert kinds <= {"text", "code_inline"}
    assert ("code_inline" in kinds) == bool(visible(text).strip())


@given(NASTY | ANY_TEXT)
def test_prose_is_only_words_and_code_to_a_renderer(text: str) -> None:
    assert inline_kinds(f"x {prose(text)} y") <= {"text", "code_inline"}


@given(NASTY | ANY_TEXT)
def test_prose_leaves_nothing_outside_of_code_that_a_forge_would_link(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse("# x " + prose(text))
    plain = " ".join(c.content for token in tokens for c in token.children or () if c.type == "text")
    assert not any(mark in plain for mark in ("@", "#", "://", "www.", "<", "[", "]"))


def test_prose_keeps_sentences_readable() -> None:
    text = "Kernel killed rank 3 (pid 4,711) at 2026-11-20 03:12:44.5: out of memory, it's the host's."
    assert prose(text) == text


def test_prose_marks_identifiers_as_code_without_their_punctuation() -> None:
    assert prose("see node-02 (i-0abc), @ops.") == "see `node-02` (`i-0abc`), `@ops`."


def test_prose_of_a_hostile_length_is_cut() -> None:
    assert len(prose("a " * 5000)) <= LONGEST_PROSE


@given(NASTY | ANY_TEXT)
def test_a_table_cell_stays_one_cell(text: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| {table_cell(code_span(text))} | end |"
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    assert [token.type for token in tokens].count("td_open") == 2


@given(st.lists(NASTY | ANY_TEXT, max_size=5))
def test_a_code_block_is_one_fence_with_all_its_lines(lines: list[str]) -> None:
    tokens = MarkdownIt("commonmark").parse("\n".join(code_block(lines)))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content == "".join(visible(line) + "\n" for line in lines)
