"""Log lines that travel as one JSON object a line: Docker's json-file, `journalctl -o json`, and structured logging.

Formats: Docker `json-file` logging driver (`log`, `stream`, `time`), also with the `kubernetes` of Fluent Bit's filter (Container
Insights, Fluentd); systemd.journal-fields(7) and systemd's "Journal
Export Formats" (`MESSAGE` is a string, or an array of bytes where it is not printable UTF-8; numbers are strings);
python-json-logger, structlog, zap and ECS: a message and a level, and the traceback in a field of its own. Of collectors and
the tools that read from them, which add where a record is from: stern 1.x (`--output json`), Vector (kubernetes_logs, file),
Filebeat 8 (ECS), `logcli --output jsonl` of Loki, CloudWatch Logs Insights (`@message`, `@logStream`), archives of Datadog
(`_id`, `service`), and GELF 1.1 (`short_message`, a level of syslog as a number). The error file of a worker of torchrun
(torch.distributed.elastic.multiprocessing.errors, PyTorch 1.9 to 2.9): message, call stack and Unix time. An event of
CloudWatch Logs (`aws logs get-log-events`, `filter-log-events`): a message and milliseconds since 1970, in UTC. An event of
EventBridge (`detail-type`, `time`) is its own message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.kernel_labels import is_of_the_kernel
from neuron_doctor.collectors.timestamps import read_iso, read_microseconds, read_milliseconds, read_unix
from neuron_doctor.engine.facts import Instant
from neuron_doctor.engine.regexes import regex

_BYTES = range(256)
_PID = regex(r"\d{1,10}", re.ASCII)
_PRIORITY = regex(r"[0-7]")
#: The names of the fields of structured logging, best first.
_MESSAGES = ("message", "msg", "event")
_LEVELS = ("level", "levelname", "severity", "lvl", "log.level")
_TRACEBACKS = (
    "exc_info",
    "exception",
    "exc_text",
    "traceback",
    "stack_trace",
    "stacktrace",
    "stack",
    "error.stack_trace",
)
_TIMES = ("timestamp", "time", "@timestamp", "asctime", "ts", "datetime", "date")
#: What stands beside the `message` of collectors, which need not tell a level.
_OF_COLLECTORS = ("kubernetes", "podName", "source_type", "ecs", "service")
#: How these call pods, containers and nodes, as paths within a record.
_PODS = (("podName",), ("kubernetes", "pod_name"), ("kubernetes", "pod", "name"))
_CONTAINERS = (("containerName",), ("kubernetes", "container_name"), ("kubernetes", "container", "name"))
_NODES = (("nodeName",), ("kubernetes", "host"), ("kubernetes", "pod_node_name"), ("kubernetes", "node", "name"))
#: The labels of Loki's streams, as Promtail and Alloy set them.
_LABELS = {"host": ("node_name", "node", "host", "hostname"), "pod": ("pod",), "container": ("container",)}
_PLACES = {"rank": ("rank", "global_rank"), "local_rank": ("local_rank",), "pid": ("pid", "process", "process.pid")}
_HOSTS = ("hostname", "host", "host.name")
#: Levels of records that tell of no trouble: what such a short one says stands in its other fields (structlog, zap), and these
#: are kept as they were written, but for sentences and where in a program it was.
_CALM, _SHORT = frozenset({"INFO", "DEBUG", "NOTICE"}), 60
_OF_CODE = frozenset(
    {"logger", "logger_name", "name", "module", "caller", "file", "filename", "pathname", "line", "lineno"}
)
_WORD = regex(r"[^\s\"\\]{1,80}")
#: What controllers of Kubernetes log of an object; longer lists say what is in a cluster, and not what was done.
_OF_OBJECTS, _FEW = frozenset({"name", "namespace", "kind", "apiVersion"}), 8
#: A value that Go's logger was not given to print: it stands in a field of its own (the health agent of HyperPod).
_UNPRINTED = "%v"
#: What stands in the records of stores of logs, and seldom elsewhere.
_RARE = ('"@message"', '"short_message"', '"line"', '"extraInfo"', '"ingestionTime"', '"detail-type"')
#: Seconds since 1970; numbers of milliseconds are larger.
_LATEST = 1e11
#: Docker cuts at so many bytes; the last piece alone ends with a newline. Collectors leave it out of short records, too.
_PIECE, _END = 16 * 1024, "\n"
#: What an error file of torchrun has beside the message; what CloudWatch adds to an event.
_EXTRA, _CALL_STACK, _INGESTED = "extraInfo", "py_callstack", "ingestionTime"
#: What CRI says of a record, as Fluent Bit and Fluentd hand it on: a whole line, or a piece of one.
_TAGS, _OF_A_PIECE = ("_p", "logtag"), "P"


class Envelope(Struct, frozen=True):
    """What was around a message: `known` holds host, pid, container and level (0 to 7) as text,
    where stated."""

    message: str
    known: dict[str, str]
    instant: Instant | None
    kernel: bool = False
    partial: bool = False


def may_be_envelope(text: str) -> bool:
    """A cheap look: False where `unwrap` gives None."""
    return text.startswith("{") and (
        '"log"' in text or '"MESSAGE"' in text or _may_be_structured(text) or any(name in text for name in _RARE)
    )


def _may_be_structured(text: str) -> bool:
    beside = (*_LEVELS, *_OF_COLLECTORS)
    return any(f'"{name}"' in text for name in _MESSAGES) and any(f'"{name}"' in text for name in beside)


def unwrap(text: str) -> Envelope | None:
    """The envelope that `text` is, or None where it is anything else (also damaged, or nested without end)."""
    try:
        fields: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    return _opened(cast("dict[str, object]", fields))


def _opened(entry: dict[str, object]) -> Envelope | None:
    if "MESSAGE" in entry:
        return _journal(entry)
    if isinstance(entry.get("log"), str):
        return _docker(entry)
    if isinstance(message := entry.get("message"), dict):
        return _error_file(cast("dict[str, object]", message))
    if isinstance(message, str) and isinstance(entry.get(_INGESTED), int):
        return _event(entry)
    if _first(entry, _MESSAGES) and (_first(entry, _LEVELS) or not entry.keys().isdisjoint(_OF_COLLECTORS)):
        return _structured(entry)
    return _stored(entry)


def _stored(entry: dict[str, object]) -> Envelope | None:
    """A record as a store of logs hands it out: Loki, CloudWatch, Graylog."""
    labels = entry.get("labels")
    if isinstance(entry.get("line"), str) and isinstance(labels, dict):
        told = cast("dict[str, object]", labels)
        known = {name: _first(told, names) for name, names in _LABELS.items()}
        return replace(_at(_string(entry, "line"), known, entry), kernel=is_of_the_kernel(told))
    if isinstance(entry.get("@message"), str):
        when = {"timestamp": _string(entry, "@timestamp").removesuffix("Z") + "Z"}  # UTC, and not said
        return _at(_string(entry, "@message"), {"container": _string(entry, "@logStream")}, when)
    if isinstance(entry.get("short_message"), str) and isinstance(entry.get("host"), str):
        level = str(entry.get("level", ""))
        known = {"host": _string(entry, "host"), "level": _matching(_PRIORITY, level)}
        return _at(_string(entry, "full_message") or _string(entry, "short_message"), known, entry)
    if isinstance(entry.get("detail-type"), str) and isinstance(entry.get("detail"), dict):
        return _at(json.dumps(entry), {}, entry)
    return None


def _at(message: str, known: dict[str, str], entry: Mapping[str, object]) -> Envelope:
    """The envelope of a message: what is known of pod and container makes up the container."""
    names = [name for name in (known.get("pod", ""), known.get("container", "")) if name]
    told = {**known, "container": "/".join(names)}
    return Envelope(
        message=message.removesuffix(_END),
        known={name: text for name, text in told.items() if text and name != "pod"},
        instant=_time(entry),
    )


def _time(entry: Mapping[str, object]) -> Instant | None:
    """When it was, by a date or by seconds since 1970."""
    for name in _TIMES:
        value = entry.get(name)
        if isinstance(value, str) and (instant := read_iso(value)):
            return instant
        if isinstance(value, float) and 0 < value < _LATEST:
            return read_microseconds(str(round(value * 1e6)))
    return None


def _error_file(entry: dict[str, object]) -> Envelope | None:
    """The exception that ended a worker, as it would stand in its log."""
    extra = entry.get(_EXTRA)
    told = cast("dict[str, object]", extra) if isinstance(extra, dict) else {}
    stack, message = _string(told, _CALL_STACK).rstrip("\n"), _string(entry, "message")
    if not (stack or (told and message)):
        return None
    return Envelope(stack or message, {}, read_unix(str(told.get("timestamp", ""))))


def _event(entry: dict[str, object]) -> Envelope:
    since = entry.get("timestamp")
    return Envelope(_string(entry, "message").removesuffix(_END), {}, read_milliseconds(str(since)))


def _first(entry: dict[str, object], names: tuple[str, ...]) -> str:
    """The first of these fields that is a string with something in it."""
    return next((text for name in names if (text := _string(entry, name))), "")


def _structured(entry: dict[str, object]) -> Envelope:
    message, traceback = _printed(_first(entry, _MESSAGES), entry), _first(entry, _TRACEBACKS)
    known = {"host": _first(entry, _HOSTS), **_pod(entry), "level": _first(entry, _LEVELS).upper()}
    if known["level"] in _CALM and len(message) <= _SHORT and not traceback:
        message += _told_beside(entry)
    for place, names in _PLACES.items():
        known[place] = next((text for name in names if _PID.fullmatch(text := str(entry.get(name, "")))), "")
    return Envelope(
        message=f"{message}\n{traceback}" if traceback and traceback not in message else message,
        known={name: value for name, value in known.items() if value},
        instant=_time(entry),
    )


def _told_beside(entry: dict[str, object]) -> str:
    """What a record says in fields of its own, and that it is an event of this name."""
    others = {
        *_LEVELS,
        *_TRACEBACKS,
        *_TIMES,
        *_HOSTS,
        *_OF_CODE,
        *(name for names in _PLACES.values() for name in names),
    }
    told = {name: value for name, value in entry.items() if name not in others and _is_told(value)}
    return f" {json.dumps(told)}" if told.keys() - {*_MESSAGES} else ""


def _is_told(value: object) -> bool:
    """Whether it is a word, an object of Kubernetes by its name, as controllers log it, or a short list of records of these."""
    if isinstance(value, list):
        return len(value) <= _FEW and all(isinstance(one, dict) and _are_told(one.values()) for one in value)
    return _are_told((value,))


def _are_told(values: Iterable[object]) -> bool:
    return all(_is_word(value) or (isinstance(value, dict) and _is_object(value)) for value in values)


def _is_object(value: Mapping[str, object]) -> bool:
    return "name" in value and value.keys() <= _OF_OBJECTS and all(map(_is_word, value.values()))


def _is_word(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and _WORD.fullmatch(value) is not None)


def _printed(message: str, entry: dict[str, object]) -> str:
    """The message with what it says stands in other fields."""
    if _UNPRINTED not in message:
        return message
    told = {name: value for name, value in entry.items() if name not in (*_MESSAGES, *_LEVELS, *_TIMES)}
    return message.replace(_UNPRINTED, json.dumps(told), 1)


def _string(entry: dict[str, object], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _matching(shape: re.Pattern[str], text: str) -> str:
    return text if shape.fullmatch(text) else ""


def _is_of_others(entry: dict[str, object]) -> bool:
    """What `systemd[1]` says is about other processes."""
    return _string(entry, "_PID") == "1" and _string(entry, "SYSLOG_IDENTIFIER") == "systemd"


def _docker(entry: dict[str, object]) -> Envelope:
    log = _string(entry, "log")
    return Envelope(
        message=log.removesuffix(_END),
        known=_pod(entry),
        instant=_time(entry),
        partial=_is_piece(log, entry),
    )


def _is_piece(log: str, entry: dict[str, object]) -> bool:
    """Whether the next record goes on with the line."""
    tag = next((tag for name in _TAGS if (tag := _string(entry, name))), "")
    return tag == _OF_A_PIECE if tag else not log.endswith(_END) and len(log.encode("utf-8", "replace")) >= _PIECE


def _pod(entry: dict[str, object]) -> dict[str, str]:
    """Where the record is from, as collectors add it: pod, container and node."""
    pod, container, node = (_at_one_of(entry, paths) for paths in (_PODS, _CONTAINERS, _NODES))
    known = {"container": "/".join(name for name in (pod, container) if name) if pod else "", "host": node}
    return {name: text for name, text in known.items() if text}


def _at_one_of(entry: dict[str, object], paths: tuple[tuple[str, ...], ...]) -> str:
    """The first text at one of these paths."""
    for path in paths:
        value: object = entry
        for key in path:
            value = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and value:
            return value
    return ""


def _message(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return bytes(byte for byte in value if isinstance(byte, int) and byte in _BYTES).decode("utf-8", "replace")
    return ""


def _journal(entry: dict[str, object]) -> Envelope:
    kernel = is_of_the_kernel(entry)
    known = {
        "host": _string(entry, "_HOSTNAME"),
        "container": _string(entry, "CONTAINER_NAME"),
        "pid": "" if kernel or _is_of_others(entry) else _matching(_PID, _string(entry, "_PID")),
        "level": _matching(_PRIORITY, _string(entry, "PRIORITY")),
    }
    return Envelope(
        message=_message(entry.get("MESSAGE")),
        known={name: value for name, value in known.items() if value},
        instant=read_microseconds(_string(entry, "__REALTIME_TIMESTAMP")),
        kernel=kernel,
    )
