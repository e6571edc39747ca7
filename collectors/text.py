"""Logs of any producer: one scan for all patterns; prefixes, neighbours and places are looked at on candidates only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from neuron_doctor.collectors.base import HEAD, Collector, Input, UnreadableInput
from neuron_doctor.collectors.blocks import CONTEXT, Block, blocks
from neuron_doctor.collectors.cut_traceback import cut_traceback
from neuron_doctor.collectors.line_labels import line_labels
from neuron_doctor.collectors.lines import LONGEST, Gist, Lines, decoded, is_stamped, shape_of, stands_for_its_shape
from neuron_doctor.collectors.matches import (
    REACH_ASIDE,
    Candidate,
    Match,
    alike,
    fact_of,
    found_by,
    inherited_place,
    instant_of,
    match_of,
    place_of,
    read_of,
)
from neuron_doctor.collectors.oom_table import TABLE_ROW, memory_holder
from neuron_doctor.collectors.own_names import own_names
from neuron_doctor.collectors.papers import is_notes
from neuron_doctor.collectors.prefixes import Channel, peel, time_of
from neuron_doctor.collectors.process_table import process_table
from neuron_doctor.collectors.prompts import SHELL_LINE, prompted_hosts, shell_line
from neuron_doctor.collectors.quoted_code import is_line_of_code, quoted_code
from neuron_doctor.collectors.shown_listings import LISTING, may_list, shown_listings
from neuron_doctor.collectors.shown_zones import shown_zones
from neuron_doctor.collectors.snapshot import lines_of
from neuron_doctor.collectors.step_times import step_times
from neuron_doctor.collectors.storms import KEEP_TIMES, Steps, Storm
from neuron_doctor.engine.facts import NOWHERE, Fact, Gap, Instant, Place
from neuron_doctor.engine.matcher import Matcher
from neuron_doctor.engine.patterns import Pattern, PatternSet
from neuron_doctor.engine.regexes import regex

#: A time stamp is read from a line every so many bytes: reading one costs as much as scanning 50 KB.
SAMPLE = 1024 * 1024
#: What stands in every line of the kernel, whoever wrote it down: the word, or the time in the forms of dmesg.
#: Each begins with a character of its own, to which a search skips.
_MAYBE_KERNEL = (
    regex(rb"kern"),
    regex(rb"\[(?: {0,11}\d{1,9}\.\d{6}| {1,10}\+\d|[A-Z][a-z]{2} ?\d{1,2} \d\d:\d\d\]|[^\]\n]{1,60} \d{4}\])"),
    regex(rb",\d{6}[+-]\d\d:\d\d "),
)
#: So much is known at once of the shapes of lines.
_MOST_KNOWN = 8192
_NEWLINE = ord("\n")
#: How torchrun, and PyTorch itself, begin the lines of a rank: who has such lines is heard, whatever they say.
_OF_RANK = regex(rb"\[rank(\d{1,6})\]: ?")
#: How a terminal ends that was copied while it waited for a command, beside what is found among the lines.
_WAITING = (b"$", b"#", b"%", b"$ ")


class _Known(Struct, frozen=True):
    """What a pattern finds in every line of a shape: the `match` in one of them (None: the pattern does not match). What is
    `telling` tells the match in all of them, but for the time of those that are `timed`."""

    match: Match | None
    telling: bool = False
    timed: bool = False


_NOTHING = _Known(None)


class _Shapes(Struct):
    """What is known of the shapes of lines, whatever input they stand in: the ranks of a job write the same."""

    gists: dict[bytes, Gist] = field(default_factory=dict)
    known: dict[tuple[str, bytes], _Known] = field(default_factory=dict)


class _Scan(Struct):
    """One input being scanned."""

    inp: Input
    patterns: tuple[Pattern, ...]
    matcher: Matcher
    #: Finds listings, which nobody asks for further down.
    opening: Matcher
    shapes: _Shapes
    kernel: int = 0
    others: int = 0
    steps: Steps = field(default_factory=Steps)
    times: Steps = field(default_factory=lambda: Steps(KEEP_TIMES))
    storm: Storm = field(default_factory=Storm)
    #: Whether a listing of devices, or a command that makes one, was seen in what the head holds.
    listed: bool = False
    #: Places that lines state, over that of the input.
    places: dict[Place, Place] = field(default_factory=dict)


def text_collector(patterns: PatternSet, build: Callable[[Sequence[Pattern]], Matcher]) -> Collector:
    """The collector of everything that is text and nothing more special. It must be asked last. `build` makes the matcher of what
    it looks for: these patterns, and what it knows itself."""

    shapes = _Shapes()
    wanted = (*patterns.patterns, TABLE_ROW, SHELL_LINE)
    matcher, opening = build(wanted), build((LISTING,))

    def collect(inp: Input) -> Iterable[Fact]:
        return _collect(_Scan(inp, wanted, matcher, opening, shapes))

    title = "logs of the runtime, frameworks, launchers and the kernel"
    return Collector("log", title, is_text, collect, divisible=True)


def is_text(head: bytes, _name: str) -> bool:
    """No NUL bytes and few control characters, whatever the encoding of the rest."""
    if b"\0" in head:
        return False
    control = len(head) - len(head.translate(None, _CONTROL))
    return control * 50 <= len(head)


_CONTROL = bytes((*range(1, 8), *range(14, 27), *range(28, 32)))


#: So far down a session may begin with the date (bytes).
_OPENING = 2048


def _collect(scan: _Scan) -> Iterator[Fact]:
    notes = is_notes(scan.inp.head(), scan.inp.name)
    size = 0
    table = None
    if not scan.inp.extent.begin and not notes:
        yield from prompted_hosts(scan.inp)
        yield from line_labels(scan.inp)
        yield from own_names(scan.inp)
        scan.inp.ranks = frozenset(int(rank[1]) for rank in _OF_RANK.finditer(scan.inp.head()))
        if b"UTC" in (opening := scan.inp.head()[:_OPENING]):
            yield from shown_zones(scan.inp, lines_of(opening))
        table = process_table(scan.inp)
    for block in blocks(scan.inp.stream, scan.inp.extent):
        size += block.end - block.start
        _sample(scan, block)
        scan.listed = scan.listed or _lists(scan, block)
        for candidates in _said(scan, block):
            yield from _facts(scan, candidates)
        if table:
            yield from table.rows(block, scan.inp)
        scan.inp.records += block.lines()
        yield from _progress(scan, last=block.last)
        for timed in scan.times.finished(last=block.last):
            yield from step_times(timed, scan.inp)
        if block.last and scan.inp.extent.end is None:
            scan.inp.unended = block.data[-1:] not in (b"", b"\n")
            yield from cut_traceback(block, scan.inp)
            if block.data.endswith(_WAITING):
                begin, end = block.line_bounds(len(block.data) - 1)
                last = Candidate(Lines(block, scan.shapes.gists), begin, end, begin, SHELL_LINE)
                yield from shell_line(last, scan.inp)
    yield from _ended_storms(scan, None)
    if not notes and _may_list(scan):
        yield from shown_listings(scan.inp)
    if not size and not scan.inp.extent.begin:
        raise UnreadableInput("the file is empty")
    scan.inp.kind = "notes" if notes else "kernel" if scan.kernel > scan.others else "log"
    if interval := scan.inp.coverage.interval():
        scan.inp.first, scan.inp.last = interval


def _may_list(scan: _Scan) -> bool:
    """Whether this part of the source begins it, and may list something in the head: a shorter part has not seen all of that."""
    extent = scan.inp.extent
    return not extent.begin and (scan.listed or (extent.end is not None and extent.end < HEAD))


def _lists(scan: _Scan, block: Block) -> bool:
    """Whether a line of the head, as far as it stands in this block, may list something."""
    if scan.inp.extent.begin or block.base + block.start >= HEAD:
        return False
    lines = Lines(block, scan.shapes.gists)
    end = min(block.end, block.line_bounds(HEAD - 1 - block.base)[1] + 1)
    return any(
        may_list(candidate)
        for candidates in _candidates((LISTING,), scan.opening, lines, end)
        for candidate in candidates
    )


# --- candidates and their lines ------------------------------------------------------------------------------------


def _said(scan: _Scan, block: Block) -> Iterator[list[Candidate]]:
    """The candidates of a block but those in code that it quotes."""
    code = quoted_code(block, scan.inp.name)
    for candidates in _candidates(scan.patterns, scan.matcher, Lines(block, scan.shapes.gists), block.end):
        if not (code and is_line_of_code(block, code, candidates[0].begin)):
            yield candidates


def _candidates(patterns: Sequence[Pattern], matcher: Matcher, lines: Lines, until: int) -> Iterator[list[Candidate]]:
    """The candidates of a block up to the index `until`, line by line: of each pattern one, in the order of the patterns."""
    block = lines.block
    begin = end = -1
    found: dict[int, int] = {}
    for ended, index in sorted(matcher.find(block.data[block.start : until])):
        at = block.start + max(ended - 1, 0)
        if at > block.start and block.data[at] == _NEWLINE:
            at -= 1
        if at > end:
            if found:
                yield [Candidate(lines, begin, end, found[one], patterns[one]) for one in sorted(found)]
                found = {}
            begin, end = block.line_bounds(at)
        found.setdefault(index, at)
    if found:
        yield [Candidate(lines, begin, end, found[one], patterns[one]) for one in sorted(found)]


def _facts(scan: _Scan, candidates: Sequence[Candidate]) -> Iterator[Fact]:
    """What the candidates of one line say, without what storms and signs of progress hold back."""
    shape = _shape(candidates[0])
    for candidate in candidates:
        pattern = candidate.pattern
        if pattern.emits == "progress":
            scan.steps.add(candidate)
            continue
        if pattern.emits == "step-time":
            scan.times.add(candidate)
            continue
        if pattern is TABLE_ROW:
            yield from memory_holder(candidate, scan.inp)
            continue
        if pattern is SHELL_LINE:
            yield from shell_line(candidate, scan.inp)
            continue
        place, match = _where(scan, candidate, shape)
        if place is None:
            continue
        if scan.storm.is_over(candidate.offset):
            yield from _ended_storms(scan, candidate.offset)
        if match and pattern.emits == "log-loss" and (instant := instant_of(candidate, match)):
            scan.inp.gaps.append(Gap(instant, instant))
        if scan.storm.keeps(candidate, place) and (match := match or _match(scan, candidate, shape)):
            yield fact_of(candidate, match, place, scan.inp)


def _ended_storms(scan: _Scan, offset: int | None) -> Iterator[Fact]:
    """The last records of the storms in the stretch before that of `offset`."""
    for candidate, place, repeats in scan.storm.finished(offset):
        if match := _match(scan, candidate, _shape(candidate)):
            yield replace(fact_of(candidate, match, place, scan.inp), repeats=repeats)


def _progress(scan: _Scan, *, last: bool) -> Iterator[Fact]:
    """The last sign of progress at each place, for every finished stretch of the source."""
    for candidates in scan.steps.finished(last=last):
        places: set[Place] = set()
        for candidate in reversed(candidates):
            shape = _shape(candidate)
            place, match = _where(scan, candidate, shape)
            if place is None or place in places:
                continue
            places.add(place)
            if match := match or _match(scan, candidate, shape):
                yield fact_of(candidate, match, place, scan.inp)


def _shape(candidate: Candidate) -> bytes | None:
    """The shape of the line, if it is short enough to be remembered."""
    if candidate.end - candidate.begin > LONGEST:
        return None
    return shape_of(candidate.lines.block.data[candidate.begin : candidate.end])


def _where(scan: _Scan, candidate: Candidate, shape: bytes | None) -> tuple[Place | None, Match | None]:
    """The place of the fact that a candidate makes, if it makes one; and the match, where that had to be looked for. What
    other lines of this shape said holds for this one: a storm is lines of few shapes."""
    pattern = candidate.pattern
    known = scan.shapes.known.get((pattern.id, shape)) if shape is not None else None
    if known is not None:
        match = known.match
        if match is None:
            return None, None
        inherited = NOWHERE if match.record.has_header else inherited_place(candidate)
        if inherited is NOWHERE:
            return _over_input(scan, match.place), None
        return match.place.over(inherited).over(scan.inp.place), None
    found = found_by(candidate)
    match = read_of(candidate, found, scan.inp) if found else None
    if shape is not None and (match or not found) and _is_lasting(candidate):
        if len(scan.shapes.known) >= _MOST_KNOWN:
            scan.shapes.known.clear()
        scan.shapes.known[pattern.id, shape] = _known(candidate, match) if match else _NOTHING
    return (place_of(candidate, match, scan.inp) if match else None), match


def _over_input(scan: _Scan, stated: Place) -> Place:
    place = scan.places.get(stated)
    if place is None:
        if len(scan.places) >= _MOST_KNOWN:
            scan.places.clear()
        place = scan.places[stated] = stated.over(scan.inp.place)
    return place


def _match(scan: _Scan, candidate: Candidate, shape: bytes | None) -> Match | None:
    """What a candidate says, told by a line of the same shape where that tells it."""
    known = scan.shapes.known.get((candidate.pattern.id, shape)) if shape is not None else None
    if known is None or known.match is None or not known.telling:
        return match_of(candidate, scan.inp)
    return alike(known.match, candidate) if known.timed else known.match


def _known(candidate: Candidate, match: Match) -> _Known:
    begin, end = candidate.begin, candidate.end
    timed = is_stamped(candidate.lines.block.data[begin:end])
    single = len(candidate.lines.peeled(begin, end).records) == 1
    return _Known(match, telling=single or not timed, timed=timed)


def _is_lasting(candidate: Candidate) -> bool:
    """Whether what is found out about a line holds for all of its shape: it depends on its own text, and on nothing of the
    lines around it but their place."""
    pattern = candidate.pattern
    if pattern.anchor or pattern.emits == "log-loss":
        return False
    line = candidate.lines.peeled(candidate.begin, candidate.end)
    return not line.partial and stands_for_its_shape(line, candidate.lines.block.data[candidate.begin : candidate.end])


# --- coverage ------------------------------------------------------------------------------------------------------


def _sample(scan: _Scan, block: Block) -> None:
    """Time stamps of some lines: the first ones, one every MiB, the last ones. Which lines depends on their offsets
    alone, so that the parts of a file add up to the whole."""
    extent, coverage = scan.inp.extent, scan.inp.coverage
    if block.line == 1:
        _weigh_channels(scan, block)
    if block.base + block.start == 0:
        coverage.add(_first_time(block, forward=True))
    ahead = -(block.base + block.start) % SAMPLE if block.base + block.start else SAMPLE
    for at in range(block.start + ahead, block.end, SAMPLE):
        coverage.add(_times_of_line(block, at))
    if block.last and extent.end is None:
        coverage.add(_first_time(block, forward=False))


def _first_time(block: Block, *, forward: bool, most: int = 50) -> list[Instant]:
    at = block.start if forward else block.end - 1
    least = 0 if forward else max(0, block.end - CONTEXT)  # what every block holds, wherever the file is cut
    for _ in range(most):
        if not least <= at < block.end:
            break
        begin, end = block.line_bounds(at)
        times = _times_of_line(block, at)
        if times:
            return times
        at = end + 1 if forward else begin - 1
    return []


def _times_of_line(block: Block, at: int) -> list[Instant]:
    begin, end = block.line_bounds(at)
    instant = time_of(decoded(block.data[begin:end][:REACH_ASIDE]))
    return [instant] if instant else []


def _weigh_channels(scan: _Scan, block: Block) -> None:
    """Whose lines the first ones are: the kernel's or others'."""
    first = [raw for raw in block.data[block.start : block.end].split(b"\n", 50)[:50] if raw.strip()]
    text = b"\n".join(first)
    maybe = {text.count(b"\n", 0, match.start()) for marks in _MAYBE_KERNEL for match in marks.finditer(text)}
    scan.others = len(first) - len(maybe)
    for number in sorted(maybe):
        if 2 * max(scan.kernel, scan.others) > len(first):
            return  # the majority, whatever the others are
        kernel = is_of_kernel(first[number][:REACH_ASIDE])
        scan.kernel += kernel
        scan.others += not kernel


def is_of_kernel(raw: bytes) -> bool:
    """Whether a line is one of the kernel's."""
    return any(marks.search(raw) for marks in _MAYBE_KERNEL) and peel(decoded(raw)).records[0].channel is Channel.KERNEL
