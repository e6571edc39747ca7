"""The page with the figures: `docs/benchmarks.md`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.growth import GROWTH, picture
from benchmarks.measure import Measure
from benchmarks.ratios import Goal, Limit, verdict
from benchmarks.records import Result

_DOCS = Path(__file__).parents[1] / "docs"
_INTRODUCTION = """\
# What it costs

Written by `benchmarks/run --write` ([how to run it](../benchmarks/README.md)); do not edit it. Every figure is of whole
processes on one machine with the inputs in the page cache: the median over rounds in each of which every command ran once.
A ratio is the time of the first over that of the second, so smaller is better; the goal is on wall time, and CPU is user
and system time of all processes. Memory is the peak of the largest process.
"""


def rows(measures: Sequence[Measure], results: Mapping[str, Result]) -> Iterator[str]:
    """The table: a row for each goal."""
    yield "| measure | what | goal | wish | measured | CPU | verdict |"
    yield "|---|---|---|---|---|---|---|"
    for measure in measures:
        result = results.get(measure.name)
        yield from (_row(measure.name, goal, result) for goal in measure.goals)
        yield from (_row(measure.name, limit, result) for limit in measure.limits)


def _row(name: str, goal: Goal | Limit, result: Result | None) -> str:
    digits = 2 if isinstance(goal, Goal) else 0
    wish = "" if goal.wish is None else f"≤ {goal.wish:.{digits}f}"
    cells = [name, _cell(goal.name), f"≤ {goal.must:.{digits}f}", wish]
    found = _figures(goal, result)
    if found is None:
        return f"| {' | '.join([*cells, '', '', 'not measured'])} |"
    wall, cpu = found
    return f"| {' | '.join([*cells, f'{wall:.{digits}f}', cpu, verdict(wall, goal)])} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _figures(goal: Goal | Limit, result: Result | None) -> tuple[float, str] | None:
    """The figure that is judged, and the CPU ratio beside it."""
    if result is None:
        return None
    if isinstance(goal, Limit):
        cost = result.costs.get(goal.of)
        return None if cost is None else (cost.peak_mb, "")
    found = result.ratios.get(goal.name)
    return None if found is None else (found.wall, f"{found.cpu:.2f}")


def costs(measures: Sequence[Measure], results: Mapping[str, Result]) -> Iterator[str]:
    """The other table: seconds and memory of every command."""
    yield "| measure | command | wall, s | CPU, s | peak, MB |"
    yield "|---|---|---|---|---|"
    for measure in measures:
        if measure.name in results:
            for command, cost in results[measure.name].costs.items():
                yield f"| {measure.name} | {_cell(command)} | {cost.wall:.2f} | {cost.cpu:.2f} | {cost.peak_mb:.0f} |"


def page(measures: Sequence[Measure], results: Mapping[str, Result], size: str) -> str:
    """The whole page."""
    machines = sorted({result.machine for result in results.values()})
    about = [f"- `{measure.name}`: {measure.says}" for measure in measures]
    parts = [
        _INTRODUCTION,
        f"Size: {size}. Machine: {'; '.join(machines)}.\n",
        "\n".join(about) + "\n",
        "\n".join(rows(measures, results)) + "\n",
    ]
    if GROWTH.name in results:
        parts.append("## Growth\n\n![Seconds over how much is read](growth.svg)\n")
    parts.append("## Seconds and memory\n\n" + "\n".join(costs(measures, results)) + "\n")
    return "\n".join(parts)


def write(measures: Sequence[Measure], results: Mapping[str, Result], size: str, docs: Path = _DOCS) -> None:
    """The page, and the picture if growth was measured."""
    (docs / "benchmarks.md").write_text(page(measures, results, size), "utf-8")
    if GROWTH.name in results:
        (docs / "growth.svg").write_text(picture(results[GROWTH.name].costs), "utf-8")
