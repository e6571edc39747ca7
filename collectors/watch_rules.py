"""Settings of what watches logs and metrics: they quote the messages that they look for, and nothing happened.

Formats: rules of Prometheus and Loki (`alert`, `expr`; the operator's PrometheusRule), routes of Alertmanager, monitors of the
node problem detector (`kernel-monitor.json`), dashboards and alert rules of Grafana, metric filters of CloudWatch Logs, monitors
of Datadog, and what shippers of logs are set up with: Fluent Bit, Fluentd, Vector, Logstash, Promtail, Filebeat, the
OpenTelemetry collector, rsyslog, swatchdog. Each is told by several words that stand where its format has them, within a
ConfigMap or by itself. An alert that fired has no expression, and what an agent says has times at the beginnings of its lines:
both tell of what happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex


def _key(names: bytes) -> bytes:
    """A key of YAML, or of JSON, at the beginning of a line or behind another one."""
    return rb'(?:^[ \t]{0,80}(?:- {1,4})?|[{,][ \t]{0,8})"?(?:' + names + rb')"?[ \t]{0,4}:(?=\s)'


def _format(words: tuple[bytes, ...], *signs: bytes) -> tuple[tuple[bytes, ...], tuple[re.Pattern[bytes], ...]]:
    return words, tuple(regex(sign, re.MULTILINE) for sign in signs)


_PATTERN = _key(rb"pattern")
#: What must all be there, one format a line: words, which are quickly not found in a log, and the places where they stand.
_FORMATS = (
    _format((b"alert", b"expr"), _key(rb"alert"), _key(rb"expr")),
    _format((b"record", b"expr"), _key(rb"record"), _key(rb"expr")),
    _format((b"\nroute:", b"\nreceivers:"), rb"^route:", rb"^receivers:"),
    _format(
        (b"plugin", b"rules", b"pattern"),
        *(_key(rb"plugin"), _key(rb"rules"), _PATTERN, _key(rb"source|logPath|pluginConfig")),
    ),
    _format((b"panels", b"schemaVersion"), _key(rb"panels"), _key(rb"schemaVersion")),
    _format((b"noDataState", b"execErrState"), _key(rb"noDataState"), _key(rb"execErrState")),
    _format((b"filterPattern",), _key(rb"metricFilters|metricTransformations"), _key(rb"filterPattern")),
    _format(
        (b"query", b" alert"),
        _key(rb"query"),
        _key(rb"type") + rb'[ \t]{0,4}"?(?:log|metric|query|event-v2) alert\b',
    ),
    *(
        _format((b"\n[" + one, b"\n[" + other), rb"^\[" + one + rb"\]\s*$", rb"^\[" + other + rb"\]\s*$")
        for one in (b"SERVICE", b"INPUT")
        for other in (b"FILTER", b"OUTPUT")
    ),
    _format((b"PARSER]",), rb"^\[(?:MULTILINE_)?PARSER\]\s*$", rb"^[ \t]{1,8}(?i:regex|rule)[ \t]"),
    _format((b"\n</",), rb"^<(?:source|filter\b[^>\n]{0,100})>\s*$", rb"^</(?:source|filter)>\s*$"),
    _format((b"\n[sources.",), rb"^\[sources\.[\w.-]{1,80}\]\s*$", rb"^\[(?:transforms|sinks)\.[\w.-]{1,80}\]\s*$"),
    _format((b"\noutput",), rb"^(?:input|filter) ?\{\s*$", rb"^output ?\{\s*$"),
    _format((b"\nscrape_configs:",), rb"^(?:clients|positions):", rb"^scrape_configs:"),
    _format((b"\nfilebeat.",), rb"^filebeat\.(?:inputs|modules|autodiscover):", rb"^[ \t]{0,20}- type:|^output\."),
    _format((b"\nreceivers:", b"\nexporters:", b"\nservice:"), rb"^receivers:", rb"^exporters:", rb"^service:"),
    _format((b"\n:",), rb'^:(?:msg|rawmsg|programname), ?!?(?:contains|regex|ereregex|startswith|isequal),? ?"'),
    _format((b"\nwatchfor /",), rb"^watchfor /", rb"^[ \t]{1,8}(?:echo|exec|mail|pipe|throttle|threshold)\b"),
)
#: A line that a program wrote.
_WROTE = (
    rb"^\W{0,3}\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|^\[ {0,11}\d{1,9}\.\d{6}\]|^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    rb"|^Traceback \(most recent call last\):"
)
_WRITTEN = regex(_WROTE, re.MULTILINE)
#: The same, and objects of a cluster in which something happens.
_HAPPENED = regex(
    _WROTE + rb"|\"?\bkind\"?: \"?(?:Pod|Node|Event|Job|Workflow|\w{2,12}Job)\"?,?\s*$",
    re.MULTILINE,
)
#: In so much of nearly every log a line of a program stands (bytes): looking for the formats takes thirty times as long.
_OPENING = 2048


def is_watch_rules(head: bytes, _name: str) -> bool:
    """Whether it is the settings of a program that watches for messages."""
    if _WRITTEN.search(head, 0, _OPENING):
        return False
    text = b"\n" + head.replace(b"\r\n", b"\n")
    return any(_is_of(text, *known) for known in _FORMATS) and _HAPPENED.search(text) is None


def _is_of(text: bytes, words: tuple[bytes, ...], signs: tuple[re.Pattern[bytes], ...]) -> bool:
    return all(word in text for word in words) and all(sign.search(text) for sign in signs)


def _collect(_inp: Input) -> Iterable[Fact]:
    return ()


COLLECTOR = Collector("watch-rules", "settings of monitoring, which only quote messages", is_watch_rules, _collect)
