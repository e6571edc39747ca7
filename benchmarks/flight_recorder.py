"""What a verdict on the dumps of a large job costs, beside the floor: reading the files, and unpickling them safely.

Run `python -m benchmarks.flight_recorder` from the top of the repository with the Python that neuron-doctor is
installed for. Every figure is the wall time of a whole process, the median of interleaved runs; the dumps are written to
a temporary directory and removed at the end. Needs 0.4 MB of disk for each rank.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.flight_recorder_dumps import write_dumps
from benchmarks.flight_recorder_job import Job
from neuron_doctor.collectors.fr_excerpt import RECENT
from neuron_doctor.engine.collectives import match_collectives
from neuron_doctor.engine.facts import Fact, Place, Span, Value
from neuron_doctor.engine.recorder import COLLECTIVE, GroupRecord, Operation, ranks_text

#: Seconds, MB at the most: of one process.
Cost = tuple[float, float]

_READ = """
import sys
from pathlib import Path
for path in sorted(Path(sys.argv[1]).iterdir()):
    with path.open("rb") as file:
        file.read()
"""
_UNPICKLE = """
import gc, pickle, sys
from pathlib import Path
class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(name)
gc.disable()
for path in sorted(Path(sys.argv[1]).iterdir()):
    with path.open("rb") as file:
        Plain(file).load()
"""
_WAYS = {
    "read": [sys.executable, "-c", _READ],
    "pickle.load, restricted": [sys.executable, "-c", _UNPICKLE],
    "neuron-doctor diagnose": [sys.executable, "-m", "neuron_doctor", "diagnose", "--exit-zero"],
}


def cost_of(command: list[str]) -> Cost:
    """What one process costs; raises CalledProcessError if it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def measured(ranks: int, entries: int, runs: int) -> Iterator[str]:
    """The table of one size, line by line."""
    with tempfile.TemporaryDirectory(prefix="flight-recorder-") as directory:
        write_dumps(Path(directory), ranks, entries, culprit=ranks // 3)
        size = sum(path.stat().st_size for path in Path(directory).iterdir())
        yield f"{ranks} ranks x {entries} entries, {size / 1e6:.0f} MB"
        costs: dict[str, list[Cost]] = {way: [] for way in _WAYS}
        for _ in range(runs):
            for way, command in _WAYS.items():
                costs[way].append(cost_of([*command, directory]))
    seconds = {way: statistics.median(cost[0] for cost in found) for way, found in costs.items()}
    for way, found in costs.items():
        ratio = seconds[way] / seconds["pickle.load, restricted"]
        yield f"  {way:<26}{seconds[way]:7.2f} s {max(cost[1] for cost in found):6.0f} MB   x {ratio:.2f}"


def facts_of(ranks: int) -> list[Fact]:
    """What the dumps of a job without a pipeline say, made without the dumps: one rank never joins."""
    job = Job(ranks, pp=1)
    culprit = ranks // 3
    at = [number for number, step in enumerate(job.steps[culprit]) if step.desc == "TENSOR"][2]
    members = {name: ranks_text(listed) for name, (_, listed) in job.groups.items()}
    return [_fact(job, rank, stop, members, idle=rank == culprit) for rank, stop in job.stops(culprit, at).items()]


def _fact(job: Job, rank: int, stop: int, members: dict[str, str], *, idle: bool) -> Fact:
    steps = job.steps[rank] * 3
    last = 2 * len(job.steps[rank]) + stop
    groups = []
    for number, (desc, name) in enumerate(job.of_rank[rank].items()):
        own = [(at, step) for at, step in enumerate(steps[: last + (not idle)]) if step.group == name and not step.ends]
        listed = [
            Operation(at, COLLECTIVE, one.name, seq, seq, "completed" if at < last else "scheduled", 1, 1, "", at, -1)
            for seq, (at, one) in enumerate(own)
        ]
        done = [one for one in listed if one.state == "completed"]
        record = GroupRecord(
            name, desc, number, members[name], len(listed), -1, len(done), True, False, len(listed), True, False, False,
            tuple(done[-RECENT:]), tuple(listed[len(done) :]), (), (), (),
        )  # fmt: skip
        groups.append(record)
    data: dict[str, Value] = {"entries": last, "whole": True, "issued": last, "last_ns": 1, "groups": tuple(groups)}
    path = f"rank_{rank}"
    return Fact("fr-rank", data, Place(rank=rank), Span(path, 0, 0), path)


def graph(ranks: int) -> str:
    """How long the matching alone takes: from facts to verdicts."""
    facts = facts_of(ranks)
    began = time.perf_counter()
    (found,) = match_collectives(facts)
    seconds = time.perf_counter() - began
    return f"{ranks} ranks, the graph alone: {seconds:.2f} s; {found.data['verdict']} {found.place.ranks}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--graph", type=int, nargs="*", default=[1024, 32_000])
    chosen = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    for ranks in chosen.ranks:
        print(*measured(ranks, chosen.entries, chosen.runs), sep="\n", flush=True)
    for ranks in chosen.graph:
        print(graph(ranks), flush=True)


if __name__ == "__main__":
    main()
