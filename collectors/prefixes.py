"""Peeling a log line: what launchers, collectors and loggers put around a message is taken off and understood.

Prefixes come in any stacking order; the innermost time wins. A torn line (several processes wrote into one) has several
records. Where a header was torn from its message, the message goes to the last header before it: which of the two
processes wrote it cannot be seen. The formats are in `line_forms`, `envelopes` and `place_tokens`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors import timestamps
from neuron_doctor.collectors.envelopes import Envelope, may_be_envelope, unwrap
from neuron_doctor.collectors.folded import unfolded
from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.line_forms import (
    ANY_COMPONENT,
    BOUNDARY,
    COMPONENT,
    FORMS,
    KERNEL_FORMS,
    LEVELS,
    Form,
    When,
)
from neuron_doctor.collectors.place_tokens import place_tokens
from neuron_doctor.engine.facts import NOWHERE, Clock, Instant, Place
from neuron_doctor.engine.moments import last_before
from neuron_doctor.engine.regexes import regex

_MAX_PREFIXES = 16
_MAX_RECORDS = 64
_MAX_ENVELOPES = 3
_TAKEN_NS = 60 * 10**9  # a driver of logs takes a line sooner
_SHORTEST_HEADER = 8  # of an overwritten part of a line that is worth keeping

#: Terminal sequences (ECMA-48 CSI, OSC, two-character escapes); rsyslog writes ESC as `#033`.
_ANSI = regex(r"(?:\x1b|#033)(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_BLANK = regex(r"[ \t]*")

#: What prefixes and messages tell of a place.
_OF_A_PLACE = frozenset({"host", "instance_id", "container", "pid", "rank", "local_rank", "device", "core"})
#: What launchers and collectors say holds for all records of a line; the rest is for one record.
_OUTER = frozenset({"rank", "local_rank", "host", "container"})


class Channel(StrEnum):
    """Who wrote a record: a process, or the kernel's ring buffer."""

    LOG = "log"
    KERNEL = "kernel"


class Record(Struct, frozen=True):
    """One producer's part of a line.

    `start` and `end` are the range of the message in `Line.text`; the message of a runtime line begins at COMP:func.
    `instant` is the innermost time stamp, `outer` the outermost one that is proven to be UTC (CRI, Docker,
    CloudWatch). `has_header` is False for a continuation line: no stamp, no runtime header, no known prefix. The
    runtime's compact form (`COMP:func message`, below an API error) is one; component and function are still told.
    """

    start: int
    end: int
    place: Place
    instant: Instant | None
    outer: Instant | None
    channel: Channel
    level: str
    component: str
    function: str
    has_header: bool


class Line(Struct, frozen=True):
    """A cleaned line: escape sequences stripped, JSON envelopes opened; of a line rewritten with carriage returns the
    last part and the parts with a header. `partial`: CRI or Docker says that the next line continues this one."""

    text: str
    records: tuple[Record, ...]
    partial: bool


class _Peeled(Struct):
    """What was taken off so far, up to `at`. `waiting` are stamps of the runtime that no record has claimed yet."""

    at: int = 0
    known: dict[str, str] = field(default_factory=dict)
    stamps: list[Instant] = field(default_factory=list)
    waiting: list[Instant] = field(default_factory=list)
    kernel: bool = False
    partial: bool = False
    own: bool = False
    has_header: bool = False
    last: Form | None = None


def _after(outer: _Peeled, at: int) -> _Peeled:
    """What holds for the next record of a line, or for the message in an envelope, because of what was before it."""
    known = {name: value for name, value in outer.known.items() if name in _OUTER}
    return _Peeled(at, known, list(outer.stamps), outer.waiting, outer.kernel, outer.partial)


def _fits(form: Form, peeled: _Peeled) -> bool:
    if form.when is When.BEFORE_HEADERS:
        return not peeled.own
    return form.when is When.ANYWHERE or (peeled.last is not None and peeled.last.stamp is not None)


def _form_at(text: str, at: int, peeled: _Peeled) -> tuple[Form, re.Match[str]] | None:
    table = KERNEL_FORMS if peeled.kernel else FORMS
    for form in table.get(text[at : at + 1], ()):
        match = form.regex.match(text, at)
        if match is not None and _fits(form, peeled):
            return form, match
    return None


