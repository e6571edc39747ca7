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

from collections.abc import Iterator, Sequence

from neuron_doctor.collectors.base import Collector, Input
from neuron_doctor.collectors.delimited import TIME, beginning_of
from neuron_doctor.collectors.device_counters import ECC, HARDWARE
from neuron_doctor.engine.facts import Fact

#: Exporters put words of their own around these.
COUNTERS = (*ECC, *HARDWARE)
#: So many rows tell whether a file is a table.
_LOOKED_AT = 32


def _sniff(head: bytes, name: str) -> bool:
    """Columns of which one is the time, maybe below the command that was asked; rows that have as many; and a counter's name in
    them or in that of the file."""
    begin = beginning_of(head, has_times)
    if begin is None or len(begin.columns) <= 1:
        return False
    told = head.decode("utf-8", "replace").lower() + name.lower()
    return any(counter in told for counter in COUNTERS) and bool(begin.rows(_LOOKED_AT))


def has_times(columns: Sequence[str]) -> bool:
    """Whether one of the columns is the time."""
    return time_column(columns) is not None


def time_column(columns: Sequence[str]) -> int | None:
    """Which one that is."""
    return next((number for number, column in enumerate(columns) if column.lower() in TIME), None)


def _collect(inp: Input) -> Iterator[Fact]:
    from neuron_doctor.collectors.metric_rows import collect  # noqa: PLC0415 - loaded for the first table: few inputs are one

    return collect(inp)


COLLECTOR = Collector("metrics", "exported table of metrics", _sniff, _collect)
