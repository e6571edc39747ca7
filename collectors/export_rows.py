"""The records in an answer of a store of logs, one document in JSON or CSV, each as its fields by name.

Formats: CloudWatch Logs Insights, `aws logs get-query-results` (`{"results": [[{"field": "@timestamp", "value": ...},
...]]}`) and what its console exports; Splunk and Datadog as CSV (`_time` with `_raw`; `Date`, `Host`, `Service` with
`Message` or `Content`); Elasticsearch and OpenSearch (`hits.hits` of `_search`, `_msearch` and a scroll, with `_source` or
the lists of `fields`; the hits alone, as jq and elasticdump write them); Kibana's Discover (CSV); Loki's `query_range`
(`streams` with `values`); Splunk (`results`, or a `result` a line); OpenTelemetry (`resourceLogs`, a document a line). What
is within is named by both names: `kubernetes.host`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from typing import cast

from neuron_doctor.collectors import members
from neuron_doctor.collectors.base import HEAD
from neuron_doctor.collectors.documents import elements
from neuron_doctor.engine.regexes import regex

TIMES = ("@timestamp", "_time", "timestamp", "time", "__REALTIME_TIMESTAMP", "date")
MESSAGES = ("@message", "message", "log", "log_processed.log", "msg", "MESSAGE", "event.original", "_raw", "content")
#: Before the first record: the members that may stand there, and what Kibana's console prints above an answer.
_BEFORE = rb'(?:"\w{1,40}"\s{0,40}:\s{0,40}(?:"[^"\n]{0,2000}"|\{[^{}]{0,2000}\}|\[\s{0,40}\]|[\d.]{1,20})\s{0,40},\s{0,40}){0,4}'
_OPEN = rb"\A(?:\xef\xbb\xbf)?(?:#[^\n]{0,2000}\n){0,4}\s{0,40}"
_ANY = rb"[^\x00]{0,20000}?"
_TITLES = regex(rb'\A(?:\xef\xbb\xbf)?(?:"?[@\w.][@\w. -]{0,79}"?,){1,40}"?[@\w.][@\w. -]{0,79}"?\r?\n')
#: The first column of stores that tell their records by other names: a message must be there, and a host to tell it of.
_TITLED = regex(
    rb'\A(?:\xef\xbb\xbf)?(?:"?_time"?,(?=[^\n]{0,2000}"?_raw"?(?:,|\r?\n))|"?Date"?,(?=[^\n]{0,2000}"?(?:Message|Content)"?(?:,|\r?\n)))'
    rb'(?=[^\n]{0,2000}?(?<![^,"\n])[Hh]ost"?,)'
)
#: How all documents in JSON begin.
_JSON = regex(_OPEN + rb"[\[{]")
_RESULTS = regex(
    _OPEN + rb"\{\s{0,40}" + _BEFORE + rb'"results"\s{0,40}:\s{0,40}\[\s{0,40}(?=\[\s{0,40}\{\s{0,40}"field")'
)
_ROWS = regex(_OPEN + rb'\[\s{0,40}(?=\{\s{0,40}"[\w@.]{1,80}"\s{0,40}:)')
#: Those that are told by their frame, each with a name without which it is none.
_FRAMES = (
    (b'"_index"', regex(_OPEN + rb"\{" + _ANY + rb'"hits"\s{0,40}:\s{0,40}\[\s{0,40}(?=\{\s{0,40}"_index"\s{0,40}:)')),
    (b'"_index"', regex(_OPEN + rb'\[?\s{0,40}(?=\{\s{0,40}"_index"\s{0,40}:)')),
    (
        b'"values"',
        regex(_OPEN + rb"\{" + _ANY + rb'"result"\s{0,40}:\s{0,40}\[\s{0,40}(?=\{\s{0,40}"stream"\s{0,40}:)'),
    ),
    (b'"resourceLogs"', regex(_OPEN + rb'(?=\{\s{0,40}"resourceLogs"\s{0,40}:\s{0,40}\[)')),
    (b'"_raw"', regex(_OPEN + rb'(?=\{\s{0,40}"preview"\s{0,40}:' + _ANY + rb'"result"\s{0,40}:\s{0,40}\{)')),
    (b'"_raw"', regex(_OPEN + rb"\{" + _ANY + rb'"results"\s{0,40}:\s{0,40}\[\s{0,40}(?=\{)')),
)
#: Of several searches that were asked at once, each has its list.
_FURTHER = regex(r'"hits"\s{0,40}:\s{0,40}\[\s{0,40}(?=\{\s{0,40}"_index"\s{0,40}:)')
#: Where the fields of a record stand in it.
_WITHIN = ("_source", "fields", "result")
_DEPTH = 6
#: A line of Loki is its time, in nanoseconds since 1970, and what it says.
_VALUES, _LINE = b'"values"', 2
#: Of OpenTelemetry (OTLP 1.0 as JSON, as the collector's file exporter writes it, a document a line).
_OTLP, _SAYS = b'"resourceLogs"', ("stringValue", "intValue")

Row = Mapping[str, str]


def has_rows(head: bytes) -> bool:
    """Whether a file that begins so is an answer with log records."""
    if titles := _TITLES.match(head):
        known = TIMES[0].encode() in titles[0] and _has_message(titles[0], titled=True)
        return known or _TITLED.match(head) is not None
    if _JSON.match(head) is None:
        return False
    if (_RESULTS.match(head) or _ROWS.match(head)) and f'"{TIMES[0]}"'.encode() in head:
        return _has_message(head, titled=False)
    name = next((name for name, frame in _FRAMES if name in head and frame.match(head)), None)
    return name is not None and (name in (_VALUES, _OTLP) or _has_message(head, titled=False))


def _has_message(text: bytes, *, titled: bool) -> bool:
    """Whether a column, or a member that is no object, or the value of a `field`, is called as messages are."""
    names = (re.escape(name.encode()) for name in MESSAGES)
    bound = rb'(?:^|,)"?(?:%b)"?(?:,|\r?$)' if titled else rb'"(?:%b)"\s{0,40}(?::\s{0,40}["\[\d]|[,}])'
    return re.search(bound % b"|".join(names), text, re.MULTILINE) is not None


def rows(data: bytes) -> Iterator[Row]:
    """The records with their fields, in the order of the document. Raises DamagedDocument."""
    if _TITLES.match(data):
        table = csv.reader(StringIO(data.decode("utf-8-sig", "replace")))
        titles = next(table)
        names = [name.strip().lower() for name in titles] if _TITLED.match(data) else [name.strip() for name in titles]
        yield from (dict(zip(names, cells, strict=False)) for cells in table)
        return
    shapes = (_RESULTS, _ROWS, *(frame for name, frame in _FRAMES if name in data[:HEAD]))
    begin = next(found for shape in shapes if (found := shape.match(data)))
    text = data[begin.end() :].decode("utf-8", "replace")
    in_a_list = begin[0].rstrip().endswith(b"[")
    while True:
        end = 0
        for element in elements(text if in_a_list else f"{text}]", 0):
            end = element.end
            if isinstance(element.value, list):
                yield dict(_fields(element.value))
            elif isinstance(element.value, dict):
                yield from _told(cast("dict[str, object]", element.value))
        if (more := _FURTHER.search(text, end)) is None:
            return
        text = text[more.end() :]


def _told(entry: Mapping[str, object]) -> Iterator[Row]:
    """The records of one element: itself, what it was indexed as, or the lines of a stream with its labels."""
    if isinstance(resources := entry.get("resourceLogs"), list):
        for resource in resources:
            yield from _of_resource(resource)
        return
    labels, lines = entry.get("stream"), entry.get("values")
    if isinstance(labels, dict) and isinstance(lines, list):
        told = dict(_flat(cast("dict[str, object]", labels)))
        for line in lines:
            if isinstance(line, list) and all(isinstance(part, str) for part in line[:_LINE]) and len(line) >= _LINE:
                yield {**told, TIMES[0]: line[0], MESSAGES[0]: line[1]}
        return
    within = next((found for name in _WITHIN if isinstance(found := entry.get(name), dict)), entry)
    yield dict(_flat(cast("dict[str, object]", within)))


def _of_resource(logs: object) -> Iterator[Row]:
    """The records of one resource, each with its own attributes and those of what it is from."""
    told = dict(_attributes(members.dig(logs, "resource")))
    for scope in members.all_of(logs, "scopeLogs"):
        for record in members.all_of(scope, "logRecords"):
            when = members.text(record, "timeUnixNano") or members.text(record, "observedTimeUnixNano")
            said = members.text(members.dig(record, "body"), _SAYS[0])
            yield {**told, **dict(_attributes(record)), TIMES[0]: when, MESSAGES[0]: said}


def _attributes(one: object) -> Iterator[tuple[str, str]]:
    for attribute in members.all_of(one, "attributes"):
        value = members.dig(attribute, "value")
        if said := next((text for name in _SAYS if (text := members.text(value, name))), ""):
            yield members.text(attribute, "key"), said


def _fields(cells: Iterable[object]) -> Iterator[tuple[str, str]]:
    for cell in cells:
        told = cast("dict[str, object]", cell) if isinstance(cell, dict) else {}
        name, value = told.get("field"), told.get("value")
        if isinstance(name, str) and isinstance(value, str):
            yield name, value


def _flat(entry: Mapping[str, object], above: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """The strings and numbers, and the only ones of lists; those of an object within by both names: `kubernetes.host`."""
    for name, value in entry.items():
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(one, str | int):
            yield above + name, str(one)
        elif isinstance(one, dict) and depth:
            yield from _flat(cast("dict[str, object]", one), f"{above}{name}.", depth - 1)
