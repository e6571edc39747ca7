"""A small text that was captured once (output of a command, a file of /proc): its lines, and facts that stand on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.masking import without_secrets
from neuron_doctor.collectors.prefixes import without_escapes
from neuron_doctor.collectors.shell_prompts import Prompt, prompt_of
from neuron_doctor.collectors.shown_machines import Shows, shown_by
from neuron_doctor.engine.facts import NOWHERE, Fact, Instant, Place, Span, Value, span_of
from neuron_doctor.engine.regexes import regex

#: A snapshot is small; of anything longer only this much is read (bytes).
LIMIT = 16 * 1024 * 1024

#: Enough of a head to see its first lines, so that most inputs are refused cheaply (bytes).
_OPENING = 2048

#: A `set -x` echo, the prompt of a root without a name, or a heading of a collecting script, with the command that follows it.
_MARKED = regex(r"\s{0,4}(?:[#+]|={2,}(?!>)|-{3,}|#{2,}|\*{2,})[ \t]+(?P<command>[A-Za-z/_.][^\n]*)$")
_ECHOED, _BEGINS_COMMAND = regex(r"\s{0,4}\+"), regex(r"[A-Za-z/_.]")
#: So many blanks may stand before a prompt.
_INDENT = 4


#: What `date` prints (also above the long table of squeue), before the output of the command that matters.
_DATE = regex(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:[AP]M )?(?:[A-Z]{2,5} )?\d{4}\s*$")


class Line(Struct, frozen=True):
    """One line: `text` without its end, the `raw` bytes with it, byte `offset`, `number` from 1, the host that the
    command above it shows, and the one on which that was called, by its prompt."""

    text: str
    raw: bytes
    offset: int
    number: int
    host: str | None = None
    called_on: str | None = None


def read_bytes(inp: Input) -> bytes:
    """The input, at most LIMIT bytes of it (a longer one is a problem, not an error)."""
    data = inp.stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        inp.problem(f"longer than {LIMIT} bytes: the rest was not read")
    return data[:LIMIT]


def read_lines(inp: Input) -> list[Line]:
    """All lines of the input (see read_bytes)."""
    lines = list(lines_of(read_bytes(inp)))
    inp.records = sum(1 for line in lines if line.text.strip())
    return lines


def from_lines(parse: Callable[[Input, Sequence[Line]], Iterator[Fact]]) -> Callable[[Input], Iterator[Fact]]:
    """The `collect` of a collector that reads all lines before it says anything."""
    return lambda inp: parse(inp, read_lines(inp))


def lines_of(data: bytes) -> Iterator[Line]:
    """The lines of a text that starts at offset 0; line ends are LF, CR LF or CR."""
    offset, host, machine = 0, None, None
    for number, raw in enumerate(data.splitlines(keepends=True), 1):
        text = without_escapes(raw.decode("utf-8", "replace")).removeprefix("\ufeff").rstrip("\r\n")
        if (prompt := _prompt(text)) is not None:
            machine = prompt.host or None
            host = shown_by(prompt.command, prompt.host).host or None
        elif (marked := _MARKED.match(text)) is not None:
            shown = shown_by(marked["command"], machine or "")
            host = shown.host or (None if shown.what is Shows.OTHERS and _ECHOED.match(text) else host)
        yield Line(text, raw, offset, number, host, machine)
        offset += len(raw)


def command_of(text: str) -> str | None:
    """The command that a prompt or heading line announces; None for a line of output."""
    if prompt := _prompt(text):
        return prompt.command
    marked = _MARKED.match(text)
    return marked["command"].rstrip(" =-#*") if marked is not None else None


def _prompt(text: str) -> Prompt | None:
    """The prompt on a line, with a command."""
    plain = text.lstrip()
    prompt = prompt_of(plain) if len(text) - len(plain) <= _INDENT else None
    return prompt if prompt and _BEGINS_COMMAND.match(prompt.command) else None


def is_output(text: str) -> bool:
    """Whether a line is neither blank nor a prompt nor a mere date."""
    return bool(text) and not text.isspace() and command_of(text) is None and not _DATE.match(text)


def output(lines: Iterable[Line]) -> list[Line]:
    """The lines that are output."""
    return [line for line in lines if is_output(line.text)]


def fact(
    inp: Input, line: Line, kind: str, data: Mapping[str, Value], place: Place = NOWHERE, instant: Instant | None = None
) -> Fact:
    """A fact that stands on one line. Its place is completed by the prompt's host, then by what the path hints at."""
    where = place.over(Place(host=line.host)).over(inp.place)
    return Fact(kind, data, where, span_on(inp, line), inp.source_id, instant)


def span_on(inp: Input, line: Line) -> Span:
    """Where a line stands, and what is on it, without secrets."""
    span = span_of(inp.path, line.raw.rstrip(b"\r\n"), line.offset, line.number, 1)
    return replace(span, text=without_secrets(span.text))


@lru_cache(maxsize=2)
def head_lines(head: bytes, limit: int = HEAD) -> tuple[str, ...]:
    """The lines of output in the first `limit` bytes; a line cut by the limit is left out, binary data has none. Several
    collectors ask for those of the same input, one after the other: they are cut once."""
    return tuple(filter(is_output, _texts(head, limit)))


@lru_cache(maxsize=1)
def opening(head: bytes) -> str:
    """The first line of output, or what the opening holds of it, or nothing. It alone is looked for: most inputs are refused for
    it."""
    part = head[:_OPENING]
    cut = "" if b"\0" in part else part[part.rfind(b"\n") + 1 :].decode("utf-8", "ignore").removeprefix("\ufeff")
    return next(filter(is_output, (*_texts(head, _OPENING), cut)), "")


def first_line(head: bytes) -> str:
    """The first line, whatever it is."""
    first = head[: head.find(b"\n") + 1] or head
    return next(iter(first.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()), "")


def has_more_commands(head: bytes) -> bool:
    """Whether a command stands below output in a head: what it printed is no output of the first."""
    texts = _texts(head, HEAD)
    first = next((number for number, text in enumerate(texts) if is_output(text)), len(texts))
    return any(command_of(text) is not None for text in texts[first:])


def _texts(head: bytes, limit: int) -> list[str]:
    part = head[:limit]
    if b"\0" in part:
        return []
    if len(part) == limit:
        part = part[: part.rfind(b"\n") + 1]
    return part.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()


def anonymous(pattern: re.Pattern[str]) -> str:
    """The expression without the names of its groups, to be joined with others that have the same names."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern.pattern)


def has_form(head: bytes, form: re.Pattern[str], share: float = 0.8) -> bool:
    """Whether the first line, the last line and at least this share of all have the form: an ordinary log with one
    such line, or one such output followed by a log, does not."""
    if not form.match(opening(head)):
        return False
    lines = head_lines(head)  # none where there is a NUL beyond the opening
    return bool(lines) and bool(form.match(lines[-1])) and sum(map(bool, map(form.match, lines))) >= share * len(lines)
