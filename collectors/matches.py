"""From a candidate to a fact: whether its pattern matches the line, or the lines around it, and where and when that was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.cluster_daemons import instances_text
from neuron_doctor.collectors.group_lists import groups_text
from neuron_doctor.collectors.lines import Gist, Lines, decoded, timeless
from neuron_doctor.collectors.masking import MASK, masked, without_secrets
from neuron_doctor.collectors.nrt import CODES, SYMBOLS
from neuron_doctor.collectors.prefixes import Channel, Record, cleaned, times_of
from neuron_doctor.collectors.timestamps import time_of_day
from neuron_doctor.collectors.windows import around, near_texts, windows
from neuron_doctor.engine.facts import NOWHERE, Fact, Instant, Place, Span, Value, span_of
from neuron_doctor.engine.line_ends import most_line_ends
from neuron_doctor.engine.loosening import required_choices, required_words
from neuron_doctor.engine.patterns import Pattern, read_captures
from neuron_doctor.engine.regexes import compiled, regex

#: A line without a header belongs to one at most so many lines above it.
REACH_BACK = 12
#: Of a longer line, only this much on either side of a match is looked at (bytes).
REACH_ASIDE = 8 * 1024
#: mpirun labels every line of its processes, so one without a label below them is its own.
_OF_MPIRUN = regex(rb"\[[^\s\]]{1,400}\]<std(?:out|err|diag)>:")
#: In so much of a line its time stands, if it has one (bytes).
_BEGINNING = 256


class Candidate(Struct, frozen=True):
    """A line that a pattern may match: where it stands in its block, and the byte at which the pattern's event was."""

    lines: Lines
    begin: int
    end: int
    at: int
    pattern: Pattern

    @property
    def offset(self) -> int:
        """Where the line begins in the stream."""
        return self.lines.block.base + self.begin

    @property
    def reach(self) -> tuple[int, int]:
        """The bounds of what is looked at: the line, or what is around the event in a long one."""
        if self.end - self.begin <= 2 * REACH_ASIDE:
            return self.begin, self.end
        return max(self.begin, self.at - REACH_ASIDE), min(self.end, self.at + REACH_ASIDE)


class Match(Struct, frozen=True):
    """What a record says: the typed captures, the place that it states itself, the text that matched, and what of that must
    not be shown."""

    record: Record
    data: dict[str, Value]
    place: Place
    text: str
    hidden: str


class Found(Struct, frozen=True):
    """A match, and the record that it stands in."""

    groups: Mapping[str, str | None]
    text: str
    record: Record


def match_of(candidate: Candidate, inp: Input) -> Match | None:
    """What the candidate says, if its pattern matches after all and all values read as their types."""
    found = found_by(candidate)
    return read_of(candidate, found, inp) if found else None


def found_by(candidate: Candidate) -> Found | None:
    """Where the pattern matches."""
    begin, end = candidate.reach
    find = _in_window if candidate.pattern.anchor else _in_line
    return find(candidate.lines, begin, end, candidate.pattern)


def alike(match: Match, candidate: Candidate) -> Match:
    """What a candidate says whose line differs from that of a match of the same pattern in nothing but its time, where the
    line is one record."""
    begin, end = candidate.reach
    instant, outer = times_of(decoded(candidate.lines.block.data[begin:end]))
    return replace(match, record=replace(match.record, instant=instant, outer=outer))


def read_of(candidate: Candidate, found: Found, inp: Input) -> Match | None:
    """What was found, with its types; a value that is none of its type is a problem of the input."""
    pattern = candidate.pattern
    try:
        data, place = read_captures(pattern, found.groups)
        data = _completed(pattern.emits, data)
    except (ValueError, KeyError):
        inp.problem(
            f"a record matches {pattern.id} with a value that does not read as its type",
            candidate.lines.block.line_number(candidate.reach[0]),
        )
        return None
    if pattern.emits == "hit":
        data["pattern"] = pattern.id
    hidden = found.groups.get("value") if data.get("value") == MASK else None
    return Match(found.record, data, place.over(found.record.place), found.text, hidden or "")


def fact_of(candidate: Candidate, match: Match, place: Place, inp: Input) -> Fact:
    """The fact that a match at a place makes."""
    return Fact(
        kind=candidate.pattern.emits,
        data=match.data,
        place=place,
        span=_span(candidate, match, inp.path),
        source=inp.source_id or inp.path,
        instant=instant_of(candidate, match),
    )


def place_of(candidate: Candidate, match: Match, inp: Input) -> Place:
    """What the record says of its place, completed from the lines above and from the path."""
    inherited = NOWHERE if match.record.has_header else inherited_place(candidate)
    return match.place.over(inherited).over(inp.place)


def inherited_place(candidate: Candidate) -> Place:
    """The place that a line without a header has from the one above that has one: where that header's message was not
    finished or the line is indented, and its label is not one that all lines of a process have."""
    lines = candidate.lines
    begin, _ = candidate.reach
    above: list[Gist] = []
    for bounds in lines.above(begin, REACH_BACK):
        gist = lines.gist(*bounds)
        above.append(gist)
        if gist.heads:
            if _OF_MPIRUN.search(lines.block.data, bounds[0], min(bounds[1], bounds[0] + 2 * _BEGINNING)):
                return NOWHERE
            indented = lines.block.data[begin : begin + 1] in (b" ", b"\t")
            return reduce(Place.over, (one.place for one in above)) if indented or gist.unfinished else NOWHERE
    return NOWHERE


