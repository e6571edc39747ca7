"""Makes real flight-recorder dumps: runs small jobs that break in known ways, and keeps what PyTorch recorded.

A tool for making test data (corpus/recorder); it needs PyTorch, which the product never does. The stack frames in a dump
show where the program lies, so run it from a neutral place:

    install -D benchmarks/make_torch_dumps.py /opt/train/train.py
    cd /opt/train && python train.py /tmp/dumps [scenario ...]

With BACKEND=fake (torch 2.15 and later) nothing is communicated, and a hook records what the ranks issue: what a backend
shows that runs ahead of its device and tells nobody when an operation is done.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d
from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json

BACKEND = os.environ.get("BACKEND", "gloo")
STEPS = 3
HUNG_FOR = 3.0  # seconds into the broken step when a watcher dumps
TIMEOUT = 5.0  # seconds, where the dump is of a failed operation
FAILED_AFTER = 10.0  # seconds into the broken step when those dump that saw nothing fail
FOREVER = 600.0


@dataclass(frozen=True)
class Mesh:
    """A rank and its groups: pairs of neighbours (TP), and all ranks of the same place in their pairs (DP)."""

    rank: int
    world: int
    tp: dist.ProcessGroup
    dp: dist.ProcessGroup
    other: dist.ProcessGroup
    culprit: bool


@dataclass(frozen=True)
class Scenario:
    """A job that breaks: what the ranks do in the broken step, and whom and what a diagnosis should name."""

    world: int
    broken: Callable[[Mesh], None]
    cause: str
    ranks: tuple[int, ...] = ()
    dies: tuple[int, ...] = ()
    fails: bool = False  # dump when the operation has failed, not while it hangs, and keep what the ranks printed


def step(mesh: Mesh) -> None:
    """One training step: a layer's tensor-parallel sum, a hand-over to the neighbour, the gradients, the loss."""
    activations, gradients = torch.ones(64, 32), torch.ones(256)
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
    """The culprit waits for its data."""
    if mesh.culprit:
        time.sleep(FOREVER)
    step(mesh)


def checkpoint(mesh: Mesh) -> None:
    """The culprit writes a checkpoint that the others do not wait for, in the middle of its step."""
    dist.all_reduce(torch.ones(64, 32), group=mesh.tp)
    if mesh.culprit:
        time.sleep(FOREVER)
    dist.all_reduce(torch.ones(256), group=mesh.dp)
    dist.all_reduce(torch.ones(1))


def last_batch(mesh: Mesh) -> None:
    """The culprit has a shorter last batch: gloo ends the process that is sent more than it expects."""
    dist.all_reduce(torch.ones(24 if mesh.culprit else 32))


def evaluate(mesh: Mesh) -> None:
    """The culprit broadcasts where the others reduce."""
    if mesh.culprit:
        dist.broadcast(torch.ones(32), 1)
    dist.all_reduce(torch.ones(32))


def two_optimizers(mesh: Mesh) -> None:
    """The culprit takes the two groups in the other order, the second time."""
    groups = [None, mesh.other]
    for group in (*groups, *(reversed(groups) if mesh.culprit else groups)):
        dist.all_reduce(torch.ones(32), group=group)


def crash(mesh: Mesh) -> None:
    """The culprit is gone."""
    if mesh.culprit:
        os._exit(1)
    step(mesh)


SCENARIOS = {
    "healthy": Scenario(4, healthy, "healthy"),
    "rank-missing": Scenario(4, load_batch, "collectives-rank-missing", (2,)),
    "rank-missing-after-timeout": Scenario(4, load_batch, "collectives-rank-missing", (2,), fails=True),
    "rank-missing-tp-dp": Scenario(8, checkpoint, "collectives-rank-missing", (5,)),
    "size-mismatch": Scenario(4, last_batch, "collectives-size-mismatch", (1,), dies=(1,), fails=True),
    "op-mismatch": Scenario(4, evaluate, "collectives-op-mismatch", (1,)),
    "order-mismatch": Scenario(4, two_optimizers, "collectives-order-mismatch", (3,)),
    "rank-died": Scenario(4, crash, "collectives-rank-died", (3,), dies=(3,), fails=True),
}


