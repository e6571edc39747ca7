"""The parts of a regular expression of Python, each with where it stands: what may be read, and how often."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.regexes import regex

#: Where the text ends; no letter.
END = ""
Letters = frozenset[str]

#: Each letter that an expression tells from others by its kind: ASCII, and a few from beyond it.
_ALPHABET = frozenset({*map(chr, range(128)), "\u00a0", "\u00e9", "\u03a9", "\u4e2d", "\u0663"})
_TIMES = regex(r"(?:(?P<mark>[*+?])|\{(?=[\d,])(?P<least>\d*)(?P<upto>,?)(?P<most>\d*)\})[?+]?")
_GROUP = regex(r"\((?:\?P<\w+>|\?>|\?(?P<on>[aiLmsux]*)(?:-(?P<off>[imsx]+))?:|(?!\?))")
_ATOM = regex(
    r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-3][0-7]{2}|.)|.",
    re.DOTALL,
)
_COMMENT = regex(r"\(\?#[^)]*\)")
_IDLE = regex(r"\s+|#[^\n]*")
_GLOBAL = regex(r"\(\?(?P<on>[aiLmsux]+)\)")
#: What is no part of a regular expression in the strict sense, which alone is known to be linear, and what to do instead.
_REFUSED = (
    (regex(r"\(\?(?:[=!]|<[=!])"), "look-around", "make what must not be there a condition of the rule (`none`)"),
    (regex(r"\(\?P=|\\[1-9](?![0-7]{2})"), "a back-reference", "write out what it stands for"),
    (regex(r"\(\?\("), "a choice by group", "write the two alternatives out: (?:...|...)"),
)
#: Edges match between letters; those of the end are told by what follows.
_EDGES = {"^": None, r"\A": None, r"\b": None, r"\B": None, "$": Letters({END, "\n"}), r"\Z": Letters({END})}


class NotLinear(Exception):
    """A pattern that cannot be matched in linear time: why, what to write instead, and the span in it that is to blame."""

    def __init__(self, said: str, hint: str, begin: int, end: int) -> None:
        super().__init__(said)
        self.hint, self.begin, self.end = hint, begin, end


class Part(Struct, frozen=True):
    """Letters, one of which is read; or alternatives, each a sequence; or an edge, at which nothing is read and one of
    `ahead` follows (`ends_word`: behind a letter of a word, none of a word). All of it `least` to `most` times."""

    begin: int
    end: int
    letters: Letters | None = None
    choices: tuple[tuple[Part, ...], ...] = ()
    ahead: Letters | None = None
    ends_word: bool = False
    least: int = 1
    most: float = 1

    @property
    def is_edge(self) -> bool:
        """Whether it reads nothing, but stands between letters of some kind."""
        return self.letters is None and not self.choices


def tree(expression: str) -> Part:
    """The whole of an expression, which must be one of Python. Raises NotLinear for what is more than a regular one."""
    flags = _GLOBAL.match(expression)
    reader = _Reader(expression, flags.end() if flags else 0)
    return reader.alternatives(frozenset(flags["on"] if flags else ""))


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.alphabet = _ALPHABET | frozenset(text)
        self.known: dict[tuple[str, frozenset[str]], Letters] = {}

    def alternatives(self, flags: frozenset[str]) -> Part:
        begin = self.at
        choices: list[tuple[Part, ...]] = []
        sequence: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            idle = _COMMENT.match(self.text, self.at) or ("x" in flags and _IDLE.match(self.text, self.at))
            times = _TIMES.match(self.text, self.at)
            if idle:
                self.at = idle.end()
            elif self.text[self.at] == "|":
                self.at += 1
                choices.append(tuple(sequence))
                sequence = []
            elif times and sequence:
                self.at = times.end()
                sequence[-1] = _repeated(sequence[-1], times)
            else:
                sequence.append(self.part(flags))
        return Part(begin, self.at, choices=(*choices, tuple(sequence)))

    def part(self, flags: frozenset[str]) -> Part:
        begin = self.at
        for form, said, hint in _REFUSED:
            if refused := form.match(self.text, begin):
                raise NotLinear(said, hint, begin, refused.end())
        if group := _GROUP.match(self.text, begin):
            self.at = group.end()
            inner = self.alternatives(flags.union(group["on"] or "") - frozenset(group["off"] or ""))
            self.at += 1  # its bracket
            return replace(inner, begin=begin, end=self.at)
        atom = cast("re.Match[str]", _ATOM.match(self.text, begin))  # any letter is one
        self.at = atom.end()
        if atom[0] in _EDGES:
            return Part(begin, self.at, ahead=_EDGES[atom[0]], ends_word=atom[0] == r"\b")
        return Part(begin, self.at, letters=self.letters(atom[0], flags))

    def letters(self, atom: str, flags: frozenset[str]) -> Letters:
        """The letters that an atom may read; all of them where it is none of the alphabet."""
        key = atom, flags - {"x"}
        if key not in self.known:
            on = "".join(sorted(key[1]))
            reads = re.compile(f"(?{on}){atom}" if on else atom).fullmatch
            self.known[key] = frozenset(filter(reads, self.alphabet)) or self.alphabet
        return self.known[key]


def _repeated(part: Part, times: re.Match[str]) -> Part:
    if times["mark"]:
        least, most = {"*": (0, math.inf), "+": (1, math.inf), "?": (0, 1)}[times["mark"]]
    else:
        least = int(times["least"] or 0)
        most = float(times["most"] or math.inf) if times["upto"] else least
    return replace(part, end=times.end(), least=least, most=most)


def may_be_nothing(parts: Iterable[Part]) -> bool:
    """Whether a sequence also matches nothing, wherever it is; an edge does not."""
    return all(part.least == 0 or any(map(may_be_nothing, part.choices)) for part in parts)
