"""The suite: `benchmarks/run`, or `python -m benchmarks.run`. Measures, compares with what was recorded, writes the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.growth import GROWTH
from benchmarks.log_measures import LOG_MEASURES
from benchmarks.measure import Bench, Measure, NotRead, Prepared, read_by_doctor
from benchmarks.page import rows, write
from benchmarks.processes import Command, CommandFailed, Cost, cost_of, program
from benchmarks.ratios import worsened
from benchmarks.records import Records, Result
from benchmarks.sizes import FULL, parsed, shown
from benchmarks.store import Store, default_directory
from benchmarks.stream_measures import STREAM_MEASURES

MEASURES = (*LOG_MEASURES, *STREAM_MEASURES, GROWTH)


def measured(measure: Measure, bench: Bench, rounds: int) -> Result:
    """Every command once for warming up, then in turn. Raises CommandFailed and NotRead."""
    prepared = measure.prepare(bench)
    commands = _runnable(measure, prepared)
    read_by_doctor(prepared)
    for command in commands.values():
        cost_of(command)
    return Result.of(measure, [_round(commands) for _ in range(rounds)])


def _runnable(measure: Measure, prepared: Prepared) -> dict[str, Command]:
    """The commands without the yardsticks that are not installed."""
    return {
        name: command
        for name, command in prepared.commands.items()
        if name not in measure.needs or program(measure.needs[name]) is not None
    }


def _round(commands: dict[str, Command]) -> dict[str, Cost]:
    return {name: cost_of(command) for name, command in commands.items()}


def compared(measure: Measure, bench: Bench, rounds: int, recorded: Result, result: Result) -> list[str]:
    """What got worse. A measure that seems to have is measured once more: the machine may have been busy."""
    worse = list(worsened(recorded.ratios, result.ratios))
    if not worse:
        return []
    print("  measured again, for it seems worse than what was recorded", flush=True)
    again = list(worsened(recorded.ratios, measured(measure, bench, rounds).ratios))
    return [f"{measure.name}: {line}" for line in again]


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="benchmarks/run", description=__doc__)
    names = [measure.name for measure in MEASURES]
    parser.add_argument(
        "--only", action="append", choices=names, metavar="NAME", help=f"may be repeated: {', '.join(names)}"
    )
    parser.add_argument("--size", type=parsed, default=FULL, help="of the logs; all else goes with it [2G]")
    parser.add_argument("--rounds", type=int, default=5, help="in each, every command runs once [5]")
    parser.add_argument("--check", action="store_true", help="fail if a ratio is a quarter worse than recorded")
    parser.add_argument("--write", action="store_true", help="record the ratios, and write docs/benchmarks.md")
    parser.add_argument("--scratch", type=Path, default=default_directory(), help="where inputs are kept [%(default)s]")
    parser.add_argument("--peer", type=Path, help="an environment with torch, for PyTorch's own analyser")
    return parser.parse_args(given)


def main() -> int:
    """0; 1 if something got worse, could not be measured or was not recorded before `--check`."""
    options = arguments()
    bench = Bench(options.size, Store(options.scratch.resolve()), options.peer)
    records, size = Records.read(), shown(options.size)
    recorded = dict(records.results.get(size, {}))
    wrong: list[str] = []
    for measure in MEASURES:
        if options.only and measure.name not in options.only:
            continue
        print(f"{measure.name}: {measure.says}", flush=True)
        try:
            result = measured(measure, bench, options.rounds)
            if options.check and measure.name in recorded:
                wrong += compared(measure, bench, options.rounds, recorded[measure.name], result)
            elif options.check:
                wrong.append(f"{measure.name}: nothing was recorded at size {size}")
        except (CommandFailed, NotRead) as error:
            print(f"  {error}", flush=True)
            wrong.append(f"{measure.name}: {error}")
            continue
        print(*(f"  {row}" for row in list(rows([measure], {measure.name: result}))[2:]), sep="\n", flush=True)
        if options.write:
            records.results.setdefault(size, {})[measure.name] = result
            records.write()
            write(MEASURES, records.results[size], size)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
