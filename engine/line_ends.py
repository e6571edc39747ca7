"""How many line ends a match of an expression can hold at the most: no more lines around one have to do with it.

Read from the text of the expression, which takes a tenth of the time that compiling it does. What is not understood, or has a
meaning that depends on more than its own letters, holds any number.
"""

from __future__ import annotations

import math
from functools import lru_cache

from neuron_doctor.engine.regexes import regex

#: A part of an expression: where a group begins or ends, alternatives, or a character, an escape, a class.
_PIECE = regex(
    r"(?P<group>\((?:\?:|\?i:|\?-i:|\?P<\w+>|(?!\?)))|(?P<unknown>\()|(?P<close>\))|(?P<or>\|)"
    r"|(?P<class>\[\^?\]?(?:\\[\s\S]|[^\]\\])*\])|(?P<escape>\\[\s\S])|(?P<letter>[\s\S])"
)
_TIMES = regex(r"(?:(?P<mark>[*+?])|\{(?=[\d,])(?P<least>\d*)(?P<upto>,?)(?P<most>\d*)\})[?+]?")
_ESCAPES = regex(r"\\[\s\S]|[\s\S]")
_FOR_ALL = "(?i)"
#: Of escapes, those that are no line end; what is escaped and neither letter nor digit is itself.
_NO_LINE_END = frozenset([r"\d", r"\w", r"\S", r"\t", r"\r", r"\b", r"\B", r"\A", r"\Z"])
#: Of these, those that are one letter, of which a range may begin.
_LETTERS = frozenset({r"\t", r"\r"})
#: In a class, those that are one, so that what is not in the class is none.
_LINE_ENDS = frozenset({"\n", r"\n", r"\s"})


class _Unknown(Exception):
    """The expression has something of which it is not known what it holds."""


@lru_cache(maxsize=1024)
def most_line_ends(expression: str) -> float:
    """So many; `inf` where there is no bound, or none is known."""
    reader = _Reader(expression, len(_FOR_ALL) if expression.startswith(_FOR_ALL) else 0)
    try:
        return reader.alternatives()
    except _Unknown:
        return math.inf


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self._at = at

    def alternatives(self) -> float:
        """The most of any of the alternatives that begin here, up to the bracket that ends them."""
        most = total = 0.0
        while (piece := _PIECE.match(self._text, self._at)) and piece.lastgroup != "close":
            self._at = piece.end()
            if piece.lastgroup == "or":
                most, total = max(most, total), 0.0
            else:
                each, times = self._each(piece.lastgroup or "", piece[0]), self._times()
                total += each * times if each else 0
        self._at += 1  # the bracket
        return max(most, total)

    def _each(self, sort: str, piece: str) -> float:
        if sort == "group":
            return self.alternatives()
        if sort == "unknown" or (sort == "escape" and piece[1:].isdigit()):
            raise _Unknown
        if sort == "class":
            return _may_be_of_class(piece)
        return piece == "\n" or (sort == "escape" and piece not in _NO_LINE_END and piece[1:].isalnum())

    def _times(self) -> float:
        """How often what was read may stand there."""
        times = _TIMES.match(self._text, self._at)
        if times is None:
            return 1
        self._at = times.end()
        if times["mark"]:
            return 1 if times["mark"] == "?" else math.inf
        return float(times["most"] or (math.inf if times["upto"] else times["least"]))


def _may_be_of_class(piece: str) -> bool:
    """Whether a line end may be of a class."""
    letters = _ESCAPES.findall(piece, 1)[:-1]
    if letters[:1] == ["^"]:
        return _LINE_ENDS.isdisjoint(letters)
    return any(_may_be(letter, then) for letter, then in zip(letters, [*letters[1:], ""], strict=True))


def _may_be(letter: str, then: str) -> bool:
    """Whether a line end may be the letter of a class, or in a range from it on."""
    if letter[0] == "\\" and letter[1:].isalnum():
        return letter not in _NO_LINE_END or (then == "-" and letter in _LETTERS)
    return letter < " "
