"""Answers of stores of logs: one document with the records of many streams, in any order. Each stream is a member, as of an
archive, and its records are lines of text below the time that the store gave them, the oldest first.

Formats: see export_rows.py. Times are in UTC, if they tell no zone; what Kibana shows (`Sep 30, 2026 @ 21:18:28.052`) is the
clock of a browser, in a zone that nothing names. Insights and Loki give the newest first unless asked otherwise, and what is of
one moment in no order; Elasticsearch gives all so. The fields `kubernetes.*` are those of Container Insights (Fluent Bit) and of
Filebeat (ECS), `pod` and `node_name` labels of Promtail and Alloy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BufferedReader

from msgspec import Struct

from neuron_doctor.collectors.documents import DamagedDocument
from neuron_doctor.collectors.export_rows import MESSAGES, TIMES, Row, rows
from neuron_doctor.collectors.kernel_labels import is_of_the_kernel
from neuron_doctor.collectors.log_streams import UNNAMED, clean, member_of_stream
from neuron_doctor.collectors.streams import Damaged, Member
from neuron_doctor.collectors.timestamps import read_iso, read_microseconds, read_milliseconds, read_unix
from neuron_doctor.engine.facts import Clock, Instant
from neuron_doctor.engine.regexes import regex

#: Logs Insights gives 10,000 records at most; of a longer document the rest is not read (bytes).
LIMIT = 64 * 1024 * 1024
_FILES = ("log.file.path", "log.file.name", "filename", "source")
_STREAMS = ("@logStream", "logStreamName", "logStream", *_FILES)
_HOSTS = (
    "kubernetes.host",
    "kubernetes.node_name",
    "kubernetes.node.name",
    "k8s.node.name",
    "node_name",
    "_HOSTNAME",
    "host.name",
    "host.hostname",
    "agent.hostname",
    "hostname",
    "host",
)
#: How Kibana shows a time, unless told otherwise (`dateFormat`).
_KIBANA = "%b %d, %Y @ %H:%M:%S.%f"
_PODS = ("kubernetes.pod_name", "kubernetes.pod.name", "k8s.pod.name", "pod", "pod_name", "pod name")
_CONTAINERS = (
    "kubernetes.container_name",
    "kubernetes.container.name",
    "k8s.container.name",
    "container",
    "container_name",
    "container name",
)
#: How the kernel is called in the head of a line of syslog, which a shipper may keep in fields of its own.
_KERNEL, _HEAD = "kernel:", 100
#: Where in its file a record stood: of one moment, the order.
_OFFSETS = ("log.offset", "offset")
_NANOSECONDS, _ZONED = regex(r"1\d{18}"), regex(r"(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$")


class _Record(Struct, frozen=True):
    """When it was, as the store says, where in its file it stood, and what it says."""

    instant: Instant | None
    offset: int
    message: str


def members_of_export(source: BufferedReader) -> Iterator[Member]:
    """The streams, in the order of their names. Raises Damaged where the document cannot be read to its end."""
    data = source.read(LIMIT + 1)
    streams: dict[str, list[_Record]] = defaultdict(list)
    damage = f"longer than {LIMIT} bytes: the rest was not read" if len(data) > LIMIT else ""
    try:
        for row in rows(data[:LIMIT]):
            if message := _first(row, MESSAGES):
                streams[_stream(row)].append(_record(row, message))
    except DamagedDocument as error:
        damage = damage or str(error)
    for name in sorted(streams):
        yield Member(name, -1, iter([_text(streams[name])]))
    if damage:
        raise Damaged(damage)


def _first(row: Row, names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def _record(row: Row, message: str) -> _Record:
    told = _first(row, _OFFSETS)
    kernel = is_of_the_kernel(row) and _KERNEL not in message[:_HEAD]
    said = f"{_first(row, _HOSTS) or UNNAMED} {_KERNEL} {message}" if kernel else message
    return _Record(_time(row), int(told) if told.isdecimal() else 0, said)


def _time(row: Row) -> Instant | None:
    told = _first(row, TIMES)
    if _NANOSECONDS.fullmatch(told):
        return read_microseconds(told[:-3])
    if told.isdecimal():
        return read_unix(told) or read_milliseconds(told) or read_microseconds(told)
    return read_iso(told if _ZONED.search(told) else f"{told}Z") or _shown(told)


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
    host = _first(row, _HOSTS)
    if pod := _first(row, _PODS):
        container = _first(row, _CONTAINERS)
        return clean(f"{_node(host)}pods/{pod}/{container}.log" if container else f"{_node(host)}pods/{pod}.log")
    if not host:
        return member_of_stream(_first(row, _STREAMS).strip())
    return clean(f"{_node(host)}{_first(row, _FILES).strip('/') or UNNAMED}")


def _node(host: str) -> str:
    return f"nodes/{host.replace('/', '_')}/" if host else ""


def _text(records: list[_Record]) -> bytes:
    """The lines of a stream, the oldest first. Where the document began with the newest, what is of one moment is turned, too."""
    times = [record.instant.ns for record in records if record.instant]
    if times and times[0] > times[-1]:
        records.reverse()
    if len(times) == len(records):
        records = sorted(records, key=lambda record: (record.instant.ns if record.instant else 0, record.offset))
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