def instant_of(candidate: Candidate, match: Match) -> Instant | None:
    """When it was written: the record's own time, or that of the header above it."""
    if match.record.instant:
        return match.record.instant
    lines = candidate.lines
    for begin, end in lines.above(candidate.reach[0], REACH_BACK):
        if lines.gist(begin, end).heads:
            above = lines.peeled(begin, end).records[-1].instant
            return above and (
                _by_clock(candidate, above) or replace(above, uncertainty_ns=max(above.uncertainty_ns, 10**9))
            )
    return match.record.outer


def _by_clock(candidate: Candidate, above: Instant) -> Instant | None:
    """By the time without a date that the line may begin with."""
    begin, end = candidate.reach
    return time_of_day(cleaned(decoded(candidate.lines.block.data[begin : min(end, begin + _BEGINNING)])), above)


def _span(candidate: Candidate, match: Match, path: str) -> Span:
    """The line as evidence; what is secret in it does not reach the quotation."""
    block = candidate.lines.block
    begin, end = candidate.reach
    raw = block.data[begin:end]
    column = max(decoded(raw).find(match.text), 0) + 1
    span = span_of(path, raw.rstrip(b"\r"), block.base + begin, block.line_number(begin), column)
    text = span.text.replace(match.hidden, MASK) if match.hidden else span.text
    return replace(span, text=without_secrets(text))


def _completed(kind: str, data: dict[str, Value]) -> dict[str, Value]:
    """What a fact of this kind has beyond its captures: the other name of a status, the mask of a secret, ranks in the
    form in which the engine reads them."""
    if kind == "status":
        code = int(str(data["code"])) if "code" in data else CODES[str(data["symbol"])]
        return {"api": "", **data, "code": code, "symbol": SYMBOLS.get(code, "")}
    if kind == "env":
        return {**data, "value": masked(str(data["name"]), str(data.get("value", "")))}
    if kind == "instance-change":
        return {**data, "instances": instances_text(str(data["instances"]))}
    if kind == "process-groups":
        return {**data, "groups": groups_text(str(data["groups"]))}
    return data


# --- does the pattern match ----------------------------------------------------------------------------------------


def _in_line(lines: Lines, begin: int, end: int, pattern: Pattern) -> Found | None:
    regex = pattern.compiled()
    line = lines.whole(begin, end)
    for record in line.records:
        if _channel_fits(pattern, record.channel) and (match := regex.search(line.text[record.start : record.end])):
            return Found(match.groupdict(), match[0], record)
    match = regex.search(timeless(line.text))
    if match is None:
        return None
    record = next((r for r in line.records if r.start <= match.start() < r.end), line.records[-1])
    return Found(match.groupdict(), match[0], record) if _channel_fits(pattern, record.channel) else None


def _channel_fits(pattern: Pattern, channel: Channel) -> bool:
    return pattern.channel in ("any", channel.value)


def _in_window(lines: Lines, begin: int, end: int, pattern: Pattern) -> Found | None:
    """A match over the neighbours of the anchor's line that takes in that line."""
    gist = lines.gist(begin, end)
    anchor = gist.message
    search, parts = compiled(pattern.search).search, anchor.split("\n")
    found = [number for number, part in enumerate(parts) if search(part)]
    if not found or not _channel_fits(pattern, gist.channel):  # spare its neighbours
        return None
    if pattern.above and not any(_fits_above(lines, begin, parts[:number], pattern.above) for number in found):
        return None
    if _words_around(pattern.search, pattern.regex) and not _has_words(
        pattern, around(lines, begin, end)
    ):  # without peeling all
        return None
    regex = pattern.compiled()
    near = near_texts(lines, begin, end, most_line_ends(pattern.regex))
    if near and not any(_has_words(pattern, text) and regex.search(text) for text in near):
        return None
    for window in windows(lines, begin, end):
        if not _has_words(pattern, window.text):
            continue
        at = window.at
        for match in regex.finditer(window.text):
            if match.start() <= at + len(window.anchor) and match.end() > at:
                return Found(match.groupdict(), anchor, lines.peeled(begin, end).records[-1])
    return None


def _has_words(pattern: Pattern, text: str) -> bool:
    """Whether the words are there without which the pattern cannot match; what is not ASCII may have them in other letters."""
    if not text.isascii():
        return True
    lowered = text.lower()
    return all(any(word in lowered for word in choice) for choice in _words_around(pattern.search, pattern.regex))


@lru_cache(maxsize=1024)
def _words_around(anchor: str, regex: str) -> tuple[tuple[str, ...], ...]:
    """What a pattern needs beside its anchor, which is there: one word of each choice."""
    return required_choices(regex, required_words(anchor))


def _fits_above(lines: Lines, begin: int, parts: Sequence[str], above: str) -> bool:
    """Whether the line above, if there is one, is what the pattern says: one line to look at instead of all neighbours. In a
    message of several lines (`parts` are those above) it is one of these."""
    if parts:
        return bool(compiled(above).search(parts[-1]))
    messages = (lines.gist(*bounds).message for bounds in lines.above(begin, 1))
    return all(compiled(above).search(message.rpartition("\n")[2]) for message in messages)
