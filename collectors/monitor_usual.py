"""The reports of a stream that are like the one before: nearly all of a stream of gigabytes. They are decoded by a type
that admits nothing else, and read by column, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field

from neuron_doctor.collectors.base import UNREADABLE_JSON
from neuron_doctor.collectors.monitor_columns import Column, Paths, columns_of
from neuron_doctor.collectors.monitor_like import decoder_like
from neuron_doctor.collectors.monitor_readings import Capacity, observed
from neuron_doctor.collectors.monitor_series import Board, Followed, key_of
from neuron_doctor.collectors.monitor_stream import Sample

#: So many bytes of reports are read at once.
_BATCH = 1024 * 1024
#: A type costs as much as some dozens of reports: the first waits for `_FIRST`, and one that served fewer than `_WORTH` lets
#: the next one wait, in the end so long.
_FIRST, _WORTH, _MAX_WAIT = 32, 64, 4096


class _Group(Struct):
    """A group of the reports, with the columns of the series that it feeds; none where its value is always the same."""

    followed: Followed
    columns: Sequence[Column]


class _Model(Struct):
    """What reports are like: their type, and where they are followed."""

    decode: Callable[[bytes], Any]
    paths: Paths
    groups: Sequence[_Group]
    board: Board
    capacity: Capacity

    def follows(self, board: Board, capacity: Capacity) -> bool:
        """Whether reports like it would be read as they were."""
        return self.board is board and self.capacity == capacity


class Usual(Struct):
    """Takes the reports that are like the last one. Of other samples it is told when they are `folded`, before which it is
    to `settle`."""

    _model: _Model | None = None
    _after_like: bool = False
    _like: bytes | None = None
    _reports: list[Any] = field(default_factory=list)
    _samples: list[Sample] = field(default_factory=list)
    _bytes: int = 0
    _served: int = 0
    _patience: int = 1
    _wait: int = field(default_factory=lambda: _FIRST)

    def takes(self, line: bytes) -> bool:
        """Whether the line is a report like the model, and so was the last one: a group that had another value may have
        come back to the one before. The sample of what was taken is handed to `add`."""
        if self._model is None:
            return False
        try:
            report = self._model.decode(line)
        except UNREADABLE_JSON:
            return False
        if self._after_like:
            self._reports.append(report)
        else:
            self._like = line
        return self._after_like

    def add(self, sample: Sample) -> None:
        """Follow the sample of a line that was taken."""
        self._samples.append(sample)
        self._bytes += len(sample.raw)
        if self._bytes > _BATCH:
            self.settle()

    def settle(self) -> None:
        """Let the series know of all samples so far."""
        if self._model is None or not self._samples:
            return
        table = self._model.paths.table(self._reports)
        for group in self._model.groups:
            if group.columns:
                group.followed.see_columns([column(table) for column in group.columns], self._samples)
            else:
                group.followed.see_again(len(self._samples), self._samples[-1])
        self._served += len(self._samples)
        self._reports, self._samples, self._bytes = [], [], 0

    def folded(self, sample: Sample, board: Board, capacity: Capacity) -> None:
        """Another sample was folded, which may be the first of many alike."""
        alike = sample.raw is self._like
        self._after_like = alike and self._model is not None and self._model.follows(board, capacity)
        self._like = None
        if self._after_like:
            return
        if self._served > _WORTH:
            self._patience, self._wait, self._served = 1, 0, 0
        self._wait -= 1
        if self._wait <= 0:
            self._wait = self._patience
            self._patience = min(2 * self._patience, _MAX_WAIT)
            self._served = 0
            self._model = _model_of(sample, board, capacity)
            self._after_like = self._model is not None


def _model_of(sample: Sample, board: Board, capacity: Capacity) -> _Model | None:
    """The model of reports like one that was folded just now; None where that would not be read by column as it was."""
    decode = decoder_like(sample.report) if sample.whole else None
    if decode is None:
        return None
    paths = Paths()
    columns_by_group = columns_of(paths, sample.report, capacity)
    try:
        table = paths.table([decode(sample.raw)])
    except UNREADABLE_JSON:
        return None
    groups: dict[tuple[str, int | None], _Group] = {}
    for name, pid, value, read in observed(sample.report):
        followed, columns = board.groups.get((name, pid)), columns_by_group.get((name, pid), [])
        if followed is None or (name, pid) in groups:
            return None
        by_column = [(series.key, column(table)[0]) for series, column in zip(followed.fed, columns, strict=False)]
        readings = [(key_of(reading, pid), reading.value) for reading in read(value, capacity)]
        if columns and not (by_column == readings and len(columns) == len(followed.fed) == len(readings)):
            return None
        groups[name, pid] = _Group(followed, columns)
    return _Model(decode, paths, list(groups.values()), board, capacity)