def _after_blanks(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _next_form(text: str, peeled: _Peeled) -> tuple[Form, re.Match[str]] | None:
    """The prefix that stands here, or else after blanks."""
    found = _form_at(text, peeled.at, peeled)
    if found is None and text[peeled.at : peeled.at + 1] in (" ", "\t"):
        return _form_at(text, _after_blanks(text, peeled.at), peeled)
    return found


def _dated_by_a_logger(peeled: _Peeled) -> bool:
    """Whether the host's logger has told when the kernel's line was, by a clock that goes on through reboots."""
    return peeled.last is not None and peeled.last.kernel and bool(peeled.stamps)


def _learn_of_file(peeled: _Peeled, path: str) -> None:
    """Learn whose the file is in which a search has found the line."""
    place = place_of_path(path)
    told = {"host": place.host, "rank": place.rank, "local_rank": place.local_rank}
    peeled.known |= {name: str(value) for name, value in told.items() if value is not None}


def _dated_by_file(instant: Instant | None, peeled: _Peeled) -> Instant | None:
    """A time without a year, of a line of a file whose name tells when it was put away: the last before that."""
    rotated = peeled.known.get("rotated")
    if instant is None or rotated is None or instant.clock is not Clock.YEARLESS:
        return instant
    return last_before(instant, timestamps.read_day(rotated))


def _learn(peeled: _Peeled, form: Form, match: re.Match[str]) -> None:
    groups = match.groupdict()
    for name, value in groups.items():
        if value is not None and name == "rank_of_group":  # the global one, where only one group is
            peeled.known.setdefault("rank", value)
        elif value is not None:
            peeled.known[name] = value
    if "file" in groups:
        _learn_of_file(peeled, groups["file"])
    instant = _dated_by_file(form.stamp(groups), peeled) if form.stamp else None
    if instant is not None and not (instant.clock is Clock.BOOT and _dated_by_a_logger(peeled)):
        (peeled.waiting if form.queued else peeled.stamps).append(instant)
    peeled.at = match.end()
    peeled.kernel |= form.kernel
    peeled.partial |= groups.get("partial") == "P"
    peeled.own |= form.own
    peeled.has_header = True
    peeled.last = form


def _take_prefixes(text: str, peeled: _Peeled) -> None:
    """Move `peeled` over all prefixes from where it stands."""
    for _ in range(_MAX_PREFIXES):
        found = _next_form(text, peeled)
        if found is None:
            return
        _learn(peeled, *found)
        if found[0].ends:
            return


def _take_component(text: str, peeled: _Peeled) -> None:
    """Learn COMP:func, which stays part of the message."""
    proven = peeled.last is not None and peeled.last.ends
    at = _after_blanks(text, peeled.at)
    match = (ANY_COMPONENT if proven else COMPONENT).match(text, at)
    if match is not None:
        peeled.at = at
        peeled.known.update(match.groupdict())


def _number(told: dict[str, str], name: str) -> int | None:
    return int(told[name]) if name in told else None


def _place(told: dict[str, str]) -> Place:
    if _OF_A_PLACE.isdisjoint(told):
        return NOWHERE
    return Place(
        host=told.get("host"),
        instance_id=told.get("instance_id"),
        container=told["container"].replace(" ", "/") if "container" in told else None,
        pid=_number(told, "pid"),
        rank=_number(told, "rank"),
        local_rank=_number(told, "local_rank"),
        device=_number(told, "device"),
        core=_number(told, "core"),
    )


def _times(peeled: _Peeled) -> tuple[Instant | None, Instant | None]:
    """The innermost stamp, and the outermost one that is proven to be UTC. Where the two agree, the innermost is proven, too: a
    driver takes a line at once, and zones differ by a quarter of an hour at least."""
    if peeled.waiting:
        peeled.stamps.append(peeled.waiting.pop(0))
    if not peeled.stamps:
        return None, None
    inner, outer = peeled.stamps[-1], next((stamp for stamp in peeled.stamps if stamp.clock is Clock.UTC), None)
    if outer and inner.clock is Clock.HOST_LOCAL and abs(outer.ns - inner.ns) <= _TAKEN_NS:
        inner = replace(inner, clock=Clock.UTC)
    return inner, outer


def _record(text: str, end: int, peeled: _Peeled) -> Record:
    _take_component(text, peeled)
    instant, outer = _times(peeled)
    known = peeled.known
    level = known.get("level", "")
    start = min(peeled.at, end)
    return Record(
        start=start,
        end=end,
        # headers are surer of the process than a message is
        place=_place(place_tokens(text[start:end], kernel=peeled.kernel) | known),
        instant=instant,
        outer=outer,
        channel=Channel.KERNEL if peeled.kernel else Channel.LOG,
        level=LEVELS.get(level, level),
        component=known.get("component", ""),
        function=known.get("function", ""),
        has_header=peeled.has_header,
    )


def _records(text: str, peeled: _Peeled) -> Iterator[Record]:
    """The records of a text whose first prefixes are peeled; further ones begin at headers in its middle."""
    search_from = peeled.at
    for _ in range(_MAX_RECORDS):
        boundary = BOUNDARY.search(text, search_from)
        if boundary is None:
            break
        yield _record(text, boundary.start(), peeled)
        peeled = _after(peeled, boundary.start())
        _take_prefixes(text, peeled)
        search_from = max(peeled.at, boundary.end())
    yield _record(text, len(text), peeled)


def cleaned(raw: str) -> str:
    """Without escape sequences, blanks and line end behind it, byte order mark and the NULs of a truncated file."""
    return without_escapes(raw).rstrip(" \t\r\n").lstrip("\ufeff\x00")


def without_escapes(raw: str) -> str:
    """Without what tells a terminal of colours and titles."""
    return _ANSI.sub("", raw) if "\x1b" in raw or "#033" in raw else raw


def blank_escapes(raw: str) -> str:
    """The same with blanks for them, so that what stands behind them stays where it is."""
    return _ANSI.sub(lambda found: " " * len(found[0]), raw) if "\x1b" in raw else raw


def _starts(text: str) -> bool:
    return _next_form(text, _Peeled()) is not None or may_be_envelope(text) or BOUNDARY.search(text) is not None


def _visible(raw: str) -> list[str]:
    """What a terminal shows of a line that was rewritten with carriage returns, and what has a header of its own."""
    text = cleaned(raw)
    if "\r" not in text:
        return [unfolded(text)]
    *hidden, last = [part for part in text.split("\r") if part] or [""]
    return [*(part for part in hidden if len(part) >= _SHORTEST_HEADER and _starts(part)), last]


def _inside(envelope: Envelope, outer: _Peeled) -> _Peeled:
    peeled = _after(outer, 0)
    peeled.known |= envelope.known
    peeled.stamps += [] if envelope.instant is None else [envelope.instant]
    peeled.kernel |= envelope.kernel
    peeled.partial |= envelope.partial
    peeled.has_header = True
    return peeled


def _parts(raw: str, outer: _Peeled, depth: int = 0) -> Iterator[tuple[str, _Peeled]]:
    """The visible parts of `raw`, taken out of their envelopes, each with its first prefixes peeled."""
    for part in _visible(raw):
        peeled = _Peeled(
            0, dict(outer.known), list(outer.stamps), [], outer.kernel, outer.partial, has_header=outer.has_header
        )
        _take_prefixes(part, peeled)
        rest = part[peeled.at :]
        envelope = unwrap(rest) if may_be_envelope(rest) and depth < _MAX_ENVELOPES else None
        if envelope is None:
            yield part, peeled
        else:
            yield from _parts(envelope.message, _inside(envelope, peeled), depth + 1)


def _moved(record: Record, by: int) -> Record:
    return replace(record, start=record.start + by, end=record.end + by) if by else record


def peel(raw: str) -> Line:
    """What `raw`, one line of a log without or with its line end, says and who said it. Total: any text gives at least
    one record; takes time linear in the text."""
    texts: list[str] = []
    records: list[Record] = []
    partial = False
    length = 0
    for text, peeled in _parts(raw, _Peeled()):
        records += (_moved(record, length) for record in _records(text, peeled))
        partial |= peeled.partial
        texts.append(text)
        length += len(text) + 1
    return Line("\n".join(texts), tuple(records), partial)


def times_of(raw: str) -> tuple[Instant | None, Instant | None]:
    """The times (`instant`, `outer`) of the first record of `peel(raw)`, which costs twice as much."""
    _, peeled = next(_parts(raw, _Peeled()))
    return _times(peeled)


def time_of(raw: str) -> Instant | None:
    """The time of the first record."""
    instant, outer = times_of(raw)
    return instant or outer


def has_header(raw: str) -> bool:
    """Whether `raw` may begin a new record; False only where every record of `peel(raw)` is a continuation."""
    return any(_starts(part) for part in _visible(raw))
