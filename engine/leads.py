"""How an expression is written for Vectorscan: with an alternative for each way to begin, where its first words are short.

Vectorscan wakes for a literal of each expression, which it takes from the beginning: for `rank[ :=]{1,3}\\d` at each `rank`, in
whatever word that stands. Of `rank [ :=]{0,2}\\d` and so on for each mark it takes more. Both say the same.
"""

from __future__ import annotations

from msgspec import Struct

from neuron_doctor.engine.loosening import (
    EDGE,
    FOR_ALL,
    REFERENCE,
    Term,
    alternatives,
    literal_of,
    split_terms,
    telling,
)
from neuron_doctor.engine.regexes import regex

#: A beginning of so many characters is rare enough, and so are so many in a row anywhere else.
_ENOUGH, _RARE = 5, 8
#: So many alternatives are made of one at most.
_MOST = 4
#: What stands between words and numbers. Letters in either case are left alone: Vectorscan knows them as such.
_MARKS = regex(r"\[([ =:#,;.@_/]+)\]")
_COUNTED = regex(r"\{(\d)(?:,(\d{1,2}))?\}")
#: A name can be given once only; an escape is looked at first.
_NAMED = regex(r"(\\[\s\S])|\(\?P<\w+>")


class _Way(Struct, frozen=True):
    """A way to begin: what is spelled out (so many characters), and what follows."""

    begun: str
    length: int
    rest: tuple[Term, ...]

    def with_one(self, atom: str, *rest: Term) -> _Way:
        """The same with one character more, and then this."""
        return _Way(self.begun + atom, self.length + 1, rest)

    def __str__(self) -> str:
        return self.begun + "".join(map(str, self.rest))


def spelled(expression: str) -> str:
    """The same expression with an alternative for each way to begin."""
    if REFERENCE.search(expression):
        return expression
    flag = FOR_ALL if expression.startswith(FOR_ALL) else ""
    parts = alternatives(_NAMED.sub(lambda found: found[1] or "(?:", expression.removeprefix(flag)))
    return flag + "|".join(str(way) for atoms in parts for way in _ways(split_terms(atoms)))


def _ways(terms: list[Term]) -> list[_Way]:
    if not terms:
        return [_Way("", 0, ())]
    if telling("".join(map(str, terms))) >= _RARE:
        return [_Way("", 0, tuple(terms))]
    edged = str(terms[0]) == EDGE
    ways, done = [_Way(EDGE if edged else "", 0, tuple(terms[edged:]))], list[_Way]()
    while ways:
        way = ways.pop(0)
        further = _further(way)
        if further and len(ways) + len(done) + len(further) <= _MOST:
            ways += further
        else:
            done.append(way)
    return done


def _further(way: _Way) -> list[_Way]:
    """What a way branches into with its next term; nothing where it is long enough, or that term cannot be spelled out."""
    if not way.rest or way.length >= _ENOUGH:
        return []
    term, rest = way.rest[0], way.rest[1:]
    fewest, most = _times(term)
    if not most:
        return []
    after = (_fewer(term, fewest, most), *rest) if most > 1 else rest
    ways = [way.with_one(atom, *after) for atom in _characters(term.atom)]
    return [*ways, _Way(way.begun, way.length, rest)] if ways and not fewest else ways


def _characters(atom: str) -> list[str]:
    """What may stand there, each as an atom; nothing where that is more than a few marks."""
    if literal_of(atom).isascii() and literal_of(atom):
        return [atom]
    marks = _MARKS.fullmatch(atom)
    return ["\\" + mark if mark in "#." else mark for mark in marks[1]] if marks else []


def _times(term: Term) -> tuple[int, int | None]:
    """How often a term stands there: at the fewest and at the most; None where that is not spelled out."""
    if term.times in ("", "?"):
        return (0 if term.times else 1), 1
    counted = _COUNTED.fullmatch(term.times)
    return (int(counted[1]), int(counted[2] or counted[1])) if counted else (0, None)


def _fewer(term: Term, fewest: int, most: int) -> Term:
    """The same once less."""
    return Term(term.atom, f"{{{max(fewest - 1, 0)},{most - 1}}}")
