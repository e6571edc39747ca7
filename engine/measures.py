"""What becomes of a field over a window of records: sums, percentiles, increases and rates, in one pass over the records."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from neuron_doctor.engine.facts import Fact

#: A record with its time in nanoseconds and the value of the field.
Sample = tuple[int, Fact, float]


class _Running(Protocol):
    """The value of a window whose records come at its end and go at its beginning."""

    def add(self, sample: Sample) -> None: ...
    def remove(self, sample: Sample) -> None: ...
    def value(self) -> float | None: ...


def measured(samples: Sequence[Sample], take: str, within_ns: int | None, per_ns: int) -> Iterator[tuple[float, slice]]:
    """For each record the value of the window that ends with it and reaches back `within_ns` (None: to the first), and which
    samples that is. `take`: sum, mean, min, max, p1 to p99, increase, rate (for `per_ns`). The samples are in the order of
    their times; windows without a value (a rate over no time) are left out."""
    running = _running(take, per_ns)
    start = 0
    for end, sample in enumerate(samples):
        running.add(sample)
        while within_ns is not None and sample[0] - samples[start][0] > within_ns:
            running.remove(samples[start])
            start += 1
        value = running.value()
        if value is not None:
            yield value, slice(start, end + 1)


def _running(take: str, per_ns: int) -> _Running:
    if take in _TOTALS:
        return _Total(_TOTALS[take])
    if take == "increase":
        return _Increase(None)
    if take == "rate":
        return _Increase(per_ns)
    return _Ordered(_ENDS[take] if take in _ENDS else int(take[1:]) / 100)


_ENDS: Mapping[str, float] = {"min": 0.0, "max": 1.0}
_TOTALS: Mapping[str, Callable[[float, int], float]] = {
    "sum": lambda total, _: total,
    "mean": lambda total, n: total / n,
}


class _Total:
    """Sum or mean; a record that a storm folded counts as often as it was."""

    def __init__(self, of: Callable[[float, int], float]) -> None:
        self._of = of
        self._total: float = 0
        self._records = 0

    def add(self, sample: Sample) -> None:
        times = 1 + sample[1].repeats
        self._total += sample[2] * times
        self._records += times

    def remove(self, sample: Sample) -> None:
        times = 1 + sample[1].repeats
        self._total -= sample[2] * times
        self._records -= times

    def value(self) -> float | None:
        return self._of(self._total, self._records)


class _Ordered:
    """The value below which a share of the values lies (the nearest one there is: ISO 80000, nearest rank)."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._values: list[float] = []

    def add(self, sample: Sample) -> None:
        insort(self._values, sample[2])

    def remove(self, sample: Sample) -> None:
        del self._values[bisect_left(self._values, sample[2])]

    def value(self) -> float | None:
        number = len(self._values)
        rank = -(-self._share * number // 1)
        return self._values[max(int(rank) - 1, 0)]


class _Increase:
    """By how much counters grew: of each source at each place, the sum of its rises. One that falls was reset and counts from
    there. With a time, for that long."""

    def __init__(self, per_ns: int | None) -> None:
        self._per_ns = per_ns
        self._values: dict[tuple[object, ...], deque[float]] = defaultdict(deque)
        self._rise: float = 0
        self._times: deque[int] = deque()

    def add(self, sample: Sample) -> None:
        own = self._values[_counter(sample[1])]
        if own:
            self._rise += max(sample[2] - own[-1], 0)
        own.append(sample[2])
        self._times.append(sample[0])

    def remove(self, sample: Sample) -> None:
        own = self._values[_counter(sample[1])]
        own.popleft()
        if own:
            self._rise -= max(own[0] - sample[2], 0)
        self._times.popleft()

    def value(self) -> float | None:
        if self._per_ns is None:
            return self._rise
        took = self._times[-1] - self._times[0]
        return self._rise * self._per_ns / took if took else None


def _counter(fact: Fact) -> tuple[object, ...]:
    return fact.source, fact.place, fact.name, fact.data.get("name")
