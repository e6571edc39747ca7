"""Both pattern engines find every line that a pattern matches; the confirmed facts are then the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.collectors.oom_table import TABLE_ROW
from neuron_doctor.collectors.prompts import SHELL_LINE
from neuron_doctor.collectors.shown_listings import LISTING
from neuron_doctor.engine.loosening import loosened, required_literal, sought
from neuron_doctor.engine.matcher import Matcher, build_matcher
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.rule_loader import load_rulebook

PACK = load_rulebook([Path(__file__).parents[2] / "rules"])
#: All that is looked for in a text.
PATTERNS = (*PACK.patterns.patterns, TABLE_ROW, SHELL_LINE, LISTING)
#: Where a pattern counts single characters, an engine that counts bytes differs on others.
ASCII = st.characters(codec="ascii")
ENGINES = [pytest.param(True, id="pure"), pytest.param(False, id="vectorscan")]


#: Vectorscan takes another way where a match is further from the start of a block than its vectors are long (16 to 64 bytes).
ABOVE = st.one_of(
    st.integers(0, 200).map(lambda count: b"a" * count + b"\n"),
    st.lists(
        st.sampled_from([b"2026-04-02 06:31:44,087 INFO step=100\n", b"$ uptime\n", b" 15:38:02 up 12 min\n", b"\n"])
    ).map(b"".join),
)


@pytest.fixture(scope="module")
def everything() -> Matcher:
    return build_matcher(PATTERNS)


def block_of(text: str, above: bytes) -> bytes:
    return above + b"x " + text.encode() + b"\n"


def is_found(index: int, found: list[tuple[int, int]], text: str, above: bytes) -> bool:
    """Whether the line of the text was found for the pattern of this index."""
    return any(one == index and len(above) < end <= len(above) + 2 + len(text) + 1 for end, one in found)


def lines_found(patterns: tuple[Pattern, ...], block: bytes, *, pure: bool) -> set[tuple[int, int]]:
    """(number of the line, index of the pattern) for all candidates."""
    found = build_matcher(patterns, pure=pure).find(block)
    return {(block.count(b"\n", 0, max(end - 1, 0)), index) for end, index in found}


@pytest.mark.parametrize("pure", ENGINES)
def test_every_pattern_on_a_line_is_reported(pure: bool) -> None:
    patterns = (Pattern("a", r"^foo (?P<n>\d+)"), Pattern("b", r"(?i)BAR"), Pattern("c", r"one|two"))
    block = b"prefix foo 12\nbar one foo 3\nnothing\ntwo\n"
    assert lines_found(patterns, block, pure=pure) >= {(0, 0), (1, 0), (1, 1), (1, 2), (3, 2)}


@pytest.mark.parametrize("pure", ENGINES)
def test_no_pattern_finds_nothing(pure: bool) -> None:
    assert build_matcher((), pure=pure).find(b"anything\n") == []


@pytest.mark.parametrize(
    ("regex", "literal"),
    [
        (r"Uncorrectable HBM memory error", b"Uncorrectable HBM memory error"),
        (r"a\[b+c?defg(?P<x>\d+)", b"defg"),
        (r"foo|bar", b""),
        (r"(?i)abcd", b""),
        (r"\(FATAL\) x{0,2}yzzy", b"(FATAL) "),
        (r"[^]x]abc(de)?", b"abc"),
        (r"err(?:or)? code", b" code"),
        (r"\d+ rings", b" rings"),
    ],
)
def test_the_required_literal_is_the_longest_sure_run(regex: str, literal: bytes) -> None:
    assert required_literal(regex) == literal


@pytest.mark.heavy
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.id)
def test_the_required_literal_stands_in_every_match(pattern: Pattern) -> None:
    literal = required_literal(sought(pattern))

    @settings(max_examples=8, deadline=None, database=None)
    @given(st.from_regex(re.compile(pattern.search, re.ASCII), alphabet=ASCII))
    def check(text: str) -> None:
        assert literal in text.encode()

    check()


@pytest.mark.heavy
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.id)
def test_lines_made_from_a_pattern_are_candidates_in_both_engines(pattern: Pattern) -> None:
    engines = [build_matcher([pattern], pure=pure) for pure in (True, False)]

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.from_regex(re.compile(pattern.search, re.ASCII), alphabet=ASCII), ABOVE)
    def check(text: str, above: bytes) -> None:
        if "\n" in text:
            return
        for engine in engines:
            assert is_found(0, engine.find(block_of(text, above)), text, above)

    check()


@pytest.mark.heavy
@pytest.mark.parametrize("index", range(len(PATTERNS)), ids=lambda index: PATTERNS[index].id)
def test_lines_made_from_a_pattern_are_found_among_all_patterns_wherever_they_stand(
    index: int, everything: Matcher
) -> None:
    @settings(max_examples=30, deadline=None, database=None)
    @given(st.from_regex(re.compile(PATTERNS[index].search, re.ASCII), alphabet=ASCII), ABOVE)
    def check(text: str, above: bytes) -> None:
        if "\n" not in text:
            assert is_found(index, everything.find(block_of(text, above)), text, above)

    check()


@pytest.mark.parametrize(
    ("regex", "loose"),
    [
        ("^Killed$|: line", "Killed|: line"),
        (r"(?:^a|b$) c\$", r"(?:a|b) c\$"),
        (r"[^x]y", "[^x]y"),
        (r"^(?P<n>^z)$", "z"),
        (r"(?i)^(?:host|node) ?[:=]\S$", r"(?i)(?:host|node) ?[:=]\S"),
    ],
)
def test_the_database_does_not_look_for_the_ends_of_a_message(regex: str, loose: str) -> None:
    assert loosened(regex) == loose


@pytest.mark.parametrize(
    ("regex", "loose"),
    [
        (r"code (?P<n>\d+)", r"code \d"),
        (r"gone(?: at (?P<where>\S{1,40}))?", "gone"),
        (r"[\w.]{0,80}(?:Error|Lost)(?:: |:?$)", "(?:Error|Lost)"),
        (r"(?:\w+: )?a{2,9}", "a{2}"),
        (r"x(?:b.*|c{1,3}?)", "x(?:b|c)"),
        (r"(?i)nd(?P<d>\d*)", "(?i)nd"),
        (r"(\w+) again \1", r"(\w+) again \1"),
        (r"(?=maybe)?\s*", r"(?=maybe)?\s*"),
        (r"x(?:[a\\]|[]b]|[^]\]])c", r"x(?:[a\\]|[]b]|[^]\]])c"),
    ],
)
def test_the_database_looks_for_as_little_as_possible_at_both_ends(regex: str, loose: str) -> None:
    assert loosened(regex) == loose


@pytest.mark.parametrize(
    ("regex", "loose"),
    [
        (r"(?i)(?:set|use|try).{0,80}SKIP_AFFINITY now", "(?i)SKIP_AFFINITY now"),
        (r"(?i)no\S+ affinity here|elsewhere: [^\n]{0,9}no", "(?i) affinity here|elsewhere: "),
        (r"failed to listen.*(?i:in use|eaddrinuse)", "failed to listen"),
        (r"(?i)short.*words", "(?i)short.*words"),
        (r"(?i)a|telling words", "(?i)a|telling words"),
        (r"in one case .* of (?:many|few)", "in one case .* of (?:many|few)"),
    ],
)
def test_of_what_is_looked_for_in_either_case_the_most_telling_part_will_do(regex: str, loose: str) -> None:
    assert loosened(regex) == loose


@pytest.mark.parametrize(
    ("regex", "loose"),
    [
        (r"^(?P<host>[a-z][\w.-]{1,80}): not responding", ": not responding"),
        (r"[Nn]odes? (?P<host>\S{1,90}) not responding, setting DOWN", " not responding, setting DOWN"),
        (r"^(?P<pod>[a-z\d][a-z\d.-]{0,252}) {2,80}\d{1,3}/\d{1,3} +[A-Z]", r" {2}\d{1,3}/\d{1,3} +[A-Z]"),
        (r"\w[\w.]{0,90}", r"\w"),
        (r"request=(?:[a-z]{1,9}=\d{1,9} ){0,8}status=200", r"request=.*status=200"),
        (r"(?i)up (?:(?:a|b)\d*,)* down", r"(?i)up .* down"),
        (r"x(?:(?:ab){0,9}c)?d(?:e|f){0,1}g", r"x(?:.*c)?d(?:e|f){0,1}g"),
        (r"ended(?: with \d+){0,3}", "ended"),
        (r"(?P<path>/\S{0,99}) [a-z_]{1,30}\.py:\d{1,5} - OK", r"\.py:\d{1,5} - OK"),
        (r"(?P<a>[\w-]{1,40}(?P<b>end))x: (?:one|two|three)", r"[\w-]endx: (?:one|two|three)"),
        (r"told first: \S{1,90} told later", "told first: .* told later"),
        (r"step \d+ is slow", r"step \d+ is slow"),
        (r"first words .*?\b(?:[a-z]{1,20}_)?then these", r"first words .*?then these"),
        (r"first words \S*(?: and )?then these", r"first words \S*(?: and )?then these"),  # no such gap holds a blank
        (r"(?P<w>\w{1,40}) (?:a|of)", r"\w (?:a|of)"),
        (r"(?i)\w{1,40}, pid[ :=]\d", r"(?i)\w, pid[ :=]\d"),
        (r"(?:\w{1,40}: gone|lost)", r"(?:\w: gone|lost)"),
    ],
)
def test_what_could_stand_anywhere_before_telling_words_is_not_looked_for(regex: str, loose: str) -> None:
    assert loosened(regex) == loose


def test_of_what_is_held_back_only_rare_words_are_looked_for_alone() -> None:
    step = Pattern("a", r"\[\d{1,9}/\d{1,9}\][^\n]{0,80}?loss=\d", emits="progress")
    assert sought(step) == r"\[\d{1,9}/\d{1,9}\].*?loss=\d"
    assert sought(Pattern("b", step.regex)) == r"loss=\d"
    served = Pattern("c", r"(?P<what>/\S{0,100}) [a-z_]{1,30}\.py:\d{1,5} - POST 200", emits="progress")
    assert sought(served) == r"\.py:\d{1,5} - POST 200"


def test_a_repetition_at_the_end_makes_one_event() -> None:
    patterns = (Pattern("a", r"code (?P<n>\d{1,30})"), Pattern("b", r"left over(?: from (?P<who>\w+))?"))
    found = build_matcher(patterns).find(b"code 123456789012\nleft over from yesterday\n")
    assert len(found) == len(patterns)
