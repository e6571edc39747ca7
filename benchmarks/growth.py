"""Whether cost grows linearly: 1, 4, 16 and 64 shards, ranks and sizes; and the picture of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from benchmarks.flight_recorder_dumps import write_dumps
from benchmarks.measure import Bench, Measure, Prepared
from benchmarks.processes import Command, Cost
from benchmarks.ratios import Goal
from benchmarks.sizes import FULL
from benchmarks.store import files_of

TIMES = (1, 4, 16, 64)
SHARDS, RANKS, SIZE = "shards", "ranks", "size"
_SERIES = {SHARDS: "#0b62a4", RANKS: "#b3541e", SIZE: "#2e7d32"}
_SMALLEST_JOB = 32
_ENTRIES = 2000

_WIDTH, _HEIGHT, _MARGIN = 560, 360, 56


def _name(series: str, times: int) -> str:
    return f"{times} {series}"


def _commands(bench: Bench) -> Prepared:
    logs = files_of(bench.logs)
    commands: dict[str, Command] = {}
    for times in TIMES:
        commands[_name(SHARDS, times)] = bench.diagnose(*logs[:times])
        commands[_name(RANKS, times)] = bench.diagnose(_dumps(bench, times))
        commands[_name(SIZE, times)] = bench.diagnose(_one_log(bench, times))
    return Prepared(commands)


def _dumps(bench: Bench, times: int) -> Path:
    ranks, entries = _SMALLEST_JOB * times, max(_ENTRIES * bench.size // FULL, 64)
    return bench.store.input(
        f"growth-dumps-{ranks}-{entries}",
        lambda to: write_dumps(to, ranks, entries, culprit=ranks // 3),
        recipe="flight_recorder_dumps",
    )


def _one_log(bench: Bench, times: int) -> Path:
    size = bench.size * times // TIMES[-1]
    return bench.store.input(
        f"growth-log-{size}", lambda to: bench.corpus.write(to, size, 1), recipe="log_corpus", of=bench.catalogue
    )


GROWTH = Measure(
    "growth",
    "1, 4, 16 and 64 logs; dumps of 32 to 2,048 ranks; one log of 1/64 to the whole size",
    _commands,
    tuple(Goal(_name(series, 64), _name(series, 16), 1.1, work=4) for series in _SERIES),
)


def picture(costs: Mapping[str, Cost]) -> str:
    """The measured seconds over the factor, both axes logarithmic, as an SVG."""
    series = {name: [costs[_name(name, times)].wall for times in TIMES] for name in _SERIES}
    low = 10 ** math.floor(math.log10(min(map(min, series.values()))))
    high = 10 ** math.ceil(math.log10(max(map(max, series.values()))))

    def x(times: float) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * math.log(times, TIMES[-1])

    def y(seconds: float) -> float:
        return _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * math.log(seconds / low, high / low)

    lines = [_text(_WIDTH / 2, 24, "neuron-doctor diagnose, one worker: seconds over how much it reads")]
    for times in TIMES:
        lines += [_line(x(times), y(low), x(times), y(high)), _text(x(times), y(low) + 20, f"{times} ×")]
    for power in range(round(math.log10(high / low)) + 1):
        seconds = low * 10**power
        lines += [_line(x(1), y(seconds), x(64), y(seconds)), _text(x(1) - 26, y(seconds) + 4, f"{seconds:g} s")]
    for (name, colour), place in zip(_SERIES.items(), range(3), strict=True):
        walls = series[name]
        points = " ".join(f"{x(times):.1f},{y(wall):.1f}" for times, wall in zip(TIMES, walls, strict=True))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [
            f'<circle cx="{p.split(",")[0]}" cy="{p.split(",")[1]}" r="3" fill="{colour}"/>' for p in points.split()
        ]
        lines.append(_text(x(1) + 36, y(high) + 18 + 18 * place, name, colour))
    body = "\n".join(lines)
    frame = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>\n{body}\n</svg>\n'


def _text(x: float, y: float, text: str, colour: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">{text}</text>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'
