"""The lines of a block: each is peeled once, whoever asks, and not at all where one like it was before.

Two lines that differ in nothing but the time that both begin with say the same, at the same place: they are of one `shape`. So
what was found out about a line holds for all of its shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors.blocks import CONTEXT, Block
from neuron_doctor.collectors.prefixes import Channel, Line, peel
from neuron_doctor.engine.facts import Place
from neuron_doctor.engine.regexes import regex

#: So many shapes are remembered at once, and of lines that are so long at most: thousands of longer ones take much memory,
#: and a message that comes again and again is short.
_MOST, LONGEST = 4096, 1024

#: The stamps that most lines begin with: a time of the day behind a date, or the seconds since boot. Of other digits it would
#: depend whether they are a time at all, so a date stays as it is.
_STAMP = (
    r"(\d{4}-(?:\d\d|[A-Z][a-z]{2})-\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )"
    r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?"
    r"|\[ {0,8}\d{1,9}\.\d{6}\]"
)
_STAMP_OF_BYTES, _STAMP_OF_TEXT = regex(_STAMP.encode()), regex(_STAMP, re.ASCII)
#: The title of an issue that was pasted whole, where an exception is the title: `# [Bug]: RuntimeError: ...`.
_TITLE = regex(rb"#{1,3} \[[A-Za-z][\w /-]{0,30}\]:? ?(?=[A-Za-z_][\w.]{0,100}(?:Error|Exception): )")
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
#: A message that ends so, or is nothing but this, goes on in the lines below it.
_OPEN_END, _LONGEST_END = regex(r"(?:[:=(,\\]|\bmodel)\Z"), 5
_OPEN_WHOLE = regex(r"\S+:\S+")
#: Behind the name of a host, the result of a task of Ansible, as JSON or YAML in the lines below.
_OPEN_RESULT = regex(r"(?:(?:FAILED!|UNREACHABLE!) |\(item=[^\n]{0,200}?\) )?=> (?:\{|\w{1,40}=[^\n]{0,200})?\s*$")


def shape_of(raw: bytes) -> bytes:
    """What a line has in common with those that differ from it in their time alone: zeros are in its place."""
    stamp = _STAMP_OF_BYTES.match(raw)
    if stamp is None:
        return raw
    begin, end = max(stamp.end(1), 0), stamp.end()
    return raw[:begin] + raw[begin:end].translate(_ZEROS) + raw[end:]


def is_stamped(raw: bytes) -> bool:
    """Whether a line begins with such a time."""
    return _STAMP_OF_BYTES.match(raw) is not None


def timeless(text: str) -> str:
    """The same of a text: nobody is to look for a certain time."""
    stamp = _STAMP_OF_TEXT.match(text)
    return shape_of(stamp[0].encode()).decode() + text[stamp.end() :] if stamp else text


def stands_for_its_shape(line: Line, raw: bytes) -> bool:
    """Whether peeling has taken the stamp off, so that nothing of it is left in the message."""
    stamp = _STAMP_OF_BYTES.match(raw)
    return stamp is None or (b"\r" not in raw and line.records[0].start >= stamp.end())


def decoded(raw: bytes) -> str:
    """Text without the carriage return of a line that ends as on Windows."""
    return raw.decode("utf-8", "replace").rstrip("\r")


class Gist(Struct, frozen=True):
    """What a line is to those around it: its message; the place that its last record states, and whose it is; whether that begins
    with a header that has a time (or with the host whose result Ansible prints below), and goes on below."""

    message: str
    place: Place
    channel: Channel
    heads: bool
    unfinished: bool


def _gist(line: Line) -> Gist:
    last = line.records[-1]
    opens = last.place.host is not None and _OPEN_RESULT.match(line.text, last.start, last.end) is not None
    heads = last.has_header and (last.instant is not None or opens)
    unfinished = heads and _is_unfinished(line.text[last.start : last.end].rstrip())
    message = "".join(line.text[record.start : record.end] for record in line.records)
    return Gist(message, last.place, last.channel, heads, unfinished)


def _is_unfinished(message: str) -> bool:
    return bool(_OPEN_END.search(message, max(0, len(message) - _LONGEST_END)) or _OPEN_WHOLE.fullmatch(message))


class Lines(Struct):
    """The lines of one block. `gists` are those of the shapes of lines, which all blocks share."""

    block: Block
    gists: dict[bytes, Gist]
    #: What is around the line that was last looked at, and how much of it.
    near: tuple[tuple[int, int, int], list[str]] | None = None
    #: The words around the line that was last looked at.
    around: tuple[tuple[int, int], str] | None = None
    _peeled: dict[tuple[int, int], Line] = field(default_factory=dict)
    _here: dict[tuple[int, int], Gist] = field(default_factory=dict)

    def peeled(self, begin: int, end: int) -> Line:
        """The line, or the part of a long one, between these indexes of the block."""
        line = self._peeled.get((begin, end))
        if line is None:
            line = self._peeled[begin, end] = peel(decoded(self._raw(begin, end)))
        return line

    def _raw(self, begin: int, end: int) -> bytes:
        """The line, of the first one of an input what stands behind the mark of a title."""
        title = None if begin or self.block.base else _TITLE.match(self.block.data, 0, end)
        return self.block.data[title.end() if title else begin : end]

    def whole(self, begin: int, end: int) -> Line:
        """The same; a line that its container runtime cut (CRI `P`) with the parts that follow."""
        line = self.peeled(begin, end)
        text = line.text
        while line.partial and end < len(self.block.data):
            begin, end = self.block.line_bounds(end + 1)
            if begin >= end:
                break
            rest = self.peeled(begin, end)
            text += rest.text[rest.records[0].start :]
            line = replace(line, text=text, partial=rest.partial, records=(replace(line.records[0], end=len(text)),))
        return line

    def gist(self, begin: int, end: int) -> Gist:
        """The gist of a line, or of a part of a long one."""
        gist = self._here.get((begin, end))
        if gist is None:
            raw = self.block.data[begin:end]
            shape = shape_of(raw)
            gist = self.gists.get(shape)
            if gist is None:
                line = self.peeled(begin, end)
                gist = _gist(line)
                if len(self.gists) >= _MOST:
                    self.gists.clear()
                if len(raw) <= LONGEST and stands_for_its_shape(line, raw):
                    self.gists[shape] = gist
            self._here[begin, end] = gist
        return gist

    def above(self, begin: int, most: int) -> Iterator[tuple[int, int]]:
        """The bounds of the lines above the one at `begin`, the nearest first, as far as CONTEXT reaches."""
        data, reach = self.block.data, max(0, begin - CONTEXT)
        for _ in range(most):
            if begin <= reach:
                return
            end = begin - 1
            begin = data.rfind(b"\n", 0, end) + 1
            if begin < reach:
                return
            yield begin, end

    def below(self, end: int, most: int) -> Iterator[tuple[int, int]]:
        """The bounds of the lines below the one that ends at `end`, the nearest first, as far as CONTEXT reaches."""
        data, reach = self.block.data, end + CONTEXT
        for _ in range(most):
            begin = end + 1
            if begin >= len(data):
                return
            end = data.find(b"\n", begin)
            end = len(data) if end < 0 else end
            if end > reach:
                return
            yield begin, end
