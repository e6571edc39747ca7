"""Makes real flight-recorder dumps: runs small gloo jobs that break in known ways, and keeps what PyTorch recorded.

A tool for making test data (corpus/recorder); it needs PyTorch, which the product never does. The stack frames in a dump
show where the program lies, so run it from a neutral place:

    install -D benchmarks/make_torch_dumps.py /opt/train/train.py
    cd /opt/train && python train.py /tmp/dumps [scenario ...]
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

STEPS = 3
HUNG_FOR = 3.0  # seconds into the broken step when a watcher dumps
FOREVER = 600.0


@dataclass(frozen=True)
class Mesh:
    """A rank and its groups: pairs of neighbours (TP), and all ranks of the same place in their pairs (DP)."""

    rank: int
    world: int
    tp: Any
    dp: Any
    other: Any


@dataclass(frozen=True)
class Scenario:
    """A job that breaks: what the ranks do in the broken step, and whom and what a diagnosis should name."""

    world: int
    broken: Callable[[Mesh], None]
    cause: str
    ranks: tuple[int, ...] = ()
    dies: tuple[int, ...] = ()
    fails: bool = False  # dump when the operation has failed, not while it hangs


def step(mesh: Mesh, rows: int = 64) -> None:
    """One training step: a layer's tensor-parallel sum, a hand-over to the neighbour, the gradients, the loss."""
    import torch
    import torch.distributed as dist

    activations, gradients = torch.ones(rows, 32), torch.ones(256)
    dist.all_reduce(activations, group=mesh.tp)
    if mesh.rank % 2 == 0:
        dist.send(activations, mesh.rank + 1, group=mesh.tp)
    else:
        dist.recv(activations, mesh.rank - 1, group=mesh.tp)
    dist.all_gather_into_tensor(torch.zeros(256 * mesh.world // 2), gradients, group=mesh.dp)
    dist.all_reduce(gradients, group=mesh.dp)
    dist.all_reduce(torch.ones(1))


def healthy(mesh: Mesh) -> None:
    """Nothing breaks."""
    step(mesh)


def load_batch(mesh: Mesh) -> None:
    """Rank 2 waits for its data."""
    if mesh.rank == 2:
        time.sleep(FOREVER)
    step(mesh)


def checkpoint(mesh: Mesh) -> None:
    """Rank 5 writes a checkpoint that the others do not wait for, in the middle of its step."""
    import torch
    import torch.distributed as dist

    dist.all_reduce(torch.ones(64, 32), group=mesh.tp)
    if mesh.rank == 5:
        time.sleep(FOREVER)
    dist.all_reduce(torch.ones(256), group=mesh.dp)
    dist.all_reduce(torch.ones(1))


def last_batch(mesh: Mesh) -> None:
    """Rank 1 has a shorter last batch."""
    import torch
    import torch.distributed as dist

    dist.all_gather_into_tensor(torch.zeros(8 * mesh.world), torch.ones(7 if mesh.rank == 1 else 8))


def evaluate(mesh: Mesh) -> None:
    """Rank 1 broadcasts where the others reduce."""
    import torch
    import torch.distributed as dist

    if mesh.rank == 1:
        dist.broadcast(torch.ones(32), 1)
    dist.all_reduce(torch.ones(32))


def two_optimizers(mesh: Mesh) -> None:
    """Rank 3 takes the two groups in the other order."""
    import torch
    import torch.distributed as dist

    groups = [None, mesh.other]
    for group in reversed(groups) if mesh.rank == 3 else groups:
        dist.all_reduce(torch.ones(32), group=group)


def crash(mesh: Mesh) -> None:
    """Rank 3 is gone."""
    if mesh.rank == 3:
        os._exit(1)
    step(mesh)


SCENARIOS = {
    "healthy": Scenario(4, healthy, "healthy"),
    "rank-missing": Scenario(4, load_batch, "collectives-rank-missing", (2,)),
    "rank-missing-after-timeout": Scenario(4, load_batch, "collectives-rank-missing", (2,), fails=True),
    "rank-missing-tp-dp": Scenario(8, checkpoint, "collectives-rank-missing", (5,)),
    "size-mismatch": Scenario(4, last_batch, "collectives-size-mismatch", (1,)),
    "op-mismatch": Scenario(4, evaluate, "collectives-op-mismatch", (1,)),
    "order-mismatch": Scenario(4, two_optimizers, "collectives-order-mismatch", (3,)),
    "rank-died": Scenario(4, crash, "collectives-rank-died", (3,), dies=(3,), fails=True),
}


def keep(out: Path, name: str, rank: int) -> None:
    """Write this rank's two dumps under torch's own name: the pickle, and beside it the JSON as a scenario of its own."""
    from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json

    for scenario, data in (name, _dump_fr_trace()), (f"{name}-json", _dump_fr_trace_json()):
        file = out / scenario / "input" / f"comm_lib_trace_rank_{rank}"
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(".part")
        partial.write_bytes(data if isinstance(data, bytes) else data.encode())
        partial.rename(file)


def leave_together(out: Path, name: str, scenario: Scenario) -> None:
    """End once all have dumped: who leaves early breaks the others' connections."""
    wanted = scenario.world - len(scenario.dies)
    until = time.monotonic() + FOREVER
    while time.monotonic() < until:
        if sum(1 for _ in (out / f"{name}-json").glob("input/*_rank_?")) == wanted:
            break
        time.sleep(0.1)
    os._exit(0)


def watch(out: Path, name: str, scenario: Scenario, rank: int) -> None:
    """Dump while the main thread hangs."""
    time.sleep(HUNG_FOR)
    keep(out, name, rank)
    leave_together(out, name, scenario)


def run_rank(out: Path, name: str) -> None:
    """One rank of a scenario."""
    import torch.distributed as dist

    scenario, rank = SCENARIOS[name], int(os.environ["RANK"])
    timeout = timedelta(seconds=5 if scenario.fails else FOREVER)
    dist.init_process_group("gloo", timeout=timeout)
    everyone = range(scenario.world)
    pairs = [dist.new_group([at, at + 1], timeout=timeout, group_desc="TP") for at in everyone[::2]]
    columns = [dist.new_group(list(everyone[at::2]), timeout=timeout, group_desc="DP") for at in (0, 1)]
    other = dist.new_group(timeout=timeout, group_desc="DISCRIMINATOR")
    mesh = Mesh(rank, scenario.world, pairs[rank // 2], columns[rank % 2], other)
    for _ in range(STEPS):
        step(mesh)
    if not scenario.fails and scenario.broken is not healthy:
        threading.Thread(target=watch, args=(out, name, scenario, rank), daemon=True).start()
    if scenario.fails and rank in scenario.ranks and rank not in scenario.dies:
        threading.Timer(8, watch, args=(out, name, scenario, rank)).start()
    try:
        scenario.broken(mesh)
    except RuntimeError as error:
        print(f"rank {rank}: {error}", file=sys.stderr)
    if not scenario.fails and scenario.broken is not healthy:
        time.sleep(FOREVER)
    keep(out, name, rank)
    leave_together(out, name, scenario)


def run(out: Path, name: str) -> None:
    """All ranks of a scenario, and the truth beside their dumps."""
    scenario = SCENARIOS[name]
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    shared = {"WORLD_SIZE": str(scenario.world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    ranks = [
        subprocess.Popen([sys.executable, __file__, str(out), name], env={**os.environ, **shared, "RANK": str(rank)})
        for rank in range(scenario.world)
    ]
    for process in ranks:
        process.wait(timeout=FOREVER)
    import torch

    truth = {"cause": scenario.cause, "ranks": scenario.ranks, "torch": torch.__version__, "backend": "gloo"}
    (out / name / "truth.json").write_text(json.dumps(truth, indent=2) + "\n")


def main() -> None:
    """Run the scenarios that are named, or all; or be a rank of one."""
    out, *names = Path(sys.argv[1]).resolve(), *sys.argv[2:]
    if "RANK" in os.environ:
        run_rank(out, names[0])
        return
    for name in names or SCENARIOS:
        print(name)
        run(out, name)


if __name__ == "__main__":
    main()
