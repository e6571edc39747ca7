"""Tables of Prometheus metrics that people export: Grafana's `Download CSV` of a panel, tables of labels and values.

    Time,ip-10-0-0-1 nd2,ip-10-0-0-1 nd3                                   (a column for each series, called by its legend)
    "Time","hardware_ecc_events_total{event_type=""sram_ecc_uncorrected"", instance=""10.0.0.1:8000"", neuron_device_index=""3""}"
    Series;Time;Value                                                      (older: a row for each series and time)
    timestamp,instance,neuron_device_index,event_type,value                (a column for each label)

Only counters of errors of devices are read, by the names that neuron-monitor and the driver give them, and stated once for each
series. Where no series says which counter it is, the name of the file does, which is the title of the panel. Times without a zone
are those of somebody's browser, and are compared with nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from neuron_doctor.collectors.base import Collector, Input, UnreadableInput
from neuron_doctor.collectors.delimited import Row, cells_of, delimiter_of, rows_of, text_of
from neuron_doctor.collectors.hints import has_shape_of_host
from neuron_doctor.collectors.timestamps import read_iso, read_milliseconds, read_unix
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Value, span_of
from neuron_doctor.engine.regexes import regex

#: The counters, as the driver (sysfs) and neuron-monitor call them; exporters put words of their own around these.
COUNTERS = (
    "mem_ecc_repairable_uncorrected",
    "mem_ecc_uncorrected",
    "mem_ecc_corrected",
    "sram_ecc_uncorrected",
    "sram_ecc_corrected",
    "hw_repairable_hbm_ue_error",
    "hw_hbm_ue_error",
    "hw_nc_ue_error",
    "hw_dma_abort_error",
)
#: What is no counter any more, or one of several devices.
_DERIVED = regex(r"\b(?:i?rate|i?delta|increase|sum|avg|count|deriv|resets|changes)\s{0,4}(?:\(|by\b|without\b)")
_TIME = frozenset({"time", "timestamp", "ts", "date", "datetime", "_time"})
_VALUE = frozenset({"value", "_value", "value #a"})
_SERIES = frozenset({"series", "metric"})
_LABEL = regex(r'([A-Za-z_]\w{0,60})="((?:[^"\\]|\\.){0,400})"')
#: Which label tells the host, the best first; `instance` is where the exporter is asked.
_HOSTS = ("host", "hostname", "node", "nodename", "kubernetes_node", "node_name", "instance")
_DEVICES = ("neuron_device_index", "neuron_device", "neurondevice", "device")
_DEVICE = regex(r"(?i)\b(?:nd|neuron|neuron[_ ]?device|device|dev)[ _#:-]?(\d{1,3})\b")
_INSTANCE = regex(r"i-[0-9a-f]{8,17}")
_NUMBER = regex(r"\d{1,3}")
_MOST_SERIES = 32_768
#: The head of the table is one of so many first lines.
_COMMAND = 2
_DAY_NS = 86_400 * 10**9
_INT64 = 2**63 - 1


class _Series(Struct):
    """A counter over the rows: `row` is the one that first shows an increase, else the last one."""

    name: str
    place: Place
    first: int | None = None
    last: int = 0
    increase: int = 0
    samples: int = 0
    held: int = 0
    row: Row = (0, 0, b"")
    since: Instant | None = None
    until: Instant | None = None
    latest: Instant | None = None

    def add(self, value: int, when: Instant | None, row: Row) -> None:
        """One more sample. What is less than before was counted from 0 again."""
        grown = 0 if self.first is None else value - self.last if value >= self.last else value
        if grown or not self.increase:
            self.row = row if not self.increase else self.row
            self.since = when if grown and not self.increase else self.since
        if grown:
            self.increase, self.until = self.increase + grown, when
        self.latest = when or self.latest
        self.first = value if self.first is None else self.first
        self.held = self.held + 1 if value == self.last and self.samples else 1
        self.last, self.samples = value, self.samples + 1

    def is_telling(self) -> bool:
        """Whether it rose in the last day that the table shows (before were other runs), or never, or nothing tells."""
        since = self.latest.ns - self.until.ns if self.latest and self.until else 0
        return (self.increase > 0 and since <= _DAY_NS) or not self.last or self.samples == 1


def _sniff(head: bytes, name: str) -> bool:
    """Columns of which one is the time, maybe below the command that was asked; rows that have as many; and a counter's name in
    them or in that of the file."""
    lines = head.decode("utf-8-sig", "replace").splitlines()
    at = next((n for n, line in enumerate(lines[:_COMMAND]) if _time_column(cells_of(line)) is not None), None)
    rows = lines[at + 1 : -1] or lines[at + 1 :] if at is not None else []
    if at is None or not rows:
        return False
    columns, delimiter = cells_of(lines[at]), delimiter_of(lines[at])
    told = head.decode("utf-8", "replace").lower() + name.lower()
    alike = sum(len(cells_of(row, delimiter)) == len(columns) for row in rows)
    return len(columns) > 1 and alike == len(rows) and any(counter in told for counter in COUNTERS)


def _time_column(columns: Sequence[str]) -> int | None:
    return next((number for number, column in enumerate(columns) if column.strip().lower() in _TIME), None)


def _collect(inp: Input) -> Iterator[Fact]:
    """The `counter` facts of the table: of each series that rose, that stands at 0, or of which there is one sample only. One
    that stood above 0 all the time tells of errors before it, and of no one of the run."""
    rows = rows_of(inp)
    header = next(
        (row[2] for row in islice(rows, _COMMAND) if _time_column(cells_of(text_of(row[2]))) is not None), b""
    )
    columns = [column.strip() for column in cells_of(text_of(header))]
    at = _time_column(columns)
    if at is None:
        raise UnreadableInput("the table of metrics has no column of times")
    value = next((number for number, column in enumerate(columns) if column.lower() in _VALUE), None)
    delimiter = delimiter_of(text_of(header))
    series: dict[object, _Series | None] = {}
    for row in rows:
        cells = cells_of(text_of(row[2]), delimiter)
        if len(cells) != len(columns):
            inp.problem("a row of the table has another number of columns than its head", row[0])
            continue
        inp.records += 1
        when = _instant(cells[at].strip())
        for key, said, measured in _measured(columns, cells, at, value):
            if key not in series:
                series[key] = _series_of(said, inp) if len(series) < _MOST_SERIES else None
            one, count = series[key], _count(measured)
            if one is not None and count is not None:
                one.add(count, when, row)
    for one in series.values():
        if one is not None and one.samples and one.is_telling():
            yield _fact(one, inp)


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
    """The labels of a series as Prometheus writes them; what else it is called as `legend`."""
    return {**dict(_LABEL.findall(name)), "legend": name.partition("{")[0] if "{" in name else name}


def _series_of(said: Mapping[str, str], inp: Input) -> _Series | None:
    """The series of a counter that says where it is; None for others."""
    words = " ".join(said.values())
    name = next((counter for counter in COUNTERS if counter in words), None)
    name = name or next((counter for counter in COUNTERS if counter in inp.name.lower()), None)
    place = _place(said).over(inp.place)
    if name is None or _DERIVED.search(words) or (place.host is None and place.instance_id is None):
        return None
    return _Series(name, place)


def _place(said: Mapping[str, str]) -> Place:
    named = {label.lower(): text for label, text in said.items() if text}
    legend = named.get("legend", "")
    device = next((text for label in _DEVICES if _NUMBER.fullmatch(text := named.get(label, ""))), None)
    in_legend = _DEVICE.search(legend)
    if device is None and in_legend:
        device = in_legend[1]
    rest = legend.replace(in_legend[0], " ") if in_legend else legend
    words = [word for text in rest.split() if (word := text.strip("\"'()[]/,")) and word not in COUNTERS]
    in_words = [word for word in words if has_shape_of_host(word)] or (words if len(words) == 1 else [])
    hosts = [named[label] for label in _HOSTS if label in named] or in_words
    instance = named.get("instance_id") or next((word for word in words if _INSTANCE.fullmatch(word)), None)
    host = hosts[0].rpartition(":")[0] if hosts and hosts[0].count(":") == 1 else hosts[0] if hosts else None
    if host and _INSTANCE.fullmatch(host):
        host, instance = None, instance or host
    return Place(host=host, instance_id=instance, device=int(device) if device is not None else None)


def _count(text: str) -> int | None:
    """A whole number; None where there is no sample."""
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if math.isfinite(value) and 0 <= value < _INT64 else None


def _instant(text: str) -> Instant | None:
    """When a row was, by whatever clock."""
    return read_iso(text.replace(" ", "T", 1)) or read_milliseconds(text) or read_unix(text)


def _fact(one: _Series, inp: Input) -> Fact:
    data: dict[str, Value] = {
        "name": one.name,
        "first": one.first or 0,
        "last": one.last,
        "increase": one.increase,
        "samples": one.samples,
        "held": one.held,
    }
    if one.until is not None and one.until.clock is Clock.UTC:
        data["until_ns"] = one.until.ns
    since = one.since if one.since is not None and one.since.clock is Clock.UTC else None
    number, offset, raw = one.row
    span = span_of(inp.path, raw, offset, number, 1)
    return Fact("counter", data, one.place, span, inp.source_id, since)


COLLECTOR = Collector("metrics", "exported table of metrics", _sniff, _collect)
