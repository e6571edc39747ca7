"""How many line ends a match can hold: as the tree of the expression says, and never fewer than in what it matches."""

from __future__ import annotations

import math
import re

import pytest
from builtin_rules import rulebook
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.engine.expression_tree import Part, tree
from neuron_doctor.engine.line_ends import most_line_ends
from neuron_doctor.engine.loosening import required_choices, required_words

EXPRESSIONS = sorted({pattern.regex for pattern in rulebook().patterns.patterns})
ASCII = st.characters(max_codepoint=127)


def of_tree(part: Part) -> float:
    each = (
        float("\n" in part.letters)
        if part.letters
        else max((sum(map(of_tree, one)) for one in part.choices), default=0)
    )
    return each * part.most if each else 0


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_it_is_what_the_tree_of_the_expression_says(expression: str) -> None:
    assert most_line_ends(expression) == (math.inf if "(?x)" in expression else of_tree(tree(expression)))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (r"a\nb", 1),
        (r"a(?:[^\n]*\n){0,3}b\s{2}", 5),
        (r"(?:a|\n\n|b\n)\n?", 3),
        (r"[^a]b[^\s]\S\d[a-z\t]", 1),
        (r"(?i)[\t-\r]a", 1),
        (r"[\\n]\\n", 0),
        (r"a.*b+$", 0),
        (r"a\s*", math.inf),
        (r"a{2,}\n{3,}", math.inf),
        (r"a{,3}\n{,3}", 3),
        (r"\x0a[\x00-\x1f]", 2),
        (r"(a)\1", math.inf),
        (r"(?=a)b", math.inf),
        (r"(?s:.)", math.inf),
        ("a\nb[\n]", 2),
        (r"a{\n", 1),
    ],
)
def test_what_may_be_a_line_end_counts_as_often_as_it_may_stand_there(expression: str, expected: float) -> None:
    assert most_line_ends(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (r"^ab\.c+d", ("ab.c", "d")),
        (r"(?i:Rank)[ :]x?Y{2}z", ("rank", "z")),
        (r"a|b", ()),
        (r"(?:a|b)cd(?P<e>EF)?(?P<g>G)", ("cd", "g")),
        (r"(?x) a b", ()),
        (r"[ab]\d\n", ()),
    ],
)
def test_words_are_those_that_no_match_is_without(expression: str, expected: tuple[str, ...]) -> None:
    assert required_words(expression) == expected


@pytest.mark.parametrize(
    ("expression", "beside", "expected"),
    [
        (r"ab (?:cde|fg+h)\d", (), (("ab ",), ("cde", "fg"))),
        (r"ab (?:cde|fgh)?\d", (), (("ab ",),)),
        (r"ab (?:cde|\d)", (), (("ab ",),)),
        (r"(?i)Xy (?:(?:One|Two) is|None)", ("has xyz",), (("xy ",), (" is", "none"))),
        (r"here\n\d there|back\n\d here", ("it is here",), ((" there", "back"),)),
        (r"(?x) a | b", (), ()),
    ],
)
def test_of_alternatives_each_has_a_word(
    expression: str, beside: tuple[str, ...], expected: tuple[tuple[str, ...], ...]
) -> None:
    assert required_choices(expression, beside) == expected


@settings(max_examples=300)
@given(st.data())
def test_no_match_holds_more_line_ends_or_lacks_a_word(data: st.DataObject) -> None:
    expression = data.draw(st.sampled_from([one for one in EXPRESSIONS if r"\n" in one or r"\s" in one]))
    text = data.draw(st.from_regex(re.compile(expression, re.ASCII), fullmatch=True, alphabet=ASCII))
    assert text.count("\n") <= most_line_ends(expression)
    assert all(word in text.lower() for word in required_words(expression))
    assert all(any(word in text.lower() for word in choice) for choice in required_choices(expression, ()))
