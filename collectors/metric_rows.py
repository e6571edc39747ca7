"""The rows of an exported table of metrics: which counters of which devices they tell of, and what has become of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from neuron_doctor.collectors.base import Input, UnreadableInput
from neuron_doctor.collectors.delimited import Row, labels_of, moment_of, table_of, without_port
from neuron_doctor.collectors.hints import has_shape_of_host
from neuron_doctor.collectors.legends import LEGEND
from neuron_doctor.collectors.metric_tables import COUNTERS, has_times, time_column
from neuron_doctor.collectors.monitor_readings import Mode, Reading
from neuron_doctor.collectors.monitor_series import Series
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Value, span_of
from neuron_doctor.engine.regexes import regex

#: What is no counter any more, or one of several devices.
_DERIVED = regex(r"\b(?:i?rate|i?delta|increase|sum|avg|count|deriv|resets|changes)\s{0,4}(?:\(|by\b|without\b)")
_VALUE = frozenset({"value", "_value", "value #a"})
_SERIES = frozenset({"series", "metric"})
#: Which label tells the host, the best first; `instance` is where the exporter is asked.
_HOSTS = ("host", "hostname", "node", "nodename", "kubernetes_node", "node_name", "instance")
_DEVICES = ("neuron_device_index", "neuron_device", "neurondevice", "device")
_DEVICE = regex(r"(?i)\b(?:nd|neuron|neuron[_ ]?device|device|dev)[ _#:-]?(\d{1,3})\b")
_INSTANCE = regex(r"i-[0-9a-f]{8,17}")
_NUMBER = regex(r"\d{1,3}")
_MOST_SERIES = 32_768
_DAY_NS = 86_400 * 10**9
_INT64 = 2**63 - 1


class _Shown(Struct, frozen=True):
    """A row that shows a value, and when."""

    row: Row
    when: Instant | None


class _Counter(Struct):
    """A counter over the rows. `legend` has the words of which one may be the host, where no other is told."""

    name: str
    place: Place
    legend: str = ""
    series: Series[_Shown] | None = None
    last: _Shown = _Shown((0, 0, b""), None)
    latest: Instant | None = None

    def add(self, value: int, shown: _Shown) -> None:
        """One more sample."""
        if self.series is None:
            key = (self.name, None, self.place.device, None, None)
            self.series = Series(key, "", Mode.CUMULATIVE, value, value, value, value, 0, shown)
        self.series.add(Reading(self.name, Mode.CUMULATIVE, value), shown)
        self.last = shown
        self.latest = shown.when or self.latest


def collect(inp: Input) -> Iterator[Fact]:
    """The `counter` facts of the table."""
    columns, rows = table_of(inp, has_times)
    at = time_column(columns)
    if at is None:
        raise UnreadableInput("the table of metrics has no column of times")
    value = next((number for number, column in enumerate(columns) if column.lower() in _VALUE), None)
    counters: dict[object, _Counter | None] = {}
    for row, cells in rows:
        shown = _Shown(row, moment_of(cells[at].strip()))
        for key, said, measured in _measured(columns, cells, at, value):
            if key not in counters:
                counters[key] = _counter_of(said, inp) if len(counters) < _MOST_SERIES else None
            one, count = counters[key], _count(measured)
            if one is not None and count is not None:
                one.add(count, shown)
    for one in counters.values():
        if one is not None and one.series is not None and _is_telling(one, one.series):
            yield _fact(one, one.series, inp)


def _is_telling(one: _Counter, series: Series[_Shown]) -> bool:
    """Whether it rose in the last day that the table shows (before were other runs), or stands at 0, or has one sample only. One
    that stood above 0 all the time tells of errors before it, and of no one of the run."""
    until = series.until.when if series.until else None
    since = one.latest.ns - until.ns if one.latest and until else 0
    return (series.increase > 0 and since <= _DAY_NS) or not series.last or series.samples == 1


def _measured(
    columns: Sequence[str], cells: Sequence[str], at: int, value: int | None
) -> Iterator[tuple[object, Mapping[str, str], str]]:
    """Of a row, by what knows a series: the labels, and the value."""
    if value is None:
        for number, column in enumerate(columns):
            if number != at:
                yield number, _labels(column), cells[number]
        return
    told = {column: cell for n, (column, cell) in enumerate(zip(columns, cells, strict=True)) if n not in (at, value)}
    name = next((told[column] for column in told if column.lower() in _SERIES), "")
    yield tuple(told.values()), {**told, **_labels(name)}, cells[value]


def _labels(name: str) -> dict[str, str]:
    """The labels of a series; what else it is called as `legend`."""
    return {**labels_of(name), "legend": name.partition("{")[0] if "{" in name else name}


def _counter_of(said: Mapping[str, str], inp: Input) -> _Counter | None:
    """The counter that a series is and that says where it is; None for others."""
    words = " ".join(said.values())
    name = next((counter for counter in COUNTERS if counter in words), None)
    name = name or next((counter for counter in COUNTERS if counter in inp.name.lower()), None)
    told, legend = _place(said)
    place = told.over(inp.place)
    is_told = place.host is not None or place.instance_id is not None
    if name is None or _DERIVED.search(words) or not (is_told or legend):
        return None
    return _Counter(name, place, "" if is_told else legend)


def _place(said: Mapping[str, str]) -> tuple[Place, str]:
    """Where a series is, and the words of its legend that nothing in it explains."""
    named = {label.lower(): text for label, text in said.items() if text}
    legend = named.get("legend", "")
    device = next((text for label in _DEVICES if _NUMBER.fullmatch(text := named.get(label, ""))), None)
    in_legend = _DEVICE.search(legend)
    if device is None and in_legend:
        device = in_legend[1]
    rest = legend.replace(in_legend[0], " ") if in_legend else legend
    words = [word for text in rest.split() if (word := text.strip("\"'()[]/,")) and word not in COUNTERS]
    in_words = [word for word in words if has_shape_of_host(word)]
    hosts = [named[label] for label in _HOSTS if label in named and not named[label].isdecimal()] or in_words
    instance = named.get("instance_id") or next((word for word in words if _INSTANCE.fullmatch(word)), None)
    host = without_port(hosts[0]) if hosts else None
    if host and _INSTANCE.fullmatch(host):
        host, instance = None, instance or host
    place = Place(host=host, instance_id=instance, device=int(device) if device is not None else None)
    return place, " ".join(word for word in words if not word.isdecimal())


def _count(text: str) -> int | None:
    """A whole number; None where there is no sample."""
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if math.isfinite(value) and 0 <= value < _INT64 else None


def _fact(one: _Counter, series: Series[_Shown], inp: Input) -> Fact:
    """With the row that first shows an increase, else the last one."""
    data: dict[str, Value] = {
        "name": one.name,
        "first": int(series.first),
        "last": int(series.last),
        "increase": int(series.increase),
        "samples": series.samples,
        "held": series.held,
    }
    shown = series.evidence if series.increase else one.last
    if series.until is not None and (until := _utc(series.until)) is not None:
        data["until_ns"] = until.ns
    if one.legend:
        data[LEGEND] = one.legend
    number, offset, raw = shown.row
    span = span_of(inp.path, raw, offset, number, 1)
    return Fact("counter", data, one.place, span, inp.source_id, _utc(shown) if series.increase else None)


def _utc(shown: _Shown) -> Instant | None:
    return shown.when if shown.when is not None and shown.when.clock is Clock.UTC else None
