"""Parts of a fleet: how large they are, and what joining them costs: `python -m benchmarks.fleet`.

Two jobs are simulated, one of which is healthy; of the other one a device fails. Their hosts are the shapes of which nodes are
made: under new names, with ranks of their own. All nodes but one are healthy. The parts of all are written as `neuron-doctor
part` would, then joined and diagnosed, each size in a process of its own. The verdict has to name the one node.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import blake2b, sha256
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from neuron_doctor.corpus.simulator.incident import simulate, write
from neuron_doctor.corpus.simulator.scenario import draw
from neuron_doctor.corpus.simulator.style import Recorder
from neuron_doctor.engine.diagnosis import diagnose_once
from neuron_doctor.engine.facts import Fact, Place, Searched
from neuron_doctor.engine.readings import Reading
from neuron_doctor.engine.searched import searched_by
from neuron_doctor.parts import part_of
from neuron_doctor.pipeline import collect, read, rulebook_for
from neuron_doctor.request import Request

SEED, RANKS = 7, 32
HEALTHY, BROKEN = "healthy", "hw-hbm-ue"


class Shape(NamedTuple):
    """What one host of a simulated job says: `size` bytes of logs, by so many ranks."""

    host: str
    readings: Sequence[Reading]
    ranks: int
    size: int


class Cost(NamedTuple):
    """What it cost to join and diagnose so many parts."""

    facts: int
    read_s: float
    diagnosed_s: float
    peak_mb: float
    headline: str


def shapes(fault: str) -> Iterator[Shape]:
    """The hosts of a simulated job that say of themselves who they are."""
    request = Request(())
    with tempfile.TemporaryDirectory() as folder:
        write(simulate(draw(SEED, fault=fault, ranks=RANKS, recorder=Recorder.NONE)), Path(folder))
        request = Request((f"{folder}/input",), {f"{folder}/input": "job"})
        some = read(request, rulebook_for(request))
    for host in sorted({reading.source.place.host for reading in some if reading.source.place.host}):
        own = [reading for reading in some if reading.source.place.host == host]
        ranks = {fact.place.rank for reading in own for fact in reading.facts} - {None}
        yield Shape(host, own, len(ranks), sum(reading.source.size for reading in own))


def node(shape: Shape, number: int, world: int) -> Iterator[Reading]:
    """The shape under another name, with the ranks of this node."""
    name = f"ip-10-{number // 65025}-{number // 255 % 255}-{number % 255}"
    first = number * RANKS

    def placed(place: Place) -> Place:
        rank = place.rank if place.rank is None else first + place.rank % RANKS
        return replace(place, host=name if place.host else None, rank=rank, ranks=(), instance_id=None)

    def fact_of(fact: Fact, path: str, source: str) -> Fact:
        text = fact.span.text.replace(shape.host, name)
        span = replace(fact.span, path=path, text=text, sha256=sha256(text.encode()).hexdigest())
        data = {key: v.replace(shape.host, name) if isinstance(v, str) else v for key, v in fact.data.items()}
        data |= {"size": world} if fact.kind == "world" else {}
        return replace(fact, data=data, place=placed(fact.place), span=span, source=source)

    for reading in shape.readings:
        path = f"{name}/{reading.source.path.replace(shape.host, name)}"
        identity = blake2b(f"{reading.source.id} {name}".encode(), digest_size=16).hexdigest()
        source = replace(reading.source, id=identity, path=path, place=placed(reading.source.place))
        yield Reading(source, tuple(fact_of(fact, path, identity) for fact in reading.facts))


def write_parts(folder: Path, nodes: int, healthy: Sequence[Shape], broken: Shape, searched: Searched) -> str:
    """One part for each node; the name of the broken one."""
    ill = nodes // 3
    for number in range(nodes):
        shape = broken if number == ill else healthy[number % len(healthy)]
        part = b"".join(part_of(node(shape, number, nodes * RANKS), searched))
        (folder / f"{number:06d}.part").write_bytes(part)
    return next(iter(node(broken, ill, 1))).source.place.host or ""


def cost(folder: Path) -> Cost:
    """Join the parts of a folder and diagnose them."""
    request = Request((str(folder),))
    rulebook = rulebook_for(request)
    begin = time.process_time()
    collection = collect(request, rulebook)
    joined = time.process_time()
    found = diagnose_once(rulebook, collection)
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(len(collection.facts), joined - begin, end - joined, peak, found.verdict.headline)


def measured(nodes: int, healthy: Sequence[Shape], broken: Shape, searched: Searched) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin = time.process_time()
        ill = write_parts(folder, nodes, healthy, broken, searched)
        written = (time.process_time() - begin) / nodes
        size = sum(entry.stat().st_size for entry in os.scandir(folder))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            found = process.submit(cost, folder).result()
    if ill not in found.headline:
        raise SystemExit(f"the verdict on {nodes} nodes does not name {ill}: {found.headline}")
    cells = (
        f"{nodes:,}",
        f"{size / nodes / 1000:.1f} kB",
        f"{size / 1e6:.1f} MB",
        f"{written * 1000:.0f} ms",
        f"{found.facts:,}",
        f"{found.read_s:.2f} s",
        f"{found.diagnosed_s:.2f} s",
        f"{(found.read_s + found.diagnosed_s) / nodes * 1000:.2f} ms",
        f"{found.peak_mb:,.0f} MB",
    )
    return f"| {' | '.join(cells)} |"


def table(sizes: Iterable[int]) -> Iterator[str]:
    """The rows, each when it has been measured."""
    healthy = list(shapes(HEALTHY))
    broken = max(
        shapes(BROKEN),
        key=lambda s: sum(fact.kind == "hw-err" or "hbm" in fact.name for r in s.readings for fact in r.facts),
    )
    mean = sum(shape.size for shape in healthy) / len(healthy) / 1e6
    yield f"Simulated nodes: {mean:.2f} MB of logs each, {RANKS // len(healthy)} ranks"
    yield "| nodes | a part | all parts | make a part | facts | join | diagnose | for each node | peak memory |"
    yield "|---|---|---|---|---|---|---|---|---|"
    searched = searched_by(rulebook_for(Request(())))
    for nodes in sizes:
        yield measured(nodes, healthy, broken, searched)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet", description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 1000, 10_000], metavar="N")
    for row in table(parser.parse_args().nodes):
        print(row)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
