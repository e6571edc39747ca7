"""Cuts what neuron-monitor printed into its documents: one a line, several a line, spread over lines, behind the time
stamps of a log driver, cut off, or damaged."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from io import BufferedReader, BytesIO

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors import timestamps
from neuron_doctor.collectors.base import UNREADABLE_JSON, Input
from neuron_doctor.collectors.monitor_groups import GROUPS
from neuron_doctor.collectors.monitor_model import EMPTY, Report, decode
from neuron_doctor.collectors.monitor_salvage import salvage
from neuron_doctor.engine.facts import Instant
from neuron_doctor.engine.regexes import regex

#: A report of 128 processes is 200 kB; nothing longer than this is one.
MAX_REPORT = 4 * 1024 * 1024

#: So much is read at once: what malloc takes from memory that it has, not from the kernel.
_CHUNK = 64 * 1024
#: An indented document begins with a brace alone in its line, and ends with one at the beginning of a line.
_OPENINGS, _CLOSING = (b"{\n", b"{\r\n"), b"\n}"

#: A document spread over lines is tried so often before it is given up (brackets inside strings mislead the count).
_ATTEMPTS = 64

#: So much of a line may precede the document.
_PREFIX_BYTES = 256

#: What a log driver or syslog prints between the stamp and the text: the names of stream, or of host and program.
_AFTER_STAMP = (
    r"(?:[ \t](?P<host>[\w.-]{1,128})[ \t]neuron[\w.-]{0,64}(?:\[\d{1,10}\])?:"
    r'|(?:[ \t]{1,2}[^\s"{}]{1,200}){0,3})[ \t]?'
)
_PREFIXES: Sequence[tuple[re.Pattern[str], timestamps.StampReader]] = tuple(
    (regex(stamp + _AFTER_STAMP, re.ASCII), reader)
    for stamp, reader in (
        (timestamps.ISO, timestamps.calendar),
        (timestamps.SYSLOG, timestamps.yearless),
        (r"(?P<seconds>1\d{9})(?P<fraction>\d{3})", timestamps.unix),  # CloudWatch: milliseconds
    )
)

_NAMES = b"|".join(GROUPS)
#: A group pasted without the braces of its document.
_FRAGMENT = regex(rb'"(?:%s)"\s*:' % _NAMES)
_START = regex(rb'\{\s*"(?:neuron_runtime_data|system_data|instance_info|neuron_hardware_info)"\s*[:,]')

#: How msgspec words a refusal: the position (for _MORE it is the one after the first byte too many), and two reasons.
_BYTE = regex(r" \(byte (\d+)\)$")
_CUT_OFF = "Input data was truncated"
_MORE = "trailing characters"


class Sample(Struct, frozen=True):
    """One document. `raw` are its bytes, from `offset` of the input; `line` and `column` are where it begins; `instant`
    and `host` come from the prefix of its line; `whole` is false where only some of its groups were readable. The reader
    of a sample that was `taken` has its report already."""

    report: Report
    raw: bytes
    offset: int
    line: int
    column: int
    instant: Instant | None = None
    host: str | None = None
    whole: bool = True
    taken: bool = False


class _Draft(Struct):
    """A document being put together. `text` is without the prefixes of its further lines, `raw` is with them (None as
    long as there are none)."""

    offset: int
    line: int
    column: int
    indent: int
    instant: Instant | None
    host: str | None
    text: bytearray
    raw: bytearray | None = None
    attempts: int = 0
    depth: int = 0

    def add(self, line: bytes, text: bytes) -> None:
        """Go on with a line of the input; `text` is what is left of it without its prefix."""
        if self.raw is None and len(line) != len(text):
            self.raw = bytearray(self.text)
        if self.raw is not None:
            self.raw += line
        self.text += text
        self.depth += _depth(text)

    def may_end(self) -> bool:
        """Whether its brackets are balanced, which those inside strings can belie."""
        return self.depth <= 0 and self.attempts < _ATTEMPTS

    def may_begin_again(self, indent: int) -> bool:
        """Whether an opening brace at this indentation begins the next document and not an element of this one."""
        return indent <= self.indent and not self.text[-_PREFIX_BYTES:].rstrip().endswith((b"[", b","))

    def drop(self, length: int) -> None:
        """Forget what was read."""
        gone = bytes(self.text[:length])
        self.line += gone.count(b"\n")
        characters = len(gone[gone.rfind(b"\n") + 1 :].decode("utf-8", "replace"))
        self.column = characters + (1 if b"\n" in gone else self.column)
        self.offset += length
        del self.text[:length]
        if self.raw is not None:
            del self.raw[:length]

    def sample(self, report: Report, length: int, *, whole: bool = True) -> Sample:
        """The sample whose text are the first `length` bytes."""
        raw = self.text[:length] if self.raw is None else self.raw
        return Sample(report, bytes(raw), self.offset, self.line, self.column, self.instant, self.host, whole)


def _depth(text: bytes) -> int:
    return text.count(b"{") - text.count(b"}")


def samples(inp: Input, takes: Callable[[bytes], bool] | None = None) -> Iterator[Sample]:
    """The documents of the input in order; counts them as records and notes what is damaged as problems. The reader takes
    a line that is a report and that it has no need to see decoded."""
    draft: _Draft | None = None
    for number, offset, piece in _pieces(inp.stream):
        if draft is None and piece.startswith(b"{"):
            if takes is not None and takes(piece):
                inp.records += 1
                yield Sample(EMPTY, piece, offset, number, 1, taken=True)
                continue
            if (report := _decoded(piece)) is not None:
                yield from _known(inp, Sample(report, piece, offset, number, 1))
                continue
        for line_number, line_offset, line in _lines(piece, number, offset):
            draft = yield from _continued(inp, draft, line_number, line_offset, line)
    if draft is not None:
        yield from _damaged(inp, draft)


def _continued(
    inp: Input, draft: _Draft | None, number: int, offset: int, line: bytes
) -> Generator[Sample, None, _Draft | None]:
    """The documents that end with this line; returns what is open after it."""
    length, instant, host = _prefix(line)
    text = line[length:]
    begin = _beginning(text, fresh=draft is None)
    if begin is not None and (draft is None or draft.may_begin_again(begin)):
        if draft is not None:
            yield from _damaged(inp, draft)
        at = length + begin
        column = len(line[:at].decode("utf-8", "replace")) + 1
        draft = _Draft(offset + at, number, column, begin, instant, host, bytearray(line[at:]), depth=_depth(line))
    elif draft is not None:
        draft.add(line, text)
    if draft is not None and draft.may_end():
        draft = yield from _ended(inp, draft)
    if draft is not None and len(draft.text) > MAX_REPORT:
        yield from _damaged(inp, draft)
        draft = None
    return draft


class _Cut(Struct):
    """What was read and not cut yet: from `start`. Before `barren` no indented document ends, so nothing is searched twice."""

    text: bytes = b""
    start: int = 0
    barren: int = 0

    def read(self, more: bytes) -> None:
        """Go on with what was read."""
        self.text, self.barren = self.text[self.start :] + more, max(self.barren - self.start, 0)
        self.start = 0

    def end(self, *, last: bool) -> int:
        """Where the next piece ends, 0 where that is not known yet; `last`: there is no more to read."""
        limit = self.start + MAX_REPORT
        if self.text.startswith(_OPENINGS, self.start):
            closing = self.text.find(_CLOSING, max(self.start, self.barren), limit)
            if closing < 0:
                self.barren = min(len(self.text), limit) - 1
            elif end := self.text.find(b"\n", closing + len(_CLOSING), limit) + 1:
                return end
            if len(self.text) < limit and not last:
                return 0
            self.barren = max(self.barren, closing + 1)
        return self.text.find(b"\n", self.start, limit) + 1 or (limit if len(self.text) >= limit else 0)


def _pieces(stream: BufferedReader) -> Iterator[tuple[int, int, bytes]]:
    """Number of the first line, offset and bytes of each line, or of the lines of an indented document; a longer one than
    any report comes in pieces."""
    number, offset, cut, last = 1, 0, _Cut(), False
    while True:
        if end := cut.end(last=last):
            piece = cut.text[cut.start : end]
            yield number, offset, piece
            number += piece.count(b"\n") if piece.startswith(_OPENINGS) else piece.endswith(b"\n")
            offset += end - cut.start
            cut.start = end
        elif last:
            break
        else:
            chunk = stream.read(_CHUNK)
            last = not chunk
            cut.read(chunk)
    if cut.start < len(cut.text):
        yield number, offset, cut.text[cut.start :]


def _lines(piece: bytes, number: int, offset: int) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and bytes of each line of a piece."""
    for line in BytesIO(piece):
        yield number, offset, line
        number += 1
        offset += len(line)


