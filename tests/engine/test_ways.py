"""In how many ways a pattern reads a text: never fewer than a matcher that goes back tries, and no refusal without a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.engine.errors import RulebookError
from neuron_doctor.engine.expression_tree import NotLinear, Part, tree
from neuron_doctor.engine.packfiles import PackFile
from neuron_doctor.engine.rule_loader import compile_rulebook
from neuron_doctor.engine.ways import MOST, ways

#: So many steps are counted, and no more.
ENOUGH = 20_000


class Enough(Exception):
    """So many were taken."""


def lengths(parts: tuple[Part, ...], text: str, at: int, steps: list[int]) -> Iterator[int]:
    """Where a sequence may end that begins at `at`, once for each way to get there: the plainest matcher that goes back."""
    steps[0] += 1
    if steps[0] > ENOUGH:
        raise Enough
    if not parts:
        yield at
        return
    first, rest = parts[0], parts[1:]
    if first.most > 1 or first.least == 0:
        more = replace(first, least=max(first.least - 1, 0), most=first.most - 1)
        for end in lengths((replace(first, least=1, most=1),), text, at, steps) if first.most else ():
            if end > at or first.least:
                yield from lengths((more, *rest), text, end, steps)
        if first.least == 0:
            yield from lengths(rest, text, at, steps)
    elif first.letters is not None:
        if text[at : at + 1] in first.letters and at < len(text):
            yield from lengths(rest, text, at + 1, steps)
    else:
        for choice in first.choices:
            yield from lengths((*choice, *rest), text, at, steps)


def steps_of(expression: str, text: str) -> int:
    """What it costs to find the first match, or that there is none."""
    steps = [0]
    with suppress(Enough):
        next(lengths((tree(expression),), text, 0, steps), None)
    return steps[0]


def ends(part: Part, text: str, starts: set[int]) -> set[int]:
    """Where a part may end that begins at one of these."""
    done, now, rounds = set(starts) if part.least == 0 else set(), set(starts), 0
    while now and rounds < min(part.most, len(text) + part.least):
        if part.letters is not None:
            now = {at + 1 for at in now if at < len(text) and text[at] in part.letters}
        else:
            now = set().union(*(reduce(lambda at, inner: ends(inner, text, at), one, now) for one in part.choices))
        rounds += 1
        done |= now if rounds >= part.least else set()
    return done


def expressions() -> st.SearchStrategy[str]:
    """Small ones over few letters, so that parts overlap."""
    atoms = st.sampled_from(["a", "b", "ab", "ba", "[ab]", "[^a]", ".", "c"])
    times = st.sampled_from(["", "", "*", "+", "?", "{1,3}", "{0,6}", "{2}"])

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        one = st.tuples(inner, times).map(lambda two: f"(?:{two[0]}){two[1]}")
        return st.one_of(
            st.lists(one, min_size=1, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map("|".join),
        )

    return st.recursive(st.tuples(atoms, times).map(lambda two: f"(?:{two[0]}){two[1]}"), larger, max_leaves=5)


@given(expressions(), st.text("abc", max_size=7), st.integers(1, 3))
def test_a_matcher_that_goes_back_takes_no_more_steps_than_the_ways_let_it(
    expression: str, text: str, times: int
) -> None:
    text = text * times
    try:
        number = ways(expression)
    except NotLinear:
        return
    assert steps_of(expression, text) <= number * (len(text) + 1) * (4 * len(expression) + 8)


@given(expressions())
def test_what_is_refused_is_told_with_its_place(expression: str) -> None:
    refused = refusal(expression)
    if refused:
        assert 0 <= refused.begin < refused.end <= len(expression)
        assert refused.hint


def refusal(expression: str) -> NotLinear | None:
    try:
        assert 1 <= ways(expression) <= MOST
    except NotLinear as refused:
        return refused
    return None


@given(expressions(), st.text("abc", max_size=9))
def test_the_tree_reads_what_python_reads(expression: str, text: str) -> None:
    compiled = re.compile(expression)
    for end in range(len(text) + 1):
        assert (end in ends(tree(expression), text, {0})) == bool(compiled.fullmatch(text, 0, end))


@pytest.mark.parametrize(
    ("expression", "blamed"),
    [
        ("(a|a)*b", "(a|a)*"),
        ("(a+)+b", "(a+)+"),
        ("(.*,)*x", "(.*,)*"),
        ("(?x) q (?: a* # c(\n a* )* b", "(?: a* # c(\n a* )*"),
        (r"(\d+,?)*x", r"(\d+,?)*"),
        (r"^(([a-z])+.)+[A-Z]([a-z])+$", "(([a-z])+.)+"),
        ("(?:a{1,50}){1,50}b", "(?:a{1,50}){1,50}"),
        ("(?:[ab]|b)+c", "(?:[ab]|b)+"),
        ("(?i)(?:K|k)*c", "(?:K|k)*"),
        ("(x+x+)+y", "(x+x+)+"),
        (r"(?:\bq\b|q)*z", r"(?:\bq\b|q)*"),
        (".*.*.*x", ".*"),
        (".*a.*b.*c", ".*"),
        (r"(\w)-\1", r"\1"),
        ("(?P<a>x)(?P=a)", "(?P="),
        ("foo(?!bar)", "(?!"),
        ("(?<=x)y", "(?<="),
        ("(x)?(?(1)a|b)", "(?("),
        (r"[(?=]a(?=b)", "(?="),
    ],
)
def test_what_may_take_long_is_refused(expression: str, blamed: str) -> None:
    with pytest.raises(NotLinear) as refused:
        ways(expression)
    assert expression[refused.value.begin : refused.value.end] == blamed


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        (r"\d+ bytes", 1),
        (r"rank=\d+\b at", 1),
        (r"(?:\d{1,3}\.){3}\d{1,3}$", 1),
        (r"(?:[^\n]{1,80}\n){4}end", 1),
        (r"(?:cat|car|dog)*s", 1),
        (r"(?:a|b)+c", 1),
        (r"(\w+ )*\.", 1),
        (r"x{0,7}x", 8),
        (r"[^,]*, .{0,80}error: ", 12),  # `error: ` ends in what it never begins with
        (r"(?:a|ab)(?:c|bcd)", 2),
        (r".*", 1),  # which nothing follows
        (r"\x41{0,3}A[\]x]\{3\}", 1),
        ("(?x) a {2} \\# b # (a+)+\n", 1),
    ],
)
def test_there_is_one_way_where_the_next_letters_tell(expression: str, number: int) -> None:
    assert ways(expression) == number


def test_a_rule_with_such_a_pattern_is_refused_where_it_stands() -> None:
    text = "patterns:\n  acme-a:\n    anchor: 'acme'\n    regex: 'acme (?P<n>\\d{1,9}) (.*,)*x'\n    above: 'y(?=x)'\n"
    with pytest.raises(RulebookError) as refused:
        compile_rulebook([PackFile("my/patterns.yaml", text.encode())])
    regex, above = refused.value.errors
    assert (str(regex.location), regex.check, regex.location.width) == ("my/patterns.yaml:4:33", "not-linear", 6)
    assert "linear time" in regex.message
    assert "[^,]" in regex.hint
    assert str(above.location) == "my/patterns.yaml:5:14"
