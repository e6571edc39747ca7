"""The readings of a neuron-monitor stream over time: one series for each name and place, in memory that does not grow
with the length of the stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from neuron_doctor.collectors.monitor_readings import Capacity, Mode, Observed, Reading
from neuron_doctor.collectors.monitor_stream import Sample

#: So many series of one instance are followed: 128 cores and as many processes make about 4,000.
MAX_SERIES = 32_768

#: Name, pid, device, core, physical core.
Key = tuple[str, int | None, int | None, int | None, int | None]


def key_of(reading: Reading, pid: int | None) -> Key:
    """The series that a reading belongs to."""
    return reading.name, pid, reading.device, reading.core, reading.part


_S = TypeVar("_S")


class Series(Struct, Generic[_S]):
    """One value over time. `increase` sums what a counter grew by; `evidence` is the sample that first showed an
    increase, else (of a level) the last value; `until` is the sample of the last increase; `held` counts the last
    samples with an equal value."""

    key: Key
    group: str
    mode: Mode
    first: float
    last: float
    least: float
    most: float
    limit: float
    evidence: _S
    until: _S | None = None
    increase: float = 0
    samples: int = 0
    held: int = 0

    def add(self, reading: Reading, sample: _S) -> None:
        """One more value. This runs for every value of a stream of gigabytes."""
        value = reading.value
        if self.mode is not Mode.LEVEL and (grown := self._grown(value)):
            if not self.increase:
                self.evidence = sample
            self.increase += grown
            self.until = sample
        if value != self.last:
            self.held = 0
            self.last = value
            if value < self.least:
                self.least = value
            elif value > self.most:
                self.most = value
            if self.mode is Mode.LEVEL:
                self.evidence = sample
        self.limit = reading.limit
        self.samples += 1
        self.held += 1

    def repeat(self, times: int, latest: _S) -> None:
        """So many more samples with the last value."""
        self.samples += times
        self.held += times
        if self.mode is Mode.PERIODIC and self.last > 0:
            self.increase += self.last * times
            self.until = latest

    def add_all(self, values: Sequence[float], samples: Sequence[_S]) -> None:
        """So many more values in a row, as `add` would take them one by one; of a level, or periodic whole numbers."""
        count = len(values)
        if values[0] == self.last and values.count(self.last) == count:
            self.repeat(count, samples[-1])
            return
        if self.mode is Mode.PERIODIC:
            self._grow_all(values, samples)
        held = _run(values)
        self.samples += count
        self.held = held
        self.last = values[-1]
        self.least = min(self.least, *values)
        self.most = max(self.most, *values)
        if self.mode is Mode.LEVEL:
            self.evidence = samples[count - held]

    def _grow_all(self, values: Sequence[float], samples: Sequence[_S]) -> None:
        grown = [number for number, value in enumerate(values) if value > 0]
        if grown:
            if not self.increase:
                self.evidence = samples[grown[0]]
            self.increase += sum(values[number] for number in grown)
            self.until = samples[grown[-1]]

    def _grown(self, value: float) -> float:
        """By how much a counter rose."""
        if self.mode is Mode.PERIODIC:
            return max(value, 0)
        if not self.samples:
            return 0
        return value - self.last if value >= self.last else value  # the driver was reloaded, or the counter cleared


def _run(values: Sequence[float]) -> int:
    """How many equal ones there are at the end."""
    held = 1
    while held < len(values) and values[-held - 1] == values[-1]:
        held += 1
    return held


#: The value of a group that was read by column: no other is equal to it.
_BY_COLUMN = object()


class Followed(Struct):
    """A group: its value when it last changed, the series that it feeds (as long as the instance has what it had then),
    and how often it came again unchanged."""

    value: Any = None
    capacity: Capacity | None = None
    fed: list[Series[Sample]] = field(default_factory=list)
    again: int = 0
    latest: Sample | None = None

    def see_again(self, times: int, latest: Sample) -> None:
        """So many more samples have the value of the last one."""
        self.again += times
        self.latest = latest

    def see_columns(self, columns: Sequence[Sequence[float]], samples: Sequence[Sample]) -> None:
        """So many more samples: the values of each series that is fed."""
        self.settle()
        self.value = _BY_COLUMN
        for series, values in zip(self.fed, columns, strict=True):
            series.add_all(values, samples)

    def settle(self) -> None:
        """Let the series know of the unchanged samples, which cost no reading."""
        if self.latest is not None and self.again:
            for series in self.fed:
                series.repeat(self.again, self.latest)
        self.again = 0


class Board(Struct):
    """All series of one instance."""

    series: dict[Key, Series[Sample]] = field(default_factory=dict)
    groups: dict[tuple[str, int | None], Followed] = field(default_factory=dict)
    full: bool = False

    def see(self, observed: Observed, capacity: Capacity, sample: Sample) -> None:
        """Follow the group through one more sample."""
        name, pid, value, read = observed
        followed = self.groups.get((name, pid))
        if followed is None:
            if len(self.series) >= MAX_SERIES:
                self.full = True
                return
            followed = self.groups[name, pid] = Followed()
        elif value == followed.value and (capacity is followed.capacity or capacity == followed.capacity):
            followed.see_again(1, sample)
            return
        if followed.again:
            followed.settle()
        followed.value, followed.capacity = value, capacity
        followed.fed = [self._fed(reading, name, pid, sample) for reading in read(value, capacity)]

    def settled(self) -> Iterator[Series[Sample]]:
        """Every series, complete, in the order in which they were first seen."""
        for followed in self.groups.values():
            followed.settle()
        yield from self.series.values()

    def _fed(self, reading: Reading, group: str, pid: int | None, sample: Sample) -> Series[Sample]:
        key = key_of(reading, pid)
        series = self.series.get(key)
        if series is None:
            value = reading.value
            series = Series(key, group, reading.mode, value, value, value, value, reading.limit, sample)
            self.series[key] = series
        series.add(reading, sample)
        return series
