"""One group of reports of neuron-monitor by itself, as jq cuts it out: `neuron-monitor | jq -c .system_data.neuron_hw_counters`,
`jq '.neuron_runtime_data[0].report.execution_stats'`. Each is put back where it stands in a report, and read as one.

A group is known by the members that it alone has. Of a process nothing is known then but what is told of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from io import BufferedReader, BytesIO

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.base import Collector, Input, UnreadableInput
from neuron_doctor.collectors.documents import JSON_LINE, DamagedDocument, document_of, next_value, value_at
from neuron_doctor.collectors.masking import without_secrets
from neuron_doctor.collectors.snapshot import command_of, has_form, lines_of, opening, read_bytes
from neuron_doctor.engine.facts import Fact, Place, span_of
from neuron_doctor.engine.regexes import regex

#: What each group has in it, with its name before it or not, and what stands around it in a report.
_GROUPS = (
    (b'"mem_ecc_uncorrected"', '{"system_data":{"neuron_hw_counters":', "}}"),
    (b'"error_summary"', '{"neuron_runtime_data":[{"report":{"execution_stats":', "}}]}"),
)
_NAMED = regex(r'\s*\{\s*"(?:neuron_hw_counters|execution_stats)"\s*:\s*(?=\{)')
_FIRST = regex(
    rb'\s*(?:\{\s*"(?:neuron_hw_counters|execution_stats)"\s*:\s*)?'
    rb'\{\s*"(?:period|neuron_devices|error_summary|execution_summary|latency_stats|error)"\s*:'
)

#: How many processes a report is of, by the name of the level.
_COUNT = "runtime_processes"


class _Part(Struct, frozen=True):
    """A group: where it begins in the reports that are made, how long it is, and where in the text."""

    made: int
    length: int
    start: int


def _sniff(head: bytes, _name: str) -> bool:
    if not any(mark in head for mark, *_ in _GROUPS) or not opening(head).startswith("{"):
        return False
    return _FIRST.match(head, head.find(b"{")) is not None and has_form(head, JSON_LINE, 0.95)


def _collect(inp: Input) -> Iterator[Fact]:
    # loaded for the first stream: few inputs are one
    from neuron_doctor.collectors.monitor_facts import collect  # noqa: PLC0415

    data = read_bytes(inp)
    shown = list(lines_of(data))
    starts = [line.offset for line in shown]
    lines = [line for line in shown if command_of(line.text) is None]
    document = document_of(inp.path, lines)
    reports, parts = _reports(inp, document.text)
    if not parts:
        raise UnreadableInput("no group of a report is whole")
    made = reports.encode("utf-8", "surrogateescape")
    whole = Input(inp.path, inp.name, BufferedReader(BytesIO(made)), len(made), inp.place, inp.source_id)
    first, here = lines[0].offset, Place(host=lines[0].host)
    for fact in collect(whole):
        if fact.data.get("name") == _COUNT:
            continue  # how many there were was cut off
        at = _moved(fact.span.offset, parts) + first
        line = bisect_right(starts, at)
        column = at - starts[line - 1] + 1
        length = min(fact.span.length, len(data) - at)
        span = span_of(inp.path, data[at : at + length], at, line, column)
        yield replace(fact, span=replace(span, text=without_secrets(span.text)), place=fact.place.over(here))
    inp.records = whole.records
    for problem in whole.problems.values():
        inp.problem(problem.what)


def _reports(inp: Input, text: str) -> tuple[str, list[_Part]]:
    """The reports of which these are groups, and where each of them is from."""
    made, size, parts = list[str](), 0, list[_Part]()
    counted, before = 0, 0  # so many characters are so many bytes
    at = text.find("{")
    try:
        while at >= 0:
            end = value_at(text, at).end
            begin = named.end() if (named := _NAMED.match(text, at)) else at
            group = text[begin : end - 1 if named else end]
            around = next(((a, b) for mark, a, b in _GROUPS if mark.decode() in group), None)
            if around is not None:
                before, counted = before + _size(text[counted:begin]), begin
                length = _size(group)
                parts.append(_Part(size + len(around[0]), length, before))
                made.append(f"{around[0]}{group}{around[1]}\n")
                size += len(around[0]) + length + len(around[1]) + 1
            at = next_value(text, end, "{")
    except DamagedDocument as damage:
        inp.problem(str(damage))
    return "".join(made), parts


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _moved(offset: int, parts: Sequence[_Part]) -> int:
    """Where in the text an offset of the reports is; what was put around a group is at its beginning."""
    part = parts[max(bisect_right(parts, offset, key=lambda one: one.made) - 1, 0)]
    return part.start + min(max(offset - part.made, 0), part.length)


COLLECTOR = Collector("neuron-monitor", "groups of reports of neuron-monitor, cut out", _sniff, _collect)
