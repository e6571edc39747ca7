"""The lines that a pattern nearly matches: those in which a beginning or an end of its expression is found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.loosening import required_literal, terms_of
from neuron_doctor.engine.patterns import Pattern
from neuron_doctor.engine.regexes import compiled

#: A part of an expression is looked for if so many characters in a row of it are literal, and at most so many of each.
_TELLING, _MOST = 6, 40
#: Stands between the id of a pattern and the number of a part of it.
_MARK = "~"
_ANY_CASE = "(?i)"


class Near(Struct, frozen=True):
    """A line, the `part` of the expression that it matches, and the `rest` that it does not."""

    fact: Fact
    part: str
    rest: str


def parts_of(pattern: Pattern) -> list[Pattern]:
    """Patterns for the parts of one, the longest first: of its expression everything but some of its end, or of its beginning.
    Of a pattern over several lines, the anchor."""
    return [
        replace(
            pattern,
            id=f"{pattern.id}{_MARK}{number}",
            regex=part,
            emits="hit",
            anchor=None,
            above=None,
            fields={},
            values={},
        )
        for number, (part, _) in enumerate(_parts(pattern))
    ]


def nearest_line(pattern: Pattern, facts: Iterable[Fact]) -> Near | None:
    """Of the hits of its parts that of the longest one, the first of those."""
    parts = _parts(pattern)
    numbered = (
        (int(number), fact)
        for fact in facts
        for name, mark, number in [fact.name.rpartition(_MARK)]
        if mark and name == pattern.id
    )
    number, fact = min(numbered, key=lambda one: (one[0], one[1].span.path, one[1].span.offset), default=(0, None))
    return None if fact is None else Near(fact, *parts[number])


def _parts(pattern: Pattern) -> list[tuple[str, str]]:
    if pattern.anchor:
        return [(pattern.anchor, pattern.regex)]
    flag = _ANY_CASE if pattern.regex.startswith(_ANY_CASE) else ""
    cuts = {
        part: rest for part, rest in _cuts(pattern.regex.removeprefix(flag)) if len(required_literal(part)) >= _TELLING
    }
    longest = sorted(cuts, key=lambda part: (-len(part), part))
    return [(flag + part, cuts[part]) for part in longest if _is_whole(part)][:_MOST]


def _cuts(regex: str) -> Iterator[tuple[str, str]]:
    """A part of each alternative and the rest of that, cut at words and at what is not literal."""
    for terms in terms_of(regex):
        for at in range(1, len(terms)):
            if terms[at].isalnum() and terms[at - 1].isalnum():
                continue
            first, last = "".join(terms[:at]), "".join(terms[at:])
            yield first, last
            yield last, first


def _is_whole(part: str) -> bool:
    """Whether it stands by itself: a part may refer to a group, or set flags, of the rest."""
    try:
        compiled(part)
    except re.error:
        return False
    return True
