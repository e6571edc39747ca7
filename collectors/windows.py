"""The lines around one, as a pattern over several lines sees them: their messages, without who a parallel shell says speaks.

`pdsh`, `clush`, `dsh` and loops of `ssh` put the name of a host before each line, and lines of several hosts come in any order:

    z1: Thread 20110 (active): "MainThread"
    z2: Process 20178: /opt/v/bin/python -u train.py
    z1:     all_reduce (torch/distributed/distributed_c10d.py:2817)

What one of them printed is the lines that begin like it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from neuron_doctor.collectors.lines import Lines
from neuron_doctor.engine.regexes import regex

#: A pattern with an anchor sees so many lines before and after the anchor's line.
LINES_BEFORE, LINES_AFTER = 16, 8
#: Among so many times as many lines those of one speaker are looked for.
_SPEAKERS = 8
#: A word that so many other lines begin with as well is a name where all lines begin with one.
_FEWEST = 3
_LABEL = regex(rb"(?:\[[A-Za-z][\w.-]{0,62}(?::\d{1,10})?\]|[A-Za-z\d][\w.-]{0,62} {0,40}[:|])(?=[ \t\r]|$)")


class Window(Struct, frozen=True):
    """The messages before a line, its own, and those after it."""

    before: list[str]
    anchor: str
    after: list[str]


def windows(lines: Lines, begin: int, end: int) -> Iterator[Window]:
    """What may be around the line, the likelier first: nothing but the lines of its own speaker where there is one for sure."""
    label = _LABEL.match(lines.block.data, begin, end)
    gist = lines.gist(begin, end)
    around = Window(
        [lines.gist(*bounds).message for bounds in lines.above(begin, LINES_BEFORE)][::-1],
        gist.message,
        [lines.gist(*bounds).message for bounds in lines.below(end, LINES_AFTER)],
    )
    if label is None:
        yield around
        return
    above = list(_of(label[0], lines, lines.above(begin, LINES_BEFORE * _SPEAKERS), LINES_BEFORE))[::-1]
    below = list(_of(label[0], lines, lines.below(end, LINES_AFTER * _SPEAKERS), LINES_AFTER))
    if gist.place.host is None and not (len(above) + len(below) >= _FEWEST and _all_are_labelled(lines, begin, end)):
        yield around
    yield Window(above, _without(label[0], gist.message), below)


def _all_are_labelled(lines: Lines, begin: int, end: int) -> bool:
    """Whether the line and those around it all begin with somebody's name, which peeling has left: a level is no name."""
    near = [(begin, end), *lines.above(begin, LINES_BEFORE), *lines.below(end, LINES_AFTER)]
    labels = (_LABEL.match(lines.block.data, *bounds) for bounds in near if bounds[0] < bounds[1])
    return all(label and lines.gist(begin, end).message.encode().startswith(label[0]) for label in labels)


def _of(label: bytes, lines: Lines, bounds: Iterable[tuple[int, int]], most: int) -> Iterator[str]:
    """The messages of the lines that begin with this label."""
    data = lines.block.data
    own = ((begin, end) for begin, end in bounds if data.startswith(label, begin, end))
    return (_without(label, lines.gist(begin, end).message) for begin, end in islice(own, most))


def _without(label: bytes, message: str) -> str:
    """The message, if peeling has left the label where it is."""
    text = label.decode("utf-8", "replace")
    return message.removeprefix(text).removeprefix(" ") if message.startswith(text) else message
