"""Logs of any producer: one scan for all patterns; prefixes, neighbours and places are looked at on candidates only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors.base import HEAD, Collector, Input, UnreadableInput
from neuron_doctor.collectors.blocks import CONTEXT, Block, blocks
from neuron_doctor.collectors.group_lists import groups_text
from neuron_doctor.collectors.masking import MASK, masked, without_secrets
from neuron_doctor.collectors.nrt import CODES, SYMBOLS
from neuron_doctor.collectors.papers import is_notes
from neuron_doctor.collectors.prefixes import Channel, Line, Record, peel
from neuron_doctor.collectors.storms import Steps, Storm
from neuron_doctor.engine.facts import NOWHERE, Fact, Gap, Instant, Place, Span, Value, span_of
from neuron_doctor.engine.matcher import Matcher
from neuron_doctor.engine.patterns import Pattern, PatternSet, compiled, read_captures
from neuron_doctor.engine.regexes import regex

#: A pattern with an anchor sees so many lines before and after the anchor's line.
LINES_BEFORE, LINES_AFTER = 16, 8
#: A line without a header belongs to one at most so many lines above it.
REACH_BACK = 12
#: Of a longer line, only this much on either side of a match is looked at (bytes).
REACH_ASIDE = 8 * 1024
#: A time stamp is read from a line every so many bytes: reading one costs as much as scanning 50 KB.
SAMPLE = 1024 * 1024
#: What stands in every line of the kernel, whoever wrote it down: the word, or the time in the forms of dmesg.
_MAYBE_KERNEL = regex(
    rb"kern|\[ {0,11}\d{1,9}\.\d{6}|\[ {1,10}\+\d|\[[A-Z][a-z]{2} ?\d{1,2} \d\d:\d\d\]"
    rb"|\[[^\]\n]{1,60} \d{4}\]|,\d{6}[+-]\d\d:\d\d "
)
#: A message that ends so goes on in the lines below it.
_UNFINISHED = regex(r"(?:[:=(,\\]|\bmodel|\bfor model)\s*$|^\S+:\S+\s*$")


class _Scan(Struct):
    """One input being scanned."""

    inp: Input
    patterns: tuple[Pattern, ...]
    matcher: Matcher
    kernel: int = 0
    others: int = 0
    steps: Steps = field(default_factory=Steps)


def text_collector(patterns: PatternSet, matcher: Matcher) -> Collector:
    """The collector of everything that is text and nothing more special. It must be asked last."""

    def collect(inp: Input) -> Iterable[Fact]:
        return _collect(_Scan(inp, patterns.patterns, matcher))

    title = "logs of the runtime, frameworks, launchers and the kernel"
    return Collector("log", title, is_text, collect, divisible=True)


def is_text(head: bytes, _name: str) -> bool:
    """No NUL bytes and few control characters, whatever the encoding of the rest."""
    if b"\0" in head:
        return False
    control = len(head) - len(head.translate(None, _CONTROL))
    return control * 50 <= len(head)


_CONTROL = bytes((*range(1, 8), *range(14, 27), *range(28, 32)))


def _collect(scan: _Scan) -> Iterator[Fact]:
    storm = Storm()
    notes = is_notes(scan.inp.stream.peek(HEAD)[:HEAD])
    size = 0
    for block in blocks(scan.inp.stream, scan.inp.extent):
        size += block.end - block.start
        _sample(scan, block)
        for fact, pattern in _facts(scan, block):
            if fact.kind == "log-loss" and fact.instant:
                scan.inp.gaps.append(Gap(fact.instant, fact.instant))
            yield from storm.offer(fact, pattern)
        scan.inp.records += block.lines()
        yield from _progress(scan, last=block.last)
    yield from storm.flush()
    if not size and not scan.inp.extent.begin:
        raise UnreadableInput("the file is empty")
    scan.inp.kind = "notes" if notes else "kernel" if scan.kernel > scan.others else "log"
    if interval := scan.inp.coverage.interval():
        scan.inp.first, scan.inp.last = interval


# --- candidates and their lines ------------------------------------------------------------------------------------


def _facts(scan: _Scan, block: Block) -> Iterator[tuple[Fact, Pattern]]:
    """The facts of one block, line by line."""
    wanted: dict[tuple[int, int], dict[int, int]] = {}
    for end, index in scan.matcher.find(block.data[block.start : block.end]):
        at = block.start + max(end - 1, 0)
        bounds = block.line_bounds(at - 1 if block.data[at : at + 1] == b"\n" and at > block.start else at)
        wanted.setdefault(bounds, {}).setdefault(index, at)
    for (begin, end), indexes in sorted(wanted.items()):
        messages = {index: at for index, at in indexes.items() if scan.patterns[index].emits != "progress"}
        for index in indexes.keys() - messages.keys():
            scan.steps.add(index, block, begin, end)
        if messages:
            yield from _line_facts(scan, block, begin, end, messages)


def _progress(scan: _Scan, *, last: bool) -> Iterator[Fact]:
    """The last sign of progress at each place, for every finished stretch of the source."""
    for index, candidates in scan.steps.finished(last=last):
        places: set[Place] = set()
        for block, begin, end in reversed(candidates):
            for fact, _ in _line_facts(scan, block, begin, end, {index: begin}):
                if fact.place not in places:
                    places.add(fact.place)
                    yield fact


def _line_facts(
    scan: _Scan, block: Block, begin: int, end: int, indexes: Mapping[int, int]
) -> Iterator[tuple[Fact, Pattern]]:
    if end - begin > 2 * REACH_ASIDE:
        near = next(iter(indexes.values()))
        begin, end = max(begin, near - REACH_ASIDE), min(end, near + REACH_ASIDE)
    raw = block.data[begin:end]
    line = _whole(block, peel(_decode(raw)), end)
    window: _Window | None = None
    for index in sorted(indexes):
        pattern = scan.patterns[index]
        if pattern.anchor and window is None:
            window = _Window(block, begin, end)
        found = window.find(pattern) if pattern.anchor and window else _in_line(line, pattern)
        if found is not None:
            fact = _fact(scan, block, (begin, raw), pattern, found)
            if fact is not None:
                yield fact, pattern


def _decode(raw: bytes) -> str:
    """Text without the carriage return of a line that ends as on Windows."""
    return raw.decode("utf-8", "replace").rstrip("\r")


def _whole(block: Block, line: Line, end: int) -> Line:
    """A line that its container runtime cut (CRI `P`), with the parts that follow."""
    text = line.text
    while line.partial and end < len(block.data):
        begin, end = block.line_bounds(end + 1)
        if begin >= end:
            break
        rest = peel(_decode(block.data[begin:end]))
        text += rest.text[rest.records[0].start :]
        line = replace(line, text=text, partial=rest.partial, records=(replace(line.records[0], end=len(text)),))
    return line


class _Found(Struct, frozen=True):
    """A match, and the record that it stands in."""

    groups: Mapping[str, str | None]
    text: str
    record: Record


def _in_line(line: Line, pattern: Pattern) -> _Found | None:
    regex = pattern.compiled()
    for record in line.records:
        if _channel_fits(pattern, record) and (match := regex.search(line.text[record.start : record.end])):
            return _Found(match.groupdict(), match[0], record)
    match = regex.search(line.text)
    if match is None:
        return None
    record = next((r for r in line.records if r.start <= match.start() < r.end), line.records[-1])
    return _Found(match.groupdict(), match[0], record) if _channel_fits(pattern, record) else None


def _channel_fits(pattern: Pattern, record: Record) -> bool:
    return pattern.channel in ("any", record.channel.value)


class _Window:
    """The lines around an anchor's line, which are peeled once for all patterns that have it."""

    def __init__(self, block: Block, begin: int, end: int) -> None:
        self._bounds = block, begin, end
        self._here = peel(_decode(block.data[begin:end]))
        self._anchor = _message(self._here)
        self._lines = self._anchor.split("\n")

    @cached_property
    def _text(self) -> tuple[str, int]:
        """The messages of all lines, and where the anchor's begins."""
        block, begin, end = self._bounds
        before = [_message(line) for line in _lines_before(block, begin, LINES_BEFORE)][::-1]
        after = [_message(line) for line in _lines_after(block, end, LINES_AFTER)]
        return "\n".join([*before, self._anchor, *after]), sum(len(part) + 1 for part in before)

    def find(self, pattern: Pattern) -> _Found | None:
        """A match over the neighbours of the anchor's line that takes in that line."""
        search = compiled(pattern.search).search
        if not any(map(search, self._lines)):  # a candidate only: spare its neighbours
            return None
        text, begin = self._text
        for match in pattern.compiled().finditer(text):
            if match.start() <= begin + len(self._anchor) and match.end() > begin:
                return _Found(match.groupdict(), self._anchor, self._here.records[-1])
        return None


