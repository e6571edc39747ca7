"""Exports of CloudWatch Logs Insights, and of Kibana: one document with the records of many streams, in any order. Each stream is
a member, as of an archive, and its records are lines of text below the time that CloudWatch gave them, the oldest first.

Formats: `aws logs get-query-results` (`{"results": [[{"field": "@timestamp", "value": ...}, ...]]}`), what the console exports
as JSON (an array of objects) and as CSV (a row of titles). Times are in UTC. Insights gives the newest first unless asked
otherwise, and what is of one moment in no order. The fields `kubernetes.*` are those of Container Insights. What Discover of
Kibana exports as CSV has the columns that somebody chose, `host.name` (ECS) among them where hosts matter; its times are those
of the browser (`Sep 30, 2026 @ 21:18:28.052`), in a zone that nothing names.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import BufferedReader, StringIO
from typing import cast

from msgspec import Struct

from neuron_doctor.collectors.documents import DamagedDocument, elements
from neuron_doctor.collectors.log_streams import UNNAMED, clean, member_of_stream
from neuron_doctor.collectors.streams import Damaged, Member
from neuron_doctor.collectors.timestamps import read_iso, read_milliseconds
from neuron_doctor.engine.facts import Clock, Instant
from neuron_doctor.engine.regexes import regex

#: Logs Insights gives 10,000 records at most; of a longer document the rest is not read (bytes).
LIMIT = 64 * 1024 * 1024
#: The members that may stand before the records.
_BEFORE = rb'(?:"\w{1,40}"\s{0,40}:\s{0,40}(?:"[^"\n]{0,2000}"|\{[^{}]{0,2000}\}|\[\s{0,40}\]|[\d.]{1,20})\s{0,40},\s{0,40}){0,4}'
_OPEN = rb"\A(?:\xef\xbb\xbf)?\s{0,40}"
_RESULTS = regex(
    _OPEN + rb"\{\s{0,40}" + _BEFORE + rb'"results"\s{0,40}:\s{0,40}\[\s{0,40}(?=\[\s{0,40}\{\s{0,40}"field")'
)
_ROWS = regex(_OPEN + rb'\[\s{0,40}(?=\{\s{0,40}"[\w@.]{1,80}"\s{0,40}:)')
_TITLES = regex(rb'\A(?:\xef\xbb\xbf)?(?:"?[@\w.]{1,80}"?,){1,40}"?[@\w.]{1,80}"?\r?\n')
_TIME, _MESSAGES = "@timestamp", ("@message", "message", "log", "log_processed.log", "msg")
_STREAMS = ("@logStream", "logStreamName", "logStream")
_HOSTS = (
    "kubernetes.host",
    "kubernetes.node_name",
    "kubernetes.node.name",
    "host.name",
    "host.hostname",
    "agent.hostname",
)
#: How Kibana shows a time, unless told otherwise (`dateFormat`).
_KIBANA = "%b %d, %Y @ %H:%M:%S.%f"
_POD, _CONTAINER = "kubernetes.pod_name", "kubernetes.container_name"

Row = Mapping[str, str]


class _Record(Struct, frozen=True):
    """When it was, as the store of logs says, and what it says."""

    instant: Instant | None
    message: str


def is_export(head: bytes) -> bool:
    """Whether a file that begins so is an export of log records."""
    if titles := _TITLES.match(head):
        return _TIME.encode() in titles[0] and _has_message(titles[0], titled=True)
    listed = _RESULTS.match(head) or _ROWS.match(head)
    return listed is not None and f'"{_TIME}"'.encode() in head and _has_message(head, titled=False)


def _has_message(text: bytes, *, titled: bool) -> bool:
    names = (re.escape(name.encode()) for name in _MESSAGES)
    bound = rb'(?:^|,)"?(?:%b)"?(?:,|\r?$)' if titled else rb'"(?:%b)"'
    return re.search(bound % b"|".join(names), text, re.MULTILINE) is not None


def members_of_export(source: BufferedReader) -> Iterator[Member]:
    """The streams, in the order of their names. Raises Damaged where the document cannot be read to its end."""
    data = source.read(LIMIT + 1)
    streams: dict[str, list[_Record]] = defaultdict(list)
    damage = f"longer than {LIMIT} bytes: the rest was not read" if len(data) > LIMIT else ""
    try:
        for row in _rows(data[:LIMIT]):
            if (message := next((row[name] for name in _MESSAGES if row.get(name)), None)) is not None:
                streams[_stream(row)].append(_Record(_time(row), message))
    except DamagedDocument as error:
        damage = damage or str(error)
    for name in sorted(streams):
        yield Member(name, -1, iter([_text(streams[name])]))
    if damage:
        raise Damaged(damage)


# --- rows ----------------------------------------------------------------------------------------------------------


def _rows(data: bytes) -> Iterator[Row]:
    """The records with their fields, in the order of the document. Raises DamagedDocument."""
    if _TITLES.match(data):
        yield from csv.DictReader(StringIO(data.decode("utf-8-sig", "replace")))
        return
    begin = next(found for shape in (_RESULTS, _ROWS) if (found := shape.match(data)))
    text = data[begin.end() :].decode("utf-8", "replace")
    for element in elements(text, 0):
        if isinstance(element.value, list):
            yield dict(_fields(element.value))
        elif isinstance(element.value, dict):
            yield dict(_flat(cast("dict[str, object]", element.value)))


def _fields(cells: Iterable[object]) -> Iterator[tuple[str, str]]:
    for cell in cells:
        told = cast("dict[str, object]", cell) if isinstance(cell, dict) else {}
        name, value = told.get("field"), told.get("value")
        if isinstance(name, str) and isinstance(value, str):
            yield name, value


def _flat(entry: Mapping[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    """The strings and numbers; those of an object within by both names: `kubernetes.host`."""
    for name, value in entry.items():
        if isinstance(value, str | int):
            yield above + name, str(value)
        elif isinstance(value, dict) and not above:
            yield from _flat(cast("dict[str, object]", value), f"{name}.")


def _time(row: Row) -> Instant | None:
    told = row.get(_TIME) or ""
    return read_milliseconds(told) or read_iso(told if told.endswith("Z") else f"{told}Z") or _shown(told)


def _shown(told: str) -> Instant | None:
    """A time as Kibana shows it, by the clock of whoever asked."""
    try:
        when = datetime.strptime(told, _KIBANA).replace(tzinfo=UTC)
    except ValueError:
        return None
    ns = int(when.timestamp()) * 10**9 + when.microsecond * 1000
    return Instant(ns, Clock.HOST_LOCAL, 10**6)


# --- streams -------------------------------------------------------------------------------------------------------


def _stream(row: Row) -> str:
    """The name of the member, which says as a path does where the record is from."""
    host = next((row[name] for name in _HOSTS if row.get(name)), "")
    if pod := row.get(_POD):
        container = row.get(_CONTAINER)
        return clean(f"{_node(host)}pods/{pod}/{container}.log" if container else f"{_node(host)}pods/{pod}.log")
    stream = next((row[name] for name in _STREAMS if row.get(name)), "")
    return clean(f"{_node(host)}{UNNAMED}") if host else member_of_stream(stream)


def _node(host: str) -> str:
    return f"nodes/{host.replace('/', '_')}/" if host else ""


def _text(records: list[_Record]) -> bytes:
    """The lines of a stream, the oldest first. Where the document began with the newest, what is of one moment is turned, too."""
    times = [record.instant.ns for record in records if record.instant]
    if times and times[0] > times[-1]:
        records.reverse()
    if len(times) == len(records):
        records = sorted(records, key=lambda record: record.instant.ns if record.instant else 0)
    return "".join(f"{_stamp(record.instant)}{_body(record.message)}\n" for record in records).encode(
        "utf-8", "replace"
    )


def _body(message: str) -> str:
    return message.replace("\r\n", "\n").rstrip("\r\n")


def _stamp(instant: Instant | None) -> str:
    if instant is None:
        return ""
    when = datetime.fromtimestamp(instant.ns // 10**9, UTC)
    zone = "Z" if instant.clock is Clock.UTC else ""
    return f"{when:%Y-%m-%dT%H:%M:%S}.{instant.ns // 10**6 % 1000:03}{zone} "
