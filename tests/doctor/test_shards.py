"""The cut of the work into shards changes nothing: extents of a file, processes, processes that are killed."""

from __future__ import annotations

import gzip
import os
import signal
from collections.abc import Iterator
from functools import cache
from io import BufferedReader
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from neuron_doctor import shards as shards_module
from neuron_doctor import workers
from neuron_doctor.collectors import blocks as blocks_module
from neuron_doctor.collectors import lines, storms, text
from neuron_doctor.collectors.blocks import Extent, blocks
from neuron_doctor.collectors.walk import find
from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.match import canonical
from neuron_doctor.packs import load
from neuron_doctor.request import Packs
from neuron_doctor.scan import Engine, Scanned
from neuron_doctor.shards import Shard, joined, planned, scan
from neuron_doctor.workers import scan_in_processes


@cache
def engine() -> Engine:
    return Engine.of(load(Packs()))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes at which a few kilobytes are a large file."""
    cell = 1024
    monkeypatch.setattr(blocks_module, "BLOCK", 700)
    monkeypatch.setattr(blocks_module, "CONTEXT", 300)
    monkeypatch.setattr(lines, "CONTEXT", 300)
    monkeypatch.setattr(text, "CONTEXT", 300)
    monkeypatch.setattr(text, "SAMPLE", 256)
    monkeypatch.setattr(storms, "CELL", cell)
    monkeypatch.setattr(shards_module, "CELL", cell)
    monkeypatch.setattr(shards_module, "SHARD", 2 * cell)
    monkeypatch.setattr(shards_module, "CUT_FROM", 2 * cell)


HANG = (
    "2025-Jul-02 19:03:{n:02d}.205603  6001:6081  ERROR  TDRV:exec_consume  (FATAL-RT-UNDEFINED-STATE) [ND 0][NC 1] missing "
    "collectives status on model a.neff. Suspected hang in collectives operation 71 out of 140"
)
LINES = [
    "2025-07-02 18:59:{n:02d},244 INFO train: step={n} loss=2.3398 grad_norm=0.450 lr=1.2e-04",
    HANG,
    "2025-Jul-02 19:03:{n:02d}.205603  6001:6081  ERROR  NRT:nrt_execute failed, status 5",
    "2025-07-02 19:04:{n:02d} ERROR Traceback (most recent call last):",
    '  File "train.py", line {n}, in main',
    "ValueError: shapes do not match",
    "",
    "x" * 400,
    "[Wed Jul  2 19:03:{n:02d} 2025] Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:{n}kB",
]


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    lines = draw(
        st.lists(st.tuples(st.sampled_from(LINES), st.integers(0, 59), st.integers(1, 12)), min_size=30, max_size=80)
    )
    ending = draw(st.sampled_from(["\n", "", "\r\n"]))
    return ("\n".join(line.format(n=n) for line, n, times in lines for _ in range(times)) + ending).encode()


@given(logs(), st.lists(st.integers(1, 20_000), max_size=6))
@settings(deadline=None, max_examples=40)
def test_every_line_stands_in_exactly_one_extent(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int]
) -> None:
    file = tmp_path_factory.mktemp("log") / "a.log"
    file.write_bytes(data)
    edges = [0, *sorted(set(cuts)), None]
    own = b""
    for begin, end in pairwise(edges):
        with file.open("rb") as stream:
            assert isinstance(stream, BufferedReader)
            for block in blocks(stream, Extent(begin or 0, end)):
                assert (
                    block.data[: block.start].endswith(b"\n")
                    or block.base + block.start == 0
                    or not block.data[block.start :]
                )
                own += block.data[block.start : block.end]
    assert own == data


def by_offset(shards: list[Shard]) -> Collection:
    """All that the shards say; the order of facts means nothing."""
    collection = joined(scan(shard, engine()) for shard in shards)
    return Collection(collection.sources, tuple(sorted(collection.facts, key=canonical)))


#: Ends with more lines without a time than a block must hold of what is before it.
UNSTAMPED_END = b"".join(b"2025-07-02 19:0%d:%02d INFO x\n" % divmod(n, 60) for n in range(103)) + (
    b"ValueError: shapes do not match\n" * 22
)


@pytest.mark.heavy
@pytest.mark.usefixtures("small")
@given(data=logs())
@example(data=UNSTAMPED_END)
@settings(deadline=None, max_examples=25, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_the_extents_of_a_file_add_up_to_the_file(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("log")
    (folder / "rank_0.log").write_bytes(data)
    found = list(find([str(folder)]))
    whole = planned(found, engine(), cut=False)
    parts = planned(found, engine(), cut=True)
    assert len(whole) == 1
    assert len(parts) > 1
    assert by_offset(parts) == by_offset(whole)


def test_shards_hold_every_file_once_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "FILES", 3)
    for n in range(8):
        (tmp_path / f"rank_{n}.log").write_text("hello\n")
    shards = planned(find([str(tmp_path)]), engine(), cut=True)
    assert [len(shard.files) for shard in shards] == [3, 3, 2]
    assert [file.path for shard in shards for file in shard.files] == sorted(str(f) for f in tmp_path.iterdir())


def test_what_is_packed_is_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "SHARD", 64)
    monkeypatch.setattr(shards_module, "CUT_FROM", 64)
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(os.urandom(4096)))
    (tmp_path / "b.json").write_text('{"schema": 1, ' + '"x": 0, ' * 100 + '"y": 1}')
    extents = [shard.extent for shard in planned(find([str(tmp_path / "a.log.gz")]), engine(), cut=True)]
    assert extents == [Extent()]


def incident(folder: Path, ranks: int = 6) -> list[Shard]:
    for rank in range(ranks):
        lines = [line.format(n=n) for n in range(rank, 40) for line in LINES[:3]]
        (folder / f"rank_{rank}.log").write_text("\n".join(lines) + "\n")
    return [Shard((found,)) for found in find([str(folder)])]


def alone(shards: list[Shard]) -> Collection:
    return joined(scan(shard, engine()) for shard in shards)


def in_processes(shards: list[Shard]) -> dict[int, list[Scanned]]:
    done: dict[int, list[Scanned]] = {}
    told = list(scan_in_processes(dict(enumerate(shards)), Packs(), 2, done))
    assert sorted(told) == sorted(done) == list(range(len(shards)))
    return done


def in_order(done: dict[int, list[Scanned]]) -> Iterator[list[Scanned]]:
    return (done[number] for number in sorted(done))


def test_processes_say_what_one_says(tmp_path: Path) -> None:
    shards = incident(tmp_path)
    done = in_processes(shards)
    assert joined(in_order(done)) == alone(shards)


def deadly(path: str, marker: Path | None) -> None:
    """Kill the process that reads the file, as the kernel does when memory runs out: always, or once."""
    if path.endswith("rank_3.log") and not (marker and marker.exists()):
        if marker:
            marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("once", [True, False])
def test_a_killed_process_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, once: bool) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    shards = incident(logs)
    marker = tmp_path / "killed" if once else None
    real = workers.scan

    def scan_and_die(shard: Shard, engine: Engine) -> list[Scanned]:
        deadly(shard.files[0].path, marker)
        return real(shard, engine)

    monkeypatch.setattr(workers, "scan", scan_and_die)
    done = in_processes(shards)
    expected, found = alone(shards), joined(in_order(done))
    problems = {Path(s.path).name: [p.what for p in s.problems] for s in found.sources}
    assert any("read again" in what for whats in problems.values() for what in whats)
    if once:
        assert found.facts == expected.facts
        assert not any("not read" in what for whats in problems.values() for what in whats)
    else:
        assert [f for f in expected.facts if "rank_3" not in f.span.path] == list(found.facts)
        assert any("not read" in what for what in problems["rank_3.log"])
        assert len(found.sources) == len(expected.sources)