def _message(line: Line) -> str:
    return "".join(line.text[record.start : record.end] for record in line.records)


def _lines_before(block: Block, begin: int, most: int) -> Iterator[Line]:
    """The lines above the one at `begin`, the nearest first, as far as CONTEXT reaches."""
    reach = max(0, begin - CONTEXT)
    for _ in range(most):
        if begin <= reach:
            return
        begin, end = block.line_bounds(begin - 1)
        if begin < reach:
            return
        yield peel(_decode(block.data[begin:end][:REACH_ASIDE]))


def _lines_after(block: Block, end: int, most: int) -> Iterator[Line]:
    """The lines below the one that ends at `end`, the nearest first, as far as CONTEXT reaches."""
    reach = end + CONTEXT
    for _ in range(most):
        if end + 1 >= len(block.data):
            return
        begin, end = block.line_bounds(end + 1)
        if end > reach:
            return
        yield peel(_decode(block.data[begin:end]))


# --- from a match to a fact ----------------------------------------------------------------------------------------


def _fact(scan: _Scan, block: Block, where: tuple[int, bytes], pattern: Pattern, found: _Found) -> Fact | None:
    begin, raw = where
    try:
        data, place = read_captures(pattern, found.groups)
        data = _completed(pattern.emits, data)
    except (ValueError, KeyError):
        scan.inp.problem(
            f"a record matches {pattern.id} with a value that does not read as its type", block.line_number(begin)
        )
        return None
    if pattern.emits == "hit":
        data["pattern"] = pattern.id
    record = found.record
    inherited, instant = _inherited(block, begin, record)
    hidden = found.groups.get("value") if data.get("value") == MASK else None
    return Fact(
        kind=pattern.emits,
        data=data,
        place=place.over(record.place).over(inherited).over(scan.inp.place),
        span=_span(scan.inp.path, block, begin, raw, found.text, hidden or ""),
        source=scan.inp.source_id or scan.inp.path,
        instant=record.instant or instant or record.outer,
    )


