"""What a report says of clocks: how far each is ahead of another, with the error, or that its witnesses disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from neuron_doctor.engine.facts import Clock
from neuron_doctor.engine.moments import Track
from neuron_doctor.engine.orders import Component
from neuron_doctor.engine.timeline import Timeline
from neuron_doctor.engine.verdict import ClockOffset

_SECOND = 1_000_000_000
#: A difference that is known no better says nothing but that both are clocks.
_MOST_ERROR_NS = 12 * 3600 * _SECOND


def clock_table(clocks: Timeline) -> tuple[ClockOffset, ...]:
    """Each clock that evidence joins to another, in the order of hosts: against the first wall clock of its host, and
    that against the clock that most of the evidence is about."""
    rows = [row for one in clocks.offsets.components for row in _rows(clocks, one)]
    rows += [
        ClockOffset(track.host, _name(track), None, None, None, _witnesses(clocks, track))
        for one in clocks.offsets.contradictions
        for track in one.tracks
    ]
    return tuple(sorted(set(rows), key=lambda row: (row.host or "", row.clock, row.reference or "")))


def _rows(clocks: Timeline, component: Component) -> Iterator[ClockOffset]:
    homes: dict[str | None, Track] = {}
    for track in component.tracks:  # in the order of clocks: wall clocks first
        homes.setdefault(track.host, track)
    homes[component.reference.host] = component.reference
    for track in component.tracks:
        reference = homes[track.host] if track != homes[track.host] else component.reference
        row = _row(clocks, track, reference) if track != reference else None
        if row:
            yield row


def _row(clocks: Timeline, track: Track, reference: Track) -> ClockOffset | None:
    low, high = clocks.offsets.between(track, reference)
    if low is None or high is None or high - low > 2 * _MOST_ERROR_NS:
        return None
    ahead, error = (low + high) / 2 / _SECOND, (high - low) / 2 / _SECOND
    named = f"{reference.host} {_name(reference)}" if reference.host else _name(reference)
    return ClockOffset(
        track.host, _name(track), named, round(ahead, 3), round(error + 0.0005, 3), _witnesses(clocks, track)
    )


def _witnesses(clocks: Timeline, track: Track) -> tuple[str, ...]:
    found: Mapping[Track, frozenset[str]] = clocks.offsets.witnesses
    assumed = {"assumed"} if track in clocks.assumed else set()
    return tuple(sorted(found.get(track, frozenset()) | assumed))


def _name(track: Track) -> str:
    return "kernel-local" if track.clock is Clock.HOST_LOCAL and track.part else track.clock.value