def keep(out: Path, name: str, rank: int) -> None:
    """Write this rank's first dumps under torch's own name: the pickle, and the JSON as a scenario of its own."""
    which = {"backend": BACKEND} if BACKEND != "gloo" else {}
    dumps = {name: _dump_fr_trace(**which), f"{name}-json": _dump_fr_trace_json(**which)}
    for scenario, data in dumps.items():
        file = out / scenario / "input" / f"comm_lib_trace_rank_{rank}"
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            return
        partial = file.with_suffix(".part")
        partial.write_bytes(data if isinstance(data, bytes) else data.encode())
        partial.rename(file)


def watch(out: Path, name: str, scenario: Scenario, rank: int) -> None:
    """Dump while the main thread hangs, if it has not failed and dumped, and end once all have: who leaves breaks connections."""
    time.sleep(FAILED_AFTER if scenario.fails else HUNG_FOR)
    keep(out, name, rank)
    written = out / f"{name}-json" / "input"
    while sum(1 for _ in written.glob("*_rank_?")) < scenario.world - len(scenario.dies):
        time.sleep(0.1)
    os._exit(0)


def mesh_of(rank: int, scenario: Scenario, timeout: timedelta) -> Mesh:
    """The groups, which all ranks have to make in the same order."""
    world = scenario.world
    pairs = [dist.new_group([at, at + 1], timeout=timeout, group_desc="TP") for at in range(0, world, 2)]
    columns = [dist.new_group(list(range(at, world, 2)), timeout=timeout, group_desc="DP") for at in (0, 1)]
    other = dist.new_group(timeout=timeout, group_desc="DISCRIMINATOR")
    return Mesh(rank, world, pairs[rank // 2], columns[rank % 2], other, rank in scenario.ranks)


def run_rank(out: Path, name: str) -> None:
    """One rank of a scenario."""
    scenario, rank = SCENARIOS[name], int(os.environ["RANK"])
    timeout = timedelta(seconds=TIMEOUT if scenario.fails else FOREVER)
    store = import_module("torch.testing._internal.distributed.fake_pg").FakeStore() if BACKEND == "fake" else None
    dist.init_process_group(BACKEND, store=store, rank=rank, world_size=scenario.world, timeout=timeout)
    mesh = mesh_of(rank, scenario, timeout)
    groups = (dist.group.WORLD, mesh.tp, mesh.dp, mesh.other)
    hooks = [hooked(group) for group in groups if BACKEND == "fake"]
    for _ in range(STEPS):
        step(mesh)
    threading.Thread(target=watch, args=(out, name, scenario, rank), daemon=True).start()
    try:
        scenario.broken(mesh)
    except RuntimeError:
        traceback.print_exc()
        if scenario.fails:
            keep(out, name, rank)
    time.sleep(FOREVER)
    del hooks


def hooked(group: dist.ProcessGroup) -> object:
    """The hook that records what a group issues, for as long as it is kept."""
    return c10d.FlightRecorderHook.attach(group, dist.get_process_group_ranks(group))


def run(out: Path, name: str) -> None:
    """All ranks of a scenario, and the truth beside their dumps."""
    scenario = SCENARIOS[name]
    (out / name / "input").mkdir(parents=True)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    shared = {"WORLD_SIZE": str(scenario.world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-W", "ignore", __file__, str(out), name]
    ranks = []
    for rank in range(scenario.world):
        printed = out / name / "input" / f"rank_{rank}.log" if scenario.fails else Path(os.devnull)
        with printed.open("wb") as log:
            environment = {**os.environ, **shared, "RANK": str(rank)}
            ranks.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
    for process in ranks:
        process.wait(timeout=FOREVER)
    truth = {"cause": scenario.cause, "ranks": scenario.ranks, "torch": torch.__version__, "backend": BACKEND}
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
