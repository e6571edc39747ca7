"""Ranks that run a parallel training step, go wrong in a chosen way, and leave flight-recorder dumps.

Knows nothing of the matcher: hosts issue operations in program order, up to `ahead` of them before the first one is
done; each rank's device runs them in order; a collective runs when all members stand at it, a transfer when both ends do,
or, where sends are `eager`, when its receiver does: then a send alone does not hold up its device.
"""

from __future__ import annotations

import io
import json
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from neuron_doctor.collectors.base import HEAD, Input
from neuron_doctor.collectors.flight_recorder import COLLECTOR
from neuron_doctor.engine.facts import Fact, Place

MS = 1_000_000
START_NS = 1_758_610_505_000_000_000


@dataclass(frozen=True)
class Pg:
    name: str
    desc: str
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Op:
    """`peers`: (kind, global rank) of the transfers; several of them are one batch."""

    group: Pg
    name: str = "all_reduce"
    size: int = 1024
    dtype: str = "BFloat16"
    peers: tuple[tuple[str, int], ...] = ()
    batch: bool = False


Program = list[Op]


@dataclass
class Mesh:
    """tp x dp x pp ranks; every rank is in one group of each kind and in the world. With `experts` neighbouring pairs of
    data-parallel ranks share expert-parallel groups."""

    tp: int
    dp: int
    pp: int = 1
    rename: Callable[[str], str] = str
    experts: bool = False
    groups: dict[str, dict[int, Pg]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sets = {
            "default_pg": [tuple(range(self.size))],
            "TENSOR": [self._where(dp=d, pp=p) for p in range(self.pp) for d in range(self.dp)],
            "DATA": [self._where(tp=t, pp=p) for p in range(self.pp) for t in range(self.tp)],
            "PIPELINE": [self._where(tp=t, dp=d) for d in range(self.dp) for t in range(self.tp)],
        }
        if self.experts and self.dp % 2 == 0:
            sets["EXPERT"] = [ranks[at : at + 2] for ranks in sets["DATA"] for at in range(0, self.dp, 2)]
        number = 0
        for desc, found in sets.items():
            self.groups[desc] = {}
            for ranks in found:
                group = Pg(self.rename(str(number)), desc, ranks)
                self.groups[desc].update(dict.fromkeys(ranks, group))
                number += 1

    @property
    def size(self) -> int:
        return self.tp * self.dp * self.pp

    def _where(self, tp: int | None = None, dp: int | None = None, pp: int | None = None) -> tuple[int, ...]:
        return tuple(
            p * self.tp * self.dp + d * self.tp + t
            for p in range(self.pp)
            for d in range(self.dp)
            for t in range(self.tp)
            if tp in (None, t) and dp in (None, d) and pp in (None, p)
        )

    def groups_of(self, rank: int) -> list[Pg]:
        return [found[rank] for found in self.groups.values()]

    def program(
        self, rank: int, steps: int = 6, layers: int = 3, *, batches: bool = False, interleaved: bool = False
    ) -> Program:
        """Forward and backward through the pipeline, then the gradients, then the norm over the world.

        `interleaved`: two micro-batches, one forward and one backward in turn, as 1F1B has it.
        """
        pipeline = self.groups["PIPELINE"][rank]
        stage = pipeline.ranks.index(rank)
        before = pipeline.ranks[stage - 1] if stage else None
        after = pipeline.ranks[stage + 1] if stage + 1 < len(pipeline.ranks) else None
        tensor, data, world = (self.groups[desc][rank] for desc in ("TENSOR", "DATA", "default_pg"))

        def move(*peers: tuple[str, int | None]) -> Program:
            real = tuple((kind, peer) for kind, peer in peers if peer is not None)
            return [Op(pipeline, "", 4096, peers=real, batch=batches)] if real else []

        inner: Program = []
        for layer in range(layers):
            if self.tp > 1:
                inner += [
                    Op(tensor, "_all_gather_base", 2048 + layer),
                    Op(tensor, "_reduce_scatter_base", 2048 + layer),
                ]
            if "EXPERT" in self.groups:
                inner += [Op(self.groups["EXPERT"][rank], "all_to_all", 512)] * 2
        backward = [Op(tensor, "all_reduce", 64)] if self.tp > 1 else []
        if interleaved and batches:  # the last stage turns around at once; the others hold two forwards before it
            forward = move(("recv", before)) + inner
            step = forward + move(("send", after), ("recv", after)) + backward + move(("send", before))
            step = step * 2
        else:
            forward = move(("recv", before)) + inner + move(("send", after))
            step = forward * (2 if interleaved else 1)
            step += (move(("recv", after)) + backward + move(("send", before))) * (2 if interleaved else 1)
        step += [Op(data, "all_reduce", 100_000, "Float")] if self.dp > 1 else []
        return [*step, Op(world, "all_reduce", 1, "Float")] * steps


@dataclass
class Recorder:
    """How a rank records: schema version, which backend, which file format."""

    version: str = "2.10"
    backend: str = "nccl"
    timing: bool = False
    ring: int = 2000
    dialect: str = "pickle"
    active_only: bool = False
    completions: bool = True
    frames: bool = True
    retires: bool = True


@dataclass
class _Issued:
    op: Op
    at_ns: int
    started_ns: int = 0
    done_ns: int = 0
    moved: set[int] = field(default_factory=set)
    collective_seq: int = 0
    p2p_seqs: tuple[int, ...] = ()
    op_ids: tuple[int, ...] = ()
    position: int = 0  # n-th collective of its group


@dataclass
class Faults:
    """By rank, an index into its program: the host stops before it, or the device before running it; `unseen` completes
    on the others only."""

    host: dict[int, int] = field(default_factory=dict)
    device: dict[int, int] = field(default_factory=dict)
    unseen: dict[int, int] = field(default_factory=dict)
    stall: set[int] = field(default_factory=set)
    dead_group: tuple[str, int] = ("", 0)  # its collectives complete no more from this one on
    until: int = 1 << 60  # after so many events the dumps are taken


class Job:
    """Runs the programs until nothing moves any more."""

    def __init__(
        self, programs: dict[int, Program], faults: Faults, ahead: int = 4, skew_ns: int = 0, *, eager: bool = False
    ) -> None:
        self.programs, self.faults, self.ahead, self.eager = programs, faults, ahead, eager
        self.sent: dict[tuple[int, int], list[_Issued]] = defaultdict(list)
        self.issued: dict[int, list[_Issued]] = {rank: [] for rank in programs}
        self.head = dict.fromkeys(programs, 0)
        self.clock = START_NS
        self.skew = {rank: rank * skew_ns for rank in programs}
        self.counters: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        self.events = 0
        while sum(self._moves(self._issue, rank) for rank in programs) or sum(
            self._moves(self._run, rank) for rank in programs
        ):
            pass

    def _moves(self, act: Callable[[int], bool], rank: int) -> bool:
        self.events += 1
        return self.events < self.faults.until and act(rank)

    def _issue(self, rank: int) -> bool:
        mine = self.issued[rank]
        moved = False
        stop = self.faults.host.get(rank, 1 << 60)
        while len(mine) < min(len(self.programs[rank]), stop) and len(mine) - self.head[rank] < self.ahead:
            self.clock += MS // 10
            mine.append(self._numbered(rank, self.programs[rank][len(mine)]))
            moved = True
        return moved

    def _numbered(self, rank: int, op: Op) -> _Issued:
        counter = self.counters[rank, op.group.name]  # collective seq, p2p seq, op id, n-th collective
        one = _Issued(op, self.clock + self.skew[rank])
        if op.peers:
            counter[0] += op.batch  # a batch burns a collective number
            ids, seqs = [], []
            counter[1] += op.batch
            for _ in op.peers:
                counter[1] += not op.batch
                counter[2] += 1
                seqs.append(counter[1])
                ids.append(counter[2])
            counter[2] += op.batch
            one.p2p_seqs, one.op_ids = tuple(seqs), (*ids, counter[2])
        else:
            counter[0] += 1
            counter[2] += 1
            counter[3] += 1
            one.op_ids = (counter[2],)
        one.collective_seq, one.position = counter[0], counter[3]
        return one

    def _current(self, rank: int) -> _Issued | None:
        index = self.head[rank]
        if index >= len(self.issued[rank]) or index >= self.faults.device.get(rank, 1 << 60):
            return None
        return self.issued[rank][index]

    def _run(self, rank: int) -> bool:
        mine = self._current(rank)
        if mine is None or self.head[rank] in self.faults.stall:
            return False
        mine.started_ns = mine.started_ns or self.clock + self.skew[rank]
        if self.eager and mine.op.peers and not mine.op.batch:
            return self._pass_on(rank, mine)
        return self._exchange(rank, mine) if mine.op.peers else self._gather(mine)

    def _pass_on(self, rank: int, mine: _Issued) -> bool:
        [(kind, peer)] = mine.op.peers
        if kind == "send":
            self.sent[rank, peer].append(mine)
            self.head[rank] += 1
            return True
        if not self.sent[peer, rank]:
            return False
        self.clock += MS // 2
        self.sent[peer, rank].pop(0).done_ns = self.clock + self.skew[peer]
        self._finish(rank, mine)
        return True

    def _gather(self, mine: _Issued) -> bool:
        members = {rank: self._current(rank) for rank in mine.op.group.ranks}
        for one in members.values():
            if one is None or one.op.group != mine.op.group or one.position != mine.position:
                return False
        if mine.op.group.name == self.faults.dead_group[0] and mine.position >= self.faults.dead_group[1] > 0:
            return False
        ops = {(m.op.name, m.op.size, m.op.dtype) for m in members.values() if m}
        if len(ops) > 1:
            return False
        self.clock += MS
        moved = False
        for rank, one in members.items():
            if self.faults.unseen.get(rank, -1) == self.head[rank]:
                self.faults.device[rank] = self.head[rank]
            elif one:
                self._finish(rank, one)
                moved = True
        return moved

    def _finish(self, rank: int, one: _Issued) -> None:
        one.started_ns = one.started_ns or self.clock + self.skew[rank]
        one.done_ns = self.clock + self.skew[rank]
        self.head[rank] += 1

    def _exchange(self, rank: int, mine: _Issued) -> bool:
        moved = False
        for number, (kind, peer) in enumerate(mine.op.peers):
            other = self._current(peer)
            wanted = ("recv" if kind == "send" else "send", rank)
            if number in mine.moved or other is None or other.op.group != mine.op.group or wanted not in other.op.peers:
                continue
            mine.moved.add(number)
            other.moved.add(other.op.peers.index(wanted))
            self.clock += MS // 2
            moved = True
            if len(other.moved) == len(other.op.peers):
                self._finish(peer, other)
        if len(mine.moved) == len(mine.op.peers) and not mine.done_ns:
            self._finish(rank, mine)
        return moved


def entries_of(job: Job, rank: int, recorder: Recorder) -> list[dict[str, Any]]:
    """The ring buffer of a rank, in the newest schema."""
    rows: list[dict[str, Any]] = []
    for one in job.issued[rank]:
        rows.extend(_rows(job, rank, one, recorder))
    for number, row in enumerate(rows):
        row["record_id"] = number
    rows = rows[-recorder.ring :]
    return [row for row in rows if row["state"] != "completed"] if recorder.active_only else rows


def _rows(job: Job, rank: int, one: _Issued, recorder: Recorder) -> Iterable[dict[str, Any]]:
    op, backend = one.op, recorder.backend
    if not op.peers:
        yield _row(job, rank, one, recorder, f"{backend}:{op.name}", p2p_seq=0, op_id=one.op_ids[0])
        return
    if backend == "gloo":
        return
    here = op.group.ranks.index(rank)
    for (kind, peer), seq, op_id in zip(op.peers, one.p2p_seqs, one.op_ids, strict=False):
        label = f"{backend}:{kind} {here}{'->' if kind == 'send' else '<-'}{op.group.ranks.index(peer)}"
        yield _row(job, rank, one, recorder, label, p2p_seq=seq, op_id=op_id, inner=op.batch)
    if op.batch:
        last = one.p2p_seqs[-1]
        yield _row(job, rank, one, recorder, f"{backend}:coalesced", p2p_seq=last, op_id=one.op_ids[-1]) | {
            "input_sizes": [],
            "output_sizes": [],
        }


def _row(
    job: Job, rank: int, one: _Issued, recorder: Recorder, label: str, *, p2p_seq: int, op_id: int, inner: bool = False
) -> dict[str, Any]:
    completes = recorder.completions and recorder.backend != "gloo" and not inner
    done = bool(one.done_ns)
    started = bool(one.started_ns) and recorder.timing
    state = "completed" if completes and done else "started" if completes and started else "scheduled"
    retired = not inner and recorder.retires and (done if recorder.completions or recorder.backend == "gloo" else True)
    row: dict[str, Any] = {
        "record_id": 0,
        "pg_id": [g.desc for g in job_groups(job, rank)].index(one.op.group.desc),
        "process_group": (one.op.group.name, one.op.group.desc),
        "thread_name": "python3",
        "thread_id": "4711",
        "collective_seq_id": one.collective_seq,
        "p2p_seq_id": p2p_seq,
        "op_id": op_id,
        "profiling_name": label,
        "time_created_ns": one.at_ns,
        "input_sizes": [[one.op.size * (len(one.op.group.ranks) if "reduce_scatter" in one.op.name else 1)]],
        "input_dtypes": [one.op.dtype],
        "output_sizes": [[one.op.size * (len(one.op.group.ranks) if "all_gather" in one.op.name else 1)]],
        "output_dtypes": [one.op.dtype],
        "state": state,
        "time_discovered_started_ns": one.started_ns if started and completes else None,
        "time_discovered_completed_ns": one.done_ns if state == "completed" else None,
        "retired": retired,
        "timeout_ms": 600_000,
        "is_p2p": bool(p2p_seq),
    }
    if state == "completed" and recorder.timing:
        row["duration_ms"] = (one.done_ns - one.started_ns) / MS
    if recorder.frames:
        row["frames"] = [
            {"name": "all_reduce", "filename": "/venv/torch/distributed/distributed_c10d.py", "line": 2800},
            {"name": f"train_{one.op.group.desc.lower()}", "filename": "/job/train.py", "line": 40},
        ]
    return row


def job_groups(job: Job, rank: int) -> list[Pg]:
    """The groups of a rank in order of creation; the mesh hangs itself on the job."""
    mesh: Mesh = job.mesh  # type: ignore[attr-defined]
    return mesh.groups_of(rank)


def dump_of(job: Job, rank: int, recorder: Recorder) -> Any:
    """The content of a dump in the schema of `recorder.version`."""
    rows = entries_of(job, rank, recorder)
    groups = job_groups(job, rank)
    if recorder.version == "2.2":
        return [_oldest(row) for row in rows]
    if recorder.version == "1.4":
        config: dict[Any, Any] = {number: list(group.ranks) for number, group in enumerate(groups)}
        return {"entries": [_older(row) for row in rows], "version": "1.4", "pg_config": config}
    config = {g.name: {"name": g.name, "desc": g.desc, "ranks": str(list(g.ranks))} for g in groups}
    if recorder.backend == "gloo":
        config = {"": {"name": "", "desc": "", "ranks": "[]"}}
    top = {"version": recorder.version, "pg_config": config, "entries": rows}
    if recorder.version != "2.1":
        # gloo's recorder hears of a group with its first entry, and its transfers make none
        used = {row["process_group"][0] for row in rows} if recorder.backend == "gloo" else {g.name for g in groups}
        top["pg_status"] = {
            str(number): _status(job, rank, group, recorder)
            for number, group in enumerate(groups)
            if group.name in used
        }
    return top


def _status(job: Job, rank: int, group: Pg, recorder: Recorder) -> dict[str, int]:
    mine = [one for one in job.issued[rank] if one.op.group == group]
    hook = recorder.backend not in {"nccl", "gloo"}

    def number(one: _Issued) -> int:
        if recorder.backend == "gloo":
            return one.op_ids[-1]
        return one.op_ids[-1] - 1 if hook else one.p2p_seqs[-1] if one.p2p_seqs else one.collective_seq

    done = [number(one) for one in mine if one.done_ns]
    begun = [number(one) for one in mine if one.started_ns and recorder.timing]
    last = [number(one) for one in mine]
    names = ("enqueued", "started", "completed")
    return {
        f"last_{what}_collective": (seen or [-1])[-1] for what, seen in zip(names, (last, begun, done), strict=True)
    }


def _older(row: dict[str, Any]) -> dict[str, Any]:
    """An entry of torch 2.3."""
    gone = {"process_group", "collective_seq_id", "p2p_seq_id", "is_p2p", "timeout_ms", "thread_name", "thread_id"}
    gone |= {"input_dtypes", "output_dtypes"}
    return {key: value for key, value in row.items() if key not in gone} | {"seq_id": row["collective_seq_id"]}


def _oldest(row: dict[str, Any]) -> dict[str, Any]:
    """An entry of torch 2.2."""
    kept = ("pg_id", "profiling_name", "input_sizes", "output_sizes", "state", "retired", "frames")
    return {key: row[key] for key in kept if key in row} | {
        "seq_id": row["collective_seq_id"],
        "time_created_us": row["time_created_ns"] // 1000,
    }


def encoded(content: Any, dialect: str) -> bytes:
    """As pickle, as torch's JSON, or as NVRx's JSON of the pickle."""
    if dialect == "pickle":
        return pickle.dumps(content, 2)
    if dialect == "nvrx":
        return json.dumps(content, indent=4).encode()
    if isinstance(content, dict):
        content = dict(content)
        content["entries"] = [
            {k: 0 if v is None else list(v) if isinstance(v, tuple) else v for k, v in e.items() if k != "frames"}
            for e in content["entries"]
        ]
        content["pg_status"] = {
            pg: {key: str(value) for key, value in status.items()}
            for pg, status in content.get("pg_status", {}).items()
        }
        if not content["entries"]:
            del content["entries"]
    return json.dumps(content, sort_keys=True).encode()


def fact_of(data: bytes, rank: int | None, name: str = "", **place: Any) -> Fact:
    """What the collector makes of a dump."""
    path = f"dumps/{name or f'nccl_trace_rank_{rank}'}"
    stream = io.BufferedReader(io.BytesIO(data))
    assert COLLECTOR.sniff(data[:HEAD], path)
    inp = Input(path, path.rpartition("/")[2], stream, len(data), Place(rank=rank, **place), source_id=path)
    (fact,) = COLLECTOR.collect(inp)
    return fact


def run(
    mesh: Mesh, programs: dict[int, Program], faults: Faults, ahead: int = 4, skew_ns: int = 0, *, eager: bool = False
) -> Job:
    """Run a job of this mesh."""
    Job.mesh = mesh  # type: ignore[attr-defined]
    job = Job(programs, replace(faults, device=dict(faults.device)), ahead, skew_ns, eager=eager)
    job.mesh = mesh  # type: ignore[attr-defined]
    return job


def facts_of(job: Job, recorder: Recorder | None = None, without: Iterable[int] = ()) -> list[Fact]:
    """The facts of all dumps, but for the ranks that left none."""
    recorder = recorder or Recorder()
    left = [rank for rank in job.programs if rank not in set(without)]
    return [fact_of(encoded(dump_of(job, rank, recorder), recorder.dialect), rank) for rank in left]
