"""The lines around one, as a pattern over several lines sees them: their messages, without who a parallel shell says speaks.

`pdsh`, `clush`, `dsh` and loops of `ssh` put the name of a host before each line, and lines of several hosts come in any order:

    z1: Thread 20110 (active): "MainThread"
    z2: Process 20178: /opt/v/bin/python -u train.py
    z1:     all_reduce (torch/distributed/distributed_c10d.py:2817)

What one of them printed is the lines that begin like it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from msgspec import Struct

from neuron_doctor.collectors.line_forms import LEVELS
from neuron_doctor.collectors.lines import Lines
from neuron_doctor.engine.regexes import regex

#: A pattern with an anchor sees so many lines before and after the anchor's line.
LINES_BEFORE, LINES_AFTER = 16, 8
#: How far smaller windows reach, either way.
_NEAR = (1, 4, 9)
#: Among so many times as many lines those of one speaker are looked for.
_SPEAKERS = 8
_LABEL = regex(rb"(?:\[[A-Za-z][\w.-]{0,62}(?::\d{1,10})?\]|[A-Za-z\d][\w.-]{0,62} {0,40}[:|])(?=[ \t\r]|$)")
#: What stands in a line whose message may have other words than its bytes: envelopes, escapes, colours, lines made one, what is
#: beyond ASCII.
_REWRITTEN = regex(rb"[{\\\x1b\r\x80-\xff]|#0|File \"")
#: What an exception is called, with its module.
_EXCEPTION = regex(r"\w[\w.]{0,62}(?:Error|Exception)")


class Window(Struct, frozen=True):
    """The messages before a line, its own, and those after it."""

    before: list[str]
    anchor: str
    after: list[str]

    @property
    def text(self) -> str:
        """All of them."""
        return "\n".join([*self.before, self.anchor, *self.after])

    @property
    def at(self) -> int:
        """Where its own begins in the text."""
        return sum(map(len, self.before)) + len(self.before)


def windows(lines: Lines, begin: int, end: int, most: int = LINES_BEFORE) -> Iterator[Window]:
    """What may be around the line, with at `most` so many lines on either side, the likelier first: nothing but the lines of its
    own speaker where there is one for sure. Each is made when it is asked for: most candidates are of the first, or are none."""
    label = _speaker_of(lines, begin, end)
    if label is None or lines.gist(begin, end).place.host is None:
        yield _around(lines, begin, end, most)
    if label is not None:
        yield _of_speaker(label, lines, begin, end, most)


def around(lines: Lines, begin: int, end: int) -> str:
    """A text that has every word of the messages around the line, whoever speaks. To peel so many takes as long as to scan
    a block, and most of them show in their own bytes that they have nothing of what is looked for."""
    if lines.around is None or lines.around[0] != (begin, end):
        wide = _SPEAKERS if _LABEL.match(lines.block.data, begin, end) else 1
        bounds = chain(lines.above(begin, LINES_BEFORE * wide), lines.below(end, LINES_AFTER * wide))
        texts = [lines.gist(begin, end).message, *(_wordy(lines, *some) for some in bounds)]
        lines.around = (begin, end), "\n".join(texts)
    return lines.around[1]


def _wordy(lines: Lines, begin: int, end: int) -> str:
    raw = lines.block.data[begin:end]
    return lines.gist(begin, end).message if _REWRITTEN.search(raw) else raw.decode("ascii")


def near_texts(lines: Lines, begin: int, end: int, reach: float) -> list[str]:
    """The texts of smaller windows, one of which holds all of any match that takes in the line and has at most `reach` line
    ends; none where that is no less than everything. The patterns of a line that reach about as far ask for the same ones."""
    most = next((some for some in _NEAR if reach <= some), None)
    if most is None:
        return []
    key = (begin, end, most)
    if lines.near is None or lines.near[0] != key:
        lines.near = key, [window.text for window in windows(lines, begin, end, most)]
    return lines.near[1]


def _speaker_of(lines: Lines, begin: int, end: int) -> bytes | None:
    """What the line begins with, if that is the name of a host or may be one: a line beside it begins with a name, too."""
    data = lines.block.data
    label = _LABEL.match(data, begin, end)
    if label is None or _is_no_name(label[0]):
        return None
    beside = chain(lines.above(begin, 1), lines.below(end, 1))
    is_name = lines.gist(begin, end).place.host is not None or any(_LABEL.match(data, *bounds) for bounds in beside)
    return label[0] if is_name else None


def _is_no_name(label: bytes) -> bool:
    word = label.strip(b"[]:| ").decode()
    return bool(_EXCEPTION.fullmatch(word)) or (
        len(word) > 1 and not LEVELS.keys().isdisjoint((word.upper(), word.lower()))
    )


def _around(lines: Lines, begin: int, end: int, most: int) -> Window:
    """The line and its neighbours, whoever speaks."""
    return Window(
        [lines.gist(*bounds).message for bounds in lines.above(begin, min(most, LINES_BEFORE))][::-1],
        lines.gist(begin, end).message,
        [lines.gist(*bounds).message for bounds in lines.below(end, min(most, LINES_AFTER))],
    )


def _of_speaker(label: bytes, lines: Lines, begin: int, end: int, most: int) -> Window:
    """The line and its neighbours among those that begin like it."""
    return Window(
        list(_of(label, lines, lines.above(begin, LINES_BEFORE * _SPEAKERS), min(most, LINES_BEFORE)))[::-1],
        _without(label, lines.gist(begin, end).message),
        list(_of(label, lines, lines.below(end, LINES_AFTER * _SPEAKERS), min(most, LINES_AFTER))),
    )


def _of(label: bytes, lines: Lines, bounds: Iterable[tuple[int, int]], most: int) -> Iterator[str]:
    """The messages of the lines that begin with this label."""
    data = lines.block.data
    own = ((begin, end) for begin, end in bounds if data.startswith(label, begin, end))
    return (_without(label, lines.gist(begin, end).message) for begin, end in islice(own, most))


def _without(label: bytes, message: str) -> str:
    """The message, if peeling has left the label where it is."""
    text = label.decode("utf-8", "replace")
    return message.removeprefix(text).removeprefix(" ") if message.startswith(text) else message