def _prefix(line: bytes) -> tuple[int, Instant | None, str | None]:
    """Length of the time stamp and names before the text, the stamp, and the host that is named there."""
    if not line[:1].isalnum():
        return 0, None, None
    head = line[:_PREFIX_BYTES].decode("latin-1")  # one character a byte
    for pattern, reader in _PREFIXES:
        if found := pattern.match(head):
            groups = found.groupdict()
            return found.end(), reader(groups), groups["host"]
    return 0, None, None


def _beginning(text: bytes, *, fresh: bool) -> int | None:
    """Where in the line a document begins; after something that is no JSON only where none is open (`fresh`)."""
    stripped = text.lstrip(b" \t,[")
    begin = len(text) - len(stripped)
    if stripped.startswith(b"{") or (fresh and _FRAGMENT.match(stripped)):
        return begin
    brace = text.find(b"{", 0, _PREFIX_BYTES)
    return brace if fresh and brace >= 0 and _START.match(text, brace) else None


def _decoded(text: bytes | bytearray) -> Report | None:
    try:
        return decode(text)
    except UNREADABLE_JSON:
        return None


def _known(inp: Input, sample: Sample) -> Iterator[Sample]:
    """The sample, or what stands deeper in it where another program wrapped the report."""
    if sample.report == EMPTY:
        sample = replace(sample, report=salvage(sample.raw), whole=False)
    if sample.report == EMPTY:
        inp.problem("a JSON document that is not a report of neuron-monitor", sample.line)
        return
    inp.records += 1
    yield sample