def _span(path: str, block: Block, begin: int, raw: bytes, match: str, hidden: str) -> Span:
    """The line as evidence; what is secret in it does not reach the quotation."""
    column = max(_decode(raw).find(match), 0) + 1
    span = span_of(path, raw.rstrip(b"\r"), block.base + begin, block.line_number(begin), column)
    text = span.text.replace(hidden, MASK) if hidden else span.text
    return replace(span, text=without_secrets(text))


def _completed(kind: str, data: dict[str, Value]) -> dict[str, Value]:
    """What a fact of this kind has beyond its captures: the other name of a status, the mask of a secret, ranks in the
    form in which the engine reads them."""
    if kind == "status":
        code = int(str(data["code"])) if "code" in data else CODES[str(data["symbol"])]
        return {"api": "", **data, "code": code, "symbol": SYMBOLS.get(code, "")}
    if kind == "env":
        return {**data, "value": masked(str(data["name"]), str(data.get("value", "")))}
    if kind == "process-groups":
        return {**data, "groups": groups_text(str(data["groups"]))}
    return data


def _inherited(block: Block, begin: int, record: Record) -> tuple[Place, Instant | None]:
    """What a continuation line has from the header above it: always the time, and the place where that header's
    message was not finished or the line is indented."""
    if record.has_header and record.instant:
        return NOWHERE, None
    indented = block.data[begin : begin + 1] in (b" ", b"\t")
    tokens = NOWHERE
    for line in _lines_before(block, begin, REACH_BACK):
        head = line.records[-1]
        tokens = tokens.over(head.place)
        if head.has_header and head.instant:
            message = line.text[head.start : head.end]
            continued = not record.has_header and (indented or _UNFINISHED.search(message))
            return (tokens if continued else NOWHERE), replace(
                head.instant, uncertainty_ns=max(head.instant.uncertainty_ns, 10**9)
            )
    return NOWHERE, None


# --- coverage ------------------------------------------------------------------------------------------------------


def _sample(scan: _Scan, block: Block) -> None:
    """Time stamps of some lines: the first ones, one every MiB, the last ones. Which lines depends on their offsets
    alone, so that the parts of a file add up to the whole."""
    extent, coverage = scan.inp.extent, scan.inp.coverage
    if block.line == 1:
        _weigh_channels(scan, block)
    if block.base + block.start == 0:
        coverage.add(_first_time(block, forward=True))
    start = block.start + -(block.base + block.start) % SAMPLE
    for at in range(start, block.end, SAMPLE):
        coverage.add(_times_of_line(block, at))
    if block.last and extent.end is None:
        coverage.add(_first_time(block, forward=False))


def _first_time(block: Block, *, forward: bool, most: int = 50) -> list[Instant]:
    at = block.start if forward else block.end - 1
    for _ in range(most):
        if not 0 <= at < block.end:
            break
        begin, end = block.line_bounds(at)
        times = _times_of_line(block, at)
        if times:
            return times
        at = end + 1 if forward else begin - 1
    return []


def _times_of_line(block: Block, at: int) -> list[Instant]:
    begin, end = block.line_bounds(at)
    record = peel(_decode(block.data[begin:end][:REACH_ASIDE])).records[0]
    instant = record.instant or record.outer
    return [instant] if instant else []


def _weigh_channels(scan: _Scan, block: Block) -> None:
    """Whose lines the first ones are: the kernel's or others'."""
    first = [raw for raw in block.data[block.start : block.end].split(b"\n", 50)[:50] if raw.strip()]
    for raw in first:
        if 2 * max(scan.kernel, scan.others) > len(first):
            return  # the majority, whatever the others are
        kernel = is_of_kernel(raw[:REACH_ASIDE])
        scan.kernel += kernel
        scan.others += not kernel


def is_of_kernel(raw: bytes) -> bool:
    """Whether a line is one of the kernel's."""
    return bool(_MAYBE_KERNEL.search(raw)) and peel(_decode(raw)).records[0].channel is Channel.KERNEL
