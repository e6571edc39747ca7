"""A dump of which only a part is read tells the same as the whole."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neuron_doctor.collectors import fr_dump
from neuron_doctor.collectors.base import Input, UnreadableInput
from neuron_doctor.collectors.flight_recorder import COLLECTOR
from neuron_doctor.collectors.fr_excerpt import excerpt_of
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.recorder import RECENT

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pickler() -> Iterator[Any]:
    """The class that pickles as torch does; it is part of the benchmarks, which write dumps with it."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.flight_recorder_dumps import Pickler  # noqa: PLC0415

    yield Pickler
    sys.path.remove(str(ROOT))


GROUPS = [("0", "default_pg"), ("1", "TENSOR"), ("2", "PIPELINE")]


def entries_of(chance: random.Random, length: int) -> list[dict[str, Any]]:
    """A ring of collectives, transfers and batches of them, the last ones open, with a new name or state now and then."""
    frames: list[dict[str, Any]] = [{"name": f"f{at}", "filename": "/job/train.py", "line": at} for at in range(3)]
    counts = [100, 5_000, 70_000]
    first = chance.choice([0, 300, 70_000])
    rows: list[dict[str, Any]] = []
    while len(rows) < length:
        pg = chance.choices([0, 1, 2], [1, 6, 3])[0]
        counts[pg] += 1
        names = {2: [f"nccl:{chance.choice(['send 0->1', 'recv 0<-1'])}"]}.get(
            pg, ["nccl:all_reduce", "nccl:broadcast"]
        )
        batch = pg == 2 and chance.random() < 0.2
        for name in [chance.choice(names), *(["nccl:coalesced"] if batch else [])]:
            inner = batch and not name.endswith("coalesced")
            done = len(rows) < length - 6 and not inner
            rows.append(
                {
                    "frames": chance.choice([frames, frames[:1], []]),
                    "record_id": first + len(rows),
                    "pg_id": pg,
                    "process_group": GROUPS[pg],
                    "collective_seq_id": counts[pg] if pg < 2 else 0,
                    "p2p_seq_id": counts[pg] if pg == 2 else 0,
                    "op_id": counts[pg],
                    "profiling_name": name,
                    "time_created_ns": 1_790_000_000_000_000_000 + len(rows) * chance.randrange(1, 1 << 40),
                    "input_sizes": [[chance.randrange(1, 1 << 33), 8]],
                    "input_dtypes": [chance.choice(["Float", "BFloat16"])],
                    "output_sizes": [],
                    "output_dtypes": [],
                    "state": "completed" if done else "scheduled",
                    "time_discovered_started_ns": None,
                    "time_discovered_completed_ns": 1_790_000_000_000_000_000 if done else None,
                    "retired": done,
                    "timeout_ms": 600_000,
                    "is_p2p": pg == 2,
                }
            )
    return rows


def dump_of(pickler: Any, entries: list[dict[str, Any]]) -> bytes:
    config = {name: {"name": name, "desc": desc, "ranks": "[0, 1]"} for name, desc in GROUPS}
    writer = pickler()
    top = writer.value({"version": "2.10", "pg_config": config})[:-1] + writer.text("entries")
    rows = b"".join(writer.value({**entry, "frames": writer.frames(entry["frames"])}) for entry in entries)
    return bytes(b"\x80\x02" + top + b"](" + rows + b"eu.")


def fact_of(data: bytes) -> Fact:
    inp = Input(
        "trace_0", "trace_0", io.BufferedReader(io.BytesIO(data)), len(data), Place(rank=0), source_id="trace_0"
    )
    (fact,) = COLLECTOR.collect(inp)
    return fact


@pytest.mark.parametrize("seed", range(30))
def test_an_excerpt_tells_the_same_as_the_whole(pickler: Any, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    data = dump_of(pickler, entries_of(chance, chance.choice([50, 300, 900])))
    short = fact_of(data)
    monkeypatch.setattr(fr_dump, "excerpt_of", lambda data: None)
    assert short == fact_of(data)


def test_most_of_a_long_dump_is_left_out(pickler: Any) -> None:
    data = dump_of(pickler, entries_of(random.Random(1), 2000))
    excerpt = excerpt_of(data)
    assert excerpt is not None
    assert len(excerpt.data) < len(data) / 2
    assert sum(one.times for one in excerpt.left) > 1000 > RECENT


def test_records_that_do_not_add_up_are_read_whole(pickler: Any) -> None:
    """Where the recorder was reset, record numbers begin again, and a gap must not be taken for what was left out."""
    entries = entries_of(random.Random(2), 600)
    for number, entry in enumerate(entries[300:]):
        entry["record_id"] = number
    fact = fact_of(dump_of(pickler, entries))
    assert fact.data["entries"] == len(entries)


@pytest.mark.parametrize("payload", [b"cos\nsystem\n(X\x01\x00\x00\x00atR", b"r\xff\xff\xff\x7f", b"X\xff\xff\xff\x7f"])
@pytest.mark.parametrize("place", ["head", "middle", "end"])
def test_instructions_that_do_harm_are_refused_wherever_they_stand(pickler: Any, payload: bytes, place: str) -> None:
    """What is cut out is never run; what is left in is audited. A dump that is read is read as data."""
    data = dump_of(pickler, entries_of(random.Random(3), 900))
    at = {"head": data.index(b"X\x09\x00\x00\x00pg_config"), "middle": len(data) // 2, "end": len(data) - 2}[place]
    damaged = data[:at] + payload + data[at:]
    try:
        fact = fact_of(damaged)
    except UnreadableInput:
        return
    assert place == "middle"
    assert fact.data["entries"] <= 900


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_is_refused_or_read_and_never_stops_the_collector(pickler: Any, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(dump_of(pickler, entries_of(chance, 400)))
    for _ in range(chance.randrange(1, 6)):
        data[chance.randrange(2, len(data))] = chance.randrange(256)
    del data[chance.choice([len(data), chance.randrange(100, len(data))]) :]
    try:
        fact = fact_of(bytes(data))
    except UnreadableInput:
        return
    assert fact.kind == "fr-rank"