def _ended(inp: Input, draft: _Draft) -> Generator[Sample, None, _Draft | None]:
    """The documents of a draft, one after another; returns what is left of it to go on with, if anything."""
    while True:
        try:
            report = decode(draft.text)
        except UNREADABLE_JSON as error:
            reason, at = _reason(error)
            if reason == _CUT_OFF:
                draft.attempts += 1
                return draft
            if reason != _MORE:
                yield from _damaged(inp, draft)
                return None
        else:
            yield from _known(inp, draft.sample(report, len(draft.text)))
            return None
        yield from _known(inp, draft.sample(decode(draft.text[: at - 1]), at - 1))
        following = draft.text.find(b"{", at - 1)
        if following < 0:
            return None
        draft.drop(following)


def _damaged(inp: Input, draft: _Draft) -> Iterator[Sample]:
    """What can be read of a draft that is no whole document; another report may have been written into the torn one."""
    text = bytes(draft.text)
    starts = [0, *(found.start() for found in _START.finditer(text, 1))]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        report, whole = _readable(inp, draft, text[start:end])
        if report != EMPTY or whole:
            yield from _known(inp, draft.sample(report, end - start, whole=whole))
        draft.drop(end - start)


def _readable(inp: Input, draft: _Draft, text: bytes) -> tuple[Report, bool]:
    """The report, and whether it is whole; where not, a problem is noted at the byte that the decoder stumbled over."""
    try:
        return decode(text.rstrip(b" \t\r\n,]")), True
    except UNREADABLE_JSON as error:
        reason, at = _reason(error)
    if not text.startswith(b"{"):
        reason, at = "a group without the braces of its report", 0
    what = "a report is cut off" if reason == _CUT_OFF else f"a report is not valid ({reason})"
    inp.problem(f"{what}: its readable groups were used", draft.line + text.count(b"\n", 0, at))
    return salvage(text), False


def _reason(error: Exception) -> tuple[str, int]:
    """What is wrong with a document, and at which of its bytes (0 where that is not said)."""
    if isinstance(error, RecursionError):
        return "nested too deeply", 0
    if isinstance(error, UnicodeDecodeError):
        return "text is not UTF-8", 0
    message = str(error).removeprefix("JSON is malformed: ")
    found = _BYTE.search(message)
    return (message, 0) if found is None else (message[: found.start()], int(found[1]))
